"""What happens to a table that has a bloom_index, at random; model.py runs it."""
import sqlite3

import values
from cases import quoted


class Changes:
    def __init__(self, run):
        self.run = run
        self.num_names = 0

    def steps(self):
        run = self.run
        return [self.insert] * 6 + [self.update] * 6 + [self.delete] * 3 + [self.bulk] * 2 + [self.transaction] * 6 + [self.command] * 8 \
            + [self.user_trigger] * 2 + [self.drop_trigger] * 2 + [self.rename] + [self.migrate] + [self.alter] * 2 + [self.held] + [self.schema] + [self.parents] * 2 \
            + [self.like] + [self.reopen] + [self.fill_disk] + [run.check] * 10 + [run.integrity]

    def name(self, base):
        self.num_names += 1
        return "%s%d" % (base, self.num_names)

    def id_value(self):
        run, r = self.run, self.run.random
        rows = run.do(0, "SELECT min(%s), max(%s) FROM %s" % (quoted(run.id), quoted(run.id), run.named(run.source)))
        low, high = rows[0] if rows and rows[0][0] is not None else (1, 1)
        return max(-2**63, min(values.random_id(r, low, high), 2**63 - 1))

    # -- Rows --------------------------------------------------------------------------

    def row(self):
        """SQL of the values of self.run.written, and their parameters."""
        run = self.run
        pairs = [values.value_for(run.random, run.types[name], run.is_strict) for name in run.written]
        return [sql for sql, _ in pairs], [value for _, value in pairs if value is not values.NONE]

    def insert(self, i):
        run, r = self.run, self.run.random
        verb = r.choice(["INSERT", "INSERT", "INSERT", "REPLACE"] + ["INSERT OR " + c for c in ("ABORT", "REPLACE", "IGNORE", "FAIL", "ROLLBACK")])
        rows, parameters = [], []
        for _ in range(r.choice([1, 1, 2, 5])):
            sqls, of_row = self.row()
            if r.random() < 0.5:
                sqls.insert(0, "NULL")
            else:
                sqls.insert(0, "?")
                of_row.insert(0, self.id_value())
            rows.append("(%s)" % ", ".join(sqls))
            parameters += of_row
        sql = "%s INTO %s(%s) VALUES %s" % (verb, run.named(run.source), ", ".join(map(quoted, [run.id] + run.written)), ", ".join(rows))
        if verb == "INSERT" and r.random() < 0.3:
            column = r.choice(run.written)
            sql += " ON CONFLICT(%s) DO %s" % (quoted(run.id), r.choice(
                ["NOTHING", "UPDATE SET %s = excluded.%s" % (quoted(column), quoted(column)),
                 "UPDATE SET %s = %s, %s = 'upserted'" % (quoted(run.id), "excluded.%s + 1" % quoted(run.id), quoted(column))]))
        run.do(i, sql, parameters)

    def where(self):
        run, r = self.run, self.run.random
        id = quoted(run.id)
        kind = r.random()
        if kind < 0.4:
            return "%s = ?" % id, [self.id_value()]
        if kind < 0.7:
            first = self.id_value()
            return "%s BETWEEN ? AND ?" % id, [first, min(2**63 - 1, first + r.choice([1, 5, 50, 400]))]
        if kind < 0.85:
            return "%s %% %d = 0" % (id, r.choice([2, 7, 50])), []
        if kind < 0.95:
            return "%s IN (SELECT %s FROM %s ORDER BY %s DESC LIMIT %d)" % (id, id, run.named(run.source), id, r.choice([1, 3, 100])), []
        return "1", []

    def update(self, i):
        run, r = self.run, self.run.random
        where, of_where = self.where()
        kind = r.random()
        if kind < 0.5:
            column = r.choice(run.written)
            sql, value = values.value_for(r, run.types[column], run.is_strict)
            assignments, parameters = "%s = %s" % (quoted(column), sql), [] if value is values.NONE else [value]
        elif kind < 0.75:
            a, b = r.choice(run.written), r.choice(run.written)
            # Each row gets a value of its own, or its own as another type, which may be equal and another text.
            assignments, parameters = r.choice([
                "{a} = upper({b}) || {id}", "{a} = length({b}) + 48271 * ({id} % 1000003)",
                "{a} = CASE typeof({a}) WHEN 'integer' THEN {a} + 0.0 WHEN 'real' THEN CAST({a} AS INTEGER) ELSE CAST({a} AS BLOB) END"]).format(
                    a=quoted(a), b=quoted(b), id=quoted(run.id)), []
        else:
            id = r.choice([quoted(run.id), "rowid" if run.has_rowid else quoted(run.id), "oid"])
            assignments, parameters = "%s = %s" % (id, r.choice(["%s + 1", "%s - 1", "-%s", "%s + 100000", "%s - 100000", "-1", "9223372036854775807"]).replace("%s", quoted(run.id))), []
        verb = r.choice(["UPDATE"] * 3 + ["UPDATE OR " + c for c in ("ABORT", "REPLACE", "IGNORE", "FAIL", "ROLLBACK")])
        run.do(i, "%s %s SET %s WHERE %s" % (verb, run.named(run.source), assignments, where), parameters + of_where)

    def delete(self, i):
        run, r = self.run, self.run.random
        where, parameters = self.where()
        if where == "1" and r.random() < 0.7:
            return
        run.do(i, "DELETE FROM %s WHERE %s" % (run.named(run.source), where), parameters)

    def bulk(self, i):
        """Many rows, all with keys of their own."""
        run, r = self.run, self.run.random
        num_rows = r.choice([30, 300, 1000, 3000])
        if run.options.big:
            num_rows = r.choice([20000, 50000, 100000])
        exprs = []
        for name in run.written:
            kind = run.types[name]
            if run.is_strict and kind in ("INT", "INTEGER"):
                exprs.append(r.choice(["n * 7919 % 100003", "n % 50"]))
            elif run.is_strict and kind == "REAL":
                exprs.append("n * 0.37")
            elif run.is_strict and kind == "BLOB":
                exprs.append("CAST('key' || n AS BLOB)")
            else:
                exprs.append(r.choice(["printf('%%08x', n * 2654435761 %% 4294967296)", "'key' || (n %% 2000)", "n", "'request ' || n || ' took ' || (n * 7919 %% 1000) || ' ms'",
                                       "'Request for /index.html?user=' || hex(n * 48271 %% 2147483647)", "CAST(n AS TEXT)",
                                       "CASE n %% 5 WHEN 0 THEN n WHEN 1 THEN 'n' || n WHEN 2 THEN n * 0.5 WHEN 3 THEN CAST(n AS BLOB) END"]).replace("%%", "%")
                             if not run.is_strict or kind.startswith("ANY") else "printf('%08x', n * 2654435761 % 4294967296)")
        step = r.choice([1, 1, 1, 2, 1000003])
        start = r.choice(["(SELECT coalesce(max(%s), 0) FROM %s)" % (quoted(run.id), run.named(run.source))] * 4 + [str(self.id_value() % 2**40)])
        if r.random() < 0.1:
            start = str(-r.randint(0, 5000))
        run.do(i, "INSERT OR IGNORE INTO %s(%s) SELECT base + n * %d, %s FROM (WITH RECURSIVE c(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM c WHERE n < %d)"
                  " SELECT n FROM c), (SELECT %s AS base) WHERE base < 9223372036854775807 - %d" % (
                      run.named(run.source), ", ".join(map(quoted, [run.id] + run.written)), step, ", ".join(exprs), num_rows, start, (num_rows + 1) * step))

    def parents(self, i):
        run, r = self.run, self.run.random
        table = run.named("parents")
        run.do(i, r.choice(["INSERT OR IGNORE INTO %s SELECT %s FROM %s LIMIT 5" % (table, quoted(r.choice(run.columns)), run.named(run.source)),
                            "UPDATE %s SET p = p || 'x' WHERE rowid %% 2" % table, "DELETE FROM %s WHERE rowid %% 3 = 1" % table]))

    # -- Commands and transactions --------------------------------------------------------

    def command(self, i):
        run, r = self.run, self.run.random
        if not run.indexes:
            return
        name = r.choice(sorted(run.indexes))
        command = r.choice(run.commands)
        for _ in range(r.choice([1, 1, 4])):
            run.do(i, "INSERT INTO %s(%s) VALUES ('%s')" % (run.named(name), quoted(name), command))

    def transaction(self, i):
        run, r = self.run, self.run.random
        if not run.connections[i].in_transaction:
            run.do(i, r.choice(["BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT a"]))
        else:
            run.do(i, r.choice(["COMMIT", "COMMIT", "ROLLBACK", "SAVEPOINT a", "SAVEPOINT b", "RELEASE a", "ROLLBACK TO a", "ROLLBACK TO b"]))

    def like(self, i):
        """LIKE becomes another while tables are open."""
        run, r = self.run, self.run.random
        if run.like_mode == "case":
            run.do(i, "PRAGMA case_sensitive_like = %d" % r.randint(0, 1))

    def reopen(self, i):
        run = self.run
        if run.schema == "temp" or any(db.in_transaction for db in run.connections):
            return
        run.connections[i].close()
        run.connections[i] = run.connect(i < len(run.connections) - 1)

    def fill_disk(self, i):
        """Little room for what comes next, then enough."""
        run, r = self.run, self.run.random
        rows = run.do(i, "PRAGMA %s.page_count" % run.schema)
        if not rows:
            return
        run.do(i, "PRAGMA %s.max_page_count = %d" % (run.schema, rows[0][0] + r.randint(0, 6)))
        for _ in range(3):
            r.choice([self.insert, self.update, self.command, self.command])(i)
        enough = "PRAGMA %s.max_page_count = 1000000" % run.schema
        try:
            run.connections[i].execute(enough)  # no interrupt comes between
        except sqlite3.OperationalError:  # the schema is to be read, and another connection holds the file
            for other, db in enumerate(run.connections):
                if db.in_transaction:
                    run.log.append((other, "ROLLBACK", ()))
                    db.rollback()
            run.connections[i].execute(enough)

    # -- The schema -------------------------------------------------------------------------

    def undo_or_keep(self, i, change):
        """Makes a change, sometimes to roll it back."""
        run = self.run
        if run.random.random() < 0.3 and not run.connections[i].in_transaction:
            before = run.source, dict(run.indexes)
            if run.do(i, "BEGIN IMMEDIATE") is None:
                return
            # An interrupt may end the transaction, and what comes next would stay.
            interrupts, run.interrupts = run.interrupts, 0
            change()
            run.interrupts = interrupts
            run.random.choice([self.insert, self.update, self.command])(i)
            is_seen = i == 0 or i < len(run.connections) - 1 # by a connection that can look
            if is_seen and run.connections[i].in_transaction and run.random.random() < 0.5:
                run.check(i)
            run.do(i, "ROLLBACK") # if a statement that failed did not
            run.source, run.indexes = before
        elif not any(db.in_transaction for db in run.connections):
            change()
        run.note_columns()

    def user_trigger(self, i):
        run, r = self.run, self.run.random
        is_temp = r.random() < 0.2 and i == 0
        event = r.choice(["INSERT", "UPDATE", "DELETE"])
        when = r.choice(["BEFORE", "AFTER"])
        row = "old" if event == "DELETE" else "new"
        outcome = r.choice(["IGNORE", "FAIL, 'no'", "ABORT, 'no'", "ROLLBACK, 'no'"])
        # A TEMP trigger keeps a row without telling ours: it is documented.
        if is_temp and event == "INSERT" and when == "AFTER":
            outcome = "ABORT, 'no'"
        # What AFTER keeps by FAIL, a TEMP one keeps of an UPDATE, too; ours before it noted the row.
        body = r.choice(["SELECT RAISE(%s) WHERE %s.%s %% 3 = 0" % (outcome, row, quoted(run.id)),
                         "UPDATE %s SET %s = 'by trigger' WHERE %s = %s.%s - 1" % (
                             quoted(run.source), quoted(r.choice(run.written)), quoted(run.id), row, quoted(run.id)),
                         "INSERT OR IGNORE INTO %s(%s) VALUES (%s.%s - 2)" % (quoted(run.source), quoted(run.id), row, quoted(run.id))])
        if "RAISE" not in body:
            # Two that call one another take a statement twice the time and memory for each row.
            others = run.do(i, "SELECT 1 FROM %s.sqlite_master WHERE name GLOB 't[0-9]*' AND sql LIKE '%% %s ON %%' AND sql NOT LIKE '%%RAISE%%'" % (run.schema, event))
            if is_temp or others != []:
                return
        name = self.name("t")
        sql = "CREATE %sTRIGGER %s%s %s %s ON %s BEGIN %s; END" % (
            "TEMP " if is_temp else "", "" if is_temp else run.schema + ".", name, when, event,
            run.named(run.source) if is_temp else quoted(run.source), body)
        self.undo_or_keep(i, lambda: run.do(i, sql))

    def drop_trigger(self, i):
        run, r = self.run, self.run.random
        rows = run.do(i, "SELECT name FROM %s.sqlite_master WHERE type = 'trigger'" % run.schema)
        names = [row[0].decode() for row in rows or []]
        if r.random() < 0.8:
            names = [name for name in names if name[0] == "t"]
        if names:
            self.undo_or_keep(i, lambda: run.do(i, "DROP TRIGGER " + run.named(r.choice(names))))

    def rename(self, i):
        run, r = self.run, self.run.random
        if r.random() < 0.5:
            run.do(i, "PRAGMA legacy_alter_table = %d" % r.randint(0, 1))
        interrupts, run.interrupts = run.interrupts, 0  # a rename that says it was interrupted may be done

        def change():
            if r.random() < 0.5 or not run.indexes:
                name = self.name("log")
                if run.do(i, "ALTER TABLE %s RENAME TO %s" % (run.named(run.source), quoted(name))) is not None:
                    run.source = name
            else:
                old, name = r.choice(sorted(run.indexes)), self.name('in"dex')
                if run.do(i, "ALTER TABLE %s RENAME TO %s" % (run.named(old), quoted(name))) is not None:
                    run.indexes[name] = run.indexes.pop(old)
        self.undo_or_keep(i, change)
        run.interrupts = interrupts

    def alter(self, i):
        """A column comes, or gets another name."""
        run, r = self.run, self.run.random
        if any(db.in_transaction for db in run.connections):
            return
        interrupts, run.interrupts = run.interrupts, 0  # what says that it was interrupted may be done
        source = run.named(run.source)
        if r.random() < 0.4 and len(run.columns) < 8:
            name = self.name("c")
            if run.do(i, "ALTER TABLE %s ADD COLUMN %s TEXT DEFAULT 'added'" % (source, name)) is not None:
                run.columns.append(name)
                run.written.append(name)
                run.types[name] = "TEXT"
        else:
            old, name = r.choice(run.columns), self.name("c")
            if run.do(i, "ALTER TABLE %s RENAME COLUMN %s TO %s" % (source, quoted(old), name)) is not None:
                run.columns = [name if each == old else each for each in run.columns]
                run.range_columns = [name if each == old else each for each in run.range_columns]
                run.written = [name if each == old else each for each in run.written]
                run.types[name] = run.types.pop(old)
                run.indexes = {index: [(name if each == old else each, is_like) for each, is_like in indexed] for index, indexed in run.indexes.items()}
                run.has_rowid = "rowid" not in run.columns
        rows = run.do(0, "SELECT sql FROM %s.sqlite_master WHERE type = 'table' AND name = ?" % run.schema, [run.source])
        if rows:
            sql = rows[0][0].decode()
            run.definition = sql[sql.index("("):]
        run.interrupts = interrupts
        run.note_columns()

    def held(self, i):
        """A join in the middle of its rows, while the schema changes under it: never fewer rows."""
        run, r = self.run, self.run.random
        if i == len(run.connections) - 1 and i > 0 or not run.indexes or any(db.in_transaction for db in run.connections):
            return
        # A statement that reads a generated column of a STRICT table goes on with the freed definition in SQLite 3.54.1, without bloom, too.
        if "STRICT" in run.definition and " AS (" in run.definition:
            return
        index, column = r.choice(sorted(run.indexes)), quoted(r.choice(run.columns))
        sql = "SELECT o.n, typeof(t.%s) FROM o CROSS JOIN {t} AS t ON t.%s = o.%s" % (column, column, r.choice(["x", "y", "z", "w"]))
        wanted, error = run.ask(i, sql.replace("{t}", run.named(run.source)), [])
        if error or not wanted or run.ask(i, "SELECT 1 FROM %s" % run.named(index), [])[1]:
            return
        rows = run.connections[i].execute(sql.replace("{t}", run.named(index)))
        found = [rows.fetchone()]
        self.alter(i)
        try:
            found += rows.fetchall()
        except sqlite3.Error as failure:
            if "schema" not in str(failure) and "no such column" not in str(failure):
                raise
            return
        finally:
            rows.close()
        if sorted(found, key=repr) != sorted(wanted, key=repr):
            raise AssertionError("%s: %d rows of %d" % (sql, len(found), len(wanted)))

    def migrate(self, i):
        """The twelve steps of sqlite.org/lang_altertable.html, with our triggers put back or not."""
        run, r = self.run, self.run.random
        if any(db.in_transaction for db in run.connections):
            return
        is_back = r.random() < 0.5
        run.do(i, "PRAGMA legacy_alter_table = 0")
        run.do(i, "PRAGMA foreign_keys = 0")
        try:
            if run.do(i, "BEGIN IMMEDIATE") is None:
                return
            triggers = run.do(i, "SELECT sql FROM %s.sqlite_master WHERE type = 'trigger' AND tbl_name = ?" % run.schema, [run.source])
            columns = ", ".join(map(quoted, [run.id] + run.written))
            name = self.name("new")
            steps = ["CREATE TABLE %s%s" % (run.named(name), run.definition),
                     "INSERT INTO %s(%s) SELECT %s FROM %s" % (run.named(name), columns, columns, run.named(run.source)),
                     "DROP TABLE " + run.named(run.source),
                     "ALTER TABLE %s RENAME TO %s" % (run.named(name), quoted(run.source))]
            if is_back and run.schema == "main":
                steps += [row[0].decode() for row in triggers or []]
            if all(run.do(i, sql) is not None for sql in steps):
                run.do(i, "COMMIT")
            if run.connections[i].in_transaction:
                run.do(i, "ROLLBACK")
        finally:
            run.do(i, "PRAGMA foreign_keys = 1")

    def source_index(self, i):
        run, r = self.run, self.run.random
        keys = ["%s%s%s" % (quoted(name), r.choice(["", "", " COLLATE NOCASE", " COLLATE BINARY"]), r.choice(["", "", " DESC"])) for name in r.sample(run.columns, r.choice([1, 1, 2]))]
        run.do(i, "CREATE INDEX IF NOT EXISTS %s.%s ON %s(%s)" % (run.schema, self.name("ix"), quoted(run.source), ", ".join(keys)))

    def schema(self, i):
        run, r = self.run, self.run.random
        kind = r.random()
        if kind < 0.3 and run.schema != "temp":
            if not any(db.in_transaction for db in run.connections):
                run.do(i, "VACUUM " + run.schema)
        elif kind < 0.5 and i < len(run.connections) - 1 or run.schema == "temp":
            def remake():
                for name in list(run.indexes):
                    if run.do(i, "DROP TABLE " + run.named(name)) is not None:
                        del run.indexes[name]
                run.make_index(i)
            self.undo_or_keep(i, remake)
        elif kind < 0.7:
            self.source_index(i)
        elif kind < 0.8:
            run.do(i, "ANALYZE")
        elif kind < 0.9 and i < len(run.connections) - 1:
            self.undo_or_keep(i, lambda: run.make_index(i))
