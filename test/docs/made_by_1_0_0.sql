-- A database with the virtual tables of bloom 1.0.0, as the shell dumped it: what test/docs/breaks.py opens.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE people(id INTEGER PRIMARY KEY, email TEXT);
INSERT INTO people VALUES(1,'ada@example.org');
INSERT INTO people VALUES(2,'bob@example.org');
PRAGMA writable_schema=ON;
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','people_email','people_email',0,'CREATE VIRTUAL TABLE people_email USING bloom(people,email,capacity=10)');
CREATE TABLE IF NOT EXISTS "people_email_config"(format INTEGER PRIMARY KEY, is_following, kind, collation, triggers, bits_per_key, min_capacity, blocks_per_page, names_prefix, seal);
INSERT INTO people_email_config VALUES(1,1,2,0,29,10.0,10,112,'people_email',7235434089779622035);
CREATE TABLE IF NOT EXISTS "people_email_layers"(layer INTEGER PRIMARY KEY, num_blocks, num_keys, num_removed, capacity, bits_per_key, rebuilt_at, seal);
INSERT INTO people_email_layers VALUES(0,1,2,0,10,10.0,'2026-11-22 15:08:23',-8604989093253513292);
CREATE TABLE IF NOT EXISTS "people_email_pages"(page INTEGER PRIMARY KEY, blocks);
INSERT INTO people_email_pages VALUES(0,X'1000004008800000084000001000040000000a00004080000020040000000101');
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','seen','seen',0,'CREATE VIRTUAL TABLE seen USING bloom(capacity=10)');
CREATE TABLE IF NOT EXISTS "seen_config"(format INTEGER PRIMARY KEY, is_following, kind, collation, triggers, bits_per_key, min_capacity, blocks_per_page, names_prefix, seal);
INSERT INTO seen_config VALUES(1,0,0,0,0,10.0,10,112,'seen',7712043495003650565);
CREATE TABLE IF NOT EXISTS "seen_layers"(layer INTEGER PRIMARY KEY, num_blocks, num_keys, num_removed, capacity, bits_per_key, rebuilt_at, seal);
INSERT INTO seen_layers VALUES(0,1,1,0,10,1.0,'2026-11-22 15:08:23',-5706731565422646168);
CREATE TABLE IF NOT EXISTS "seen_pages"(page INTEGER PRIMARY KEY, blocks);
INSERT INTO seen_pages VALUES(0,X'0000004008000000004000000000040000000200000080000020000000000001');
CREATE TABLE filters(filter BLOB);
INSERT INTO filters VALUES(X'510410540041410006');
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','vip','vip',0,'CREATE VIRTUAL TABLE vip USING bloom(people, lower(email), where = ''id = 1'', capacity = 10)');
CREATE TABLE IF NOT EXISTS "vip_config"(format INTEGER PRIMARY KEY, is_following, kind, collation, triggers, bits_per_key, min_capacity, blocks_per_page, names_prefix, seal);
INSERT INTO vip_config VALUES(1,1,0,0,31,10.0,10,112,'vip',-130126134967905372);
CREATE TABLE IF NOT EXISTS "vip_layers"(layer INTEGER PRIMARY KEY, num_blocks, num_keys, num_removed, capacity, bits_per_key, rebuilt_at, seal);
INSERT INTO vip_layers VALUES(0,1,1,0,10,10.0,'2026-11-22 15:08:23',8863820141056729596);
CREATE TABLE IF NOT EXISTS "vip_pages"(page INTEGER PRIMARY KEY, blocks);
INSERT INTO vip_pages VALUES(0,X'0000004008000000004000000000040000000200000080000020000000000001');
CREATE VIEW "people_email_keys" AS SELECT "people"."email" AS key FROM "people" WHERE 1;
CREATE TRIGGER "people_email_before_insert" BEFORE INSERT ON "people" BEGIN INSERT INTO "people_email"(key) VALUES (new."email"); END;
CREATE TRIGGER "people_email_before_update" BEFORE UPDATE ON "people" WHEN new."email" IS NOT old."email" COLLATE BINARY BEGIN INSERT INTO "people_email"(key, removed) VALUES (new."email", old."email"); END;
CREATE TRIGGER "people_email_after_update" AFTER UPDATE ON "people" WHEN new."email" IS NOT old."email" COLLATE BINARY BEGIN INSERT INTO "people_email"(key) VALUES (new."email"); END;
CREATE TRIGGER "people_email_before_delete" BEFORE DELETE ON "people" BEGIN INSERT INTO "people_email"(removed) VALUES (old."email"); END;
CREATE VIEW "vip_keys" AS SELECT (lower(email)
) AS key FROM "people" WHERE (id = 1
);
CREATE TRIGGER "vip_before_insert" BEFORE INSERT ON "people" BEGIN INSERT INTO "vip"(key) SELECT (lower(email)
) FROM (SELECT "people"."id", "people"."email" FROM "people" WHERE 0 UNION ALL SELECT new."id", new."email"||'' LIMIT 1) AS "people" WHERE (id = 1
); END;
CREATE TRIGGER "vip_after_insert" AFTER INSERT ON "people" BEGIN INSERT INTO "vip"(key) SELECT (lower(email)
) FROM "people" WHERE "people"."id" = new."id" AND (id = 1
); END;
CREATE TRIGGER "vip_before_update" BEFORE UPDATE ON "people" BEGIN INSERT INTO "vip"(key, removed) VALUES ((SELECT (lower(email)
) FROM (SELECT "people"."id", "people"."email" FROM "people" WHERE 0 UNION ALL SELECT new."id", new."email"||'' LIMIT 1) AS "people" WHERE (id = 1
)), (SELECT (lower(email)
) FROM "people" WHERE "people"."id" = old."id" AND (id = 1
))); END;
CREATE TRIGGER "vip_after_update" AFTER UPDATE ON "people" BEGIN INSERT INTO "vip"(key) SELECT (lower(email)
) FROM "people" WHERE "people"."id" = new."id" AND (id = 1
); END;
CREATE TRIGGER "vip_before_delete" BEFORE DELETE ON "people" BEGIN INSERT INTO "vip"(removed) SELECT (lower(email)
) FROM "people" WHERE "people"."id" = old."id" AND (id = 1
); END;
PRAGMA writable_schema=OFF;
COMMIT;
