-- Each path, each package's filter: a row each.
SELECT count(*) FROM paths_asked a JOIN owners o WHERE bloom_may_contain(o.filter, a.path);
