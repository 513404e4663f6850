"""What ActiveRecord, Peewee, knex, TypeORM and drizzle-kit make of a database with a filter and an index, with bloom loaded and
without: what sql/LIMITS.md and the recipes say of each.

Debian: ruby-activerecord, ruby-sqlite3, python3-peewee.  npm: `npm install --prefix build/orms knex typeorm drizzle-kit drizzle-orm
better-sqlite3`.  What is not there is left out.
"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vtab"))
import tools  # noqa: E402
from cases import Skip, column, command, each, execute, expect, is_uncertain, main, note  # noqa: E402

NODE_MODULES = os.path.join(tools.TOP, "build", "orms", "node_modules")
RECIPES = os.path.join(tools.TOP, "examples", "recipes", "README.md")
MODULE_IS_MISSING = "no such module: bloom"

ACTIVE_RECORD = """
require 'active_record'; require 'stringio'
ActiveRecord::Base.establish_connection(adapter: 'sqlite3', database: ARGV[0])
c = ActiveRecord::Base.connection
if ARGV[1] then c.raw_connection.enable_load_extension(true); c.raw_connection.load_extension(ARGV[1]) end
def dump
  io = StringIO.new
  ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection, io)
  io.string.scan(/create_table "(\\w+)/).join(' ')
rescue => e
  e.message
end
puts "dumped: #{dump}"
RECIPE
puts "ignored: #{dump}"
c.change_column_null :people, :k, false
begin; c.truncate_tables(*c.tables); puts 'emptied'; rescue => e; puts e.message; end
"""
PEEWEE = """
import sys, peewee
from playhouse.reflection import Introspector
from playhouse.migrate import SqliteMigrator, migrate
db = peewee.SqliteDatabase(sys.argv[1])
if len(sys.argv) > 2: db.load_extension(sys.argv[2])
try: print('all:', *sorted(Introspector.from_database(db).generate_models()))
except Exception as e: print('all:', e)
print('named:', *Introspector.from_database(db).generate_models(table_names=['people']))
migrate(SqliteMigrator(db).add_not_null('people', 'k'))
"""
KNEX = """
const [path, load] = process.argv.slice(1);
const knex = require('knex')({client: 'better-sqlite3', connection: {filename: path}, useNullAsDefault: true,
  pool: {afterCreate: (c, done) => { if (load) c.loadExtension(load); done(null, c); }}});
knex.schema.alterTable('people', t => t.string('k').notNullable().alter()).then(() => knex.destroy());
"""
TYPEORM = """
const [path, load] = process.argv.slice(1);
const {DataSource, EntitySchema} = require('typeorm');
const T = new EntitySchema({name: 'people', tableName: 'people', columns: {id: {type: Number, primary: true, generated: true}, k: {type: String}}});
const ds = new DataSource({type: 'better-sqlite3', database: path, entities: [T], synchronize: true,
  prepareDatabase: c => { if (load) c.loadExtension(load); }});
ds.initialize().then(() => ds.dropDatabase()).catch(e => console.log(e.message));
"""
DRIZZLE_SCHEMA = """
const {sqliteTable, integer, text} = require('drizzle-orm/sqlite-core');
exports.people = sqliteTable('people', {id: integer('id').primaryKey({autoIncrement: true}), k: text('k')NOT_NULL});
"""


def runs(files, program, text, load, **options):
    if shutil.which(program) is None and not os.path.exists(program):
        raise Skip(program)
    flag = {"ruby": "-e", "node": "-e"}.get(program, "-c")
    arguments = [program, flag, text, files.path] + ([files.load] if load else [])
    env = dict(os.environ, NODE_PATH=NODE_MODULES, RUBYOPT="-W0")
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, **options)
    expect(done.returncode, 0, done.stdout)
    return dict(line.split(": ", 1) if ": " in line else (line, "") for line in done.stdout.strip().split("\n"))


def has_node(*packages):
    for package in packages:
        if not os.path.isdir(os.path.join(NODE_MODULES, package)):
            raise Skip(package + " (npm)")


with_bloom_or_without = each({"with bloom": True, "without": False})


def make(files):
    db = files.connect()
    execute(db, "CREATE TABLE people(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, k TEXT)", "INSERT INTO people(k) VALUES ('a'), ('b')",
            "CREATE VIRTUAL TABLE t_filter USING bloom(people, k)", "CREATE VIRTUAL TABLE t_index USING bloom_index(people, k LIKE)")
    command(db, "t_index", "merge")
    db.close()


def made_again(files):
    """The tool made the table again: no key is lost, and 'rebuild' makes all certain."""
    db = files.connect(load=False)
    db.execute("INSERT INTO people(k) VALUES ('new')")
    db.close()
    db = files.connect()
    is_uncertain(db, "SELECT k FROM people", "t_filter")
    expect(column(db, "SELECT k FROM t_index WHERE k = 'new'"), ["new"])
    for name in "t_filter", "t_index":
        command(db, name, "rebuild")
        command(db, name, "integrity-check")
    expect(note(db, "t_filter"), None)
    db.close()


def recipe(tool):
    with open(RECIPES, encoding="utf-8") as file:
        row, = [line for line in file if line.startswith("- **%s**" % tool)]
    return row


@with_bloom_or_without
def active_record(files, load):
    make(files)
    line = recipe("Rails").split("`")[1].replace("log_index", "t_(filter|index)")
    try:
        subprocess.run(["ruby", "-e", "require 'active_record'; require 'sqlite3'"], check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        raise Skip("ActiveRecord (Debian: ruby-activerecord, ruby-sqlite3)")
    printed = runs(files, "ruby", ACTIVE_RECORD.replace("RECIPE", line), load)
    expect(printed["ignored"], "people")
    if load:
        assert "t_index_state" in printed["dumped"] and "emptied" not in printed, printed
    else:
        assert MODULE_IS_MISSING in printed["dumped"] and "emptied" not in printed, printed
    made_again(files)


@with_bloom_or_without
def peewee(files, load):
    make(files)
    try:
        import peewee as _  # noqa: F401
    except ImportError:
        raise Skip("Peewee (Debian: python3-peewee)")
    printed = runs(files, sys.executable, PEEWEE, load)
    expect(printed["named"], "people")
    assert ("t_filter" if load else MODULE_IS_MISSING) in printed["all"], printed
    made_again(files)


@with_bloom_or_without
def knex(files, load):
    has_node("knex", "better-sqlite3")
    make(files)
    runs(files, "node", KNEX, load)
    made_again(files)


@with_bloom_or_without
def typeorm(files, load):
    has_node("typeorm", "better-sqlite3")
    make(files)
    printed = runs(files, "node", TYPEORM, load)
    assert any(("may not be dropped" if load else MODULE_IS_MISSING) in text for text in map(": ".join, printed.items())), printed
    made_again(files)


@each({"without": False})
def drizzle_kit(files, load):
    has_node("drizzle-kit", "drizzle-orm", "better-sqlite3")
    make(files)
    os.symlink(NODE_MODULES, files.file("node_modules"))
    with open(files.file("drizzle.config.js"), "w") as file:
        file.write("module.exports = {dialect: 'sqlite', schema: './schema.js', out: './out', dbCredentials: {url: '%s'}};" % files.path)

    def kit(word, not_null=""):
        with open(files.file("schema.js"), "w") as file:
            file.write(DRIZZLE_SCHEMA.replace("NOT_NULL", not_null))
        return subprocess.run(["node", os.path.join(NODE_MODULES, "drizzle-kit", "bin.cjs"), word], cwd=files.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).returncode

    expect([kit(word) for word in ("push", "pull")], [1, 1])
    expect(kit("generate"), 0)
    for name in os.listdir(files.file("out")):
        if name.endswith(".sql"):
            with open(files.file("out/" + name), "w") as file:
                file.write("SELECT 1;")
    expect([kit("migrate"), kit("generate", ".notNull()"), kit("migrate", ".notNull()")], [0, 0, 0])
    made_again(files)


if __name__ == "__main__":
    sys.exit(main())
