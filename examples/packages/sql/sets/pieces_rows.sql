-- Each name, each piece's filter: a row each.
SELECT count(*) FROM names_asked n JOIN pieces p WHERE bloom_may_contain(p.filter, n.name);
