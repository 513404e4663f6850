-- The package index as three tables. Every join below has its index.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;

-- One row per package of the archive.
CREATE TABLE packages(
  id           INTEGER PRIMARY KEY,
  name         TEXT NOT NULL UNIQUE,
  section      TEXT NOT NULL,      -- 'games', 'python', ...
  priority     TEXT NOT NULL,
  installed_kb INTEGER NOT NULL
);

-- One row per need: package asks for target, by name, as packages do. A target
-- may be a name that no package has.
CREATE TABLE needs(
  package TEXT NOT NULL,
  kind    TEXT NOT NULL,           -- 'Depends', 'Recommends', ...
  target  TEXT NOT NULL,
  PRIMARY KEY(package, kind, target)
) WITHOUT ROWID;

-- What this machine has.
CREATE TABLE installed(name TEXT PRIMARY KEY) WITHOUT ROWID;

.mode tabs
CREATE TABLE packages_in(name, section, priority, installed_kb);
CREATE TABLE needs_in(package, kind, target);
.import build/demo/packages.tsv packages_in
.import build/demo/needs.tsv needs_in
.import build/demo/installed.tsv installed
.mode list

INSERT INTO packages(name, section, priority, installed_kb)
  SELECT name, section, priority, installed_kb FROM packages_in ORDER BY name;
INSERT OR IGNORE INTO needs SELECT package, kind, target FROM needs_in;
DROP TABLE packages_in;
DROP TABLE needs_in;

-- Depends and Pre-Depends once more by number, where the target is a package.
CREATE TABLE links(
  package_id INTEGER NOT NULL,
  target_id  INTEGER NOT NULL,
  PRIMARY KEY(package_id, target_id)
) WITHOUT ROWID;
INSERT OR IGNORE INTO links
  SELECT p.id, t.id
  FROM needs n JOIN packages p ON p.name = n.package JOIN packages t ON t.name = n.target
  WHERE n.kind IN ('Depends', 'Pre-Depends');

CREATE INDEX packages_by_section ON packages(section);
CREATE INDEX needs_by_target ON needs(target);
CREATE INDEX links_by_target ON links(target_id);
ANALYZE;
