SELECT printf('  %-10s %,9d  %s', 'packages', count(*), 'name, section, installed size') FROM packages;
SELECT printf('  %-10s %,9d  %s', 'needs', count(*), 'package -> name of the package it asks for (text)') FROM needs;
SELECT printf('  %-10s %,9d  %s', 'links', count(*), 'the hard ones again by number, package -> package (integers)') FROM links;
SELECT printf('  %-10s %,9d  %s', 'installed', count(*), 'names of installed packages') FROM installed;
