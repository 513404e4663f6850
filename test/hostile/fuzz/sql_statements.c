/*
** Whole SQL statements over our functions and virtual tables, with values of all
** types, in all orders, roles and arities.  They may fail; they may not crash, leak,
** exceed their limits, or answer a wrong "no".
**
** The input's bytes are decisions of a grammar, sql_grammar.h.  Random SQL has no answer
** to compare with, so some forms are true whatever fills their gaps, such as
**
**   bloom_may_contain(<filter that ?1 was put into>, ?1) AS yes
**
** A column named yes may be NULL or fail, but never 0.  A history makes a table and virtual tables over it, and after anything that happened to them their
** filters have the table's keys, and an index has its rows.
**
** Every function and module that the extension registers must be called by the grammar.
*/
#include "fuzz.h"

#include <stdarg.h>

#include <sqlite3.h>

#include "../../../ext/bloom.h"
#include "sql_grammar.h"

#define MAX_SQL_BYTES 6000
#define MAX_VALUES    40
#define MAX_DEPTH     4
#define MAX_TEXTS     10

/* A value that is bound to ?1, ?2, ... */
typedef struct bound_value {
  int type; /* SQLITE_INTEGER ...; 0: a BLOB of so many zero bytes */
  int64_t integer;
  double real;
  const uint8_t *bytes;
  size_t num_bytes;
} bound_value;

typedef struct generator {
  fuzz_input input;
  int may_be_slow;  /* what takes milliseconds may be called: one input in many */
  int has_columns;  /* k and f can be named here */
  int is_damaged;   /* bloom's own tables were written to */
  int is_checking;  /* a trigger runs 'integrity-check', which may find something when it fires */
  int depth;
  size_t num_chars;
  char sql[MAX_SQL_BYTES];
  struct { size_t first, num_chars; int is_set; } texts[MAX_TEXTS]; /* {1:rule} ... in sql */
  int num_values;
  bound_value values[MAX_VALUES];
} generator;

/* Filters to start from: no keys, {hello, world}, one of 30 probes, room for
** keys, no probes, reserved, too short, saturated; of Parquet no keys, {hello}, and one
** whose header tells of two blocks. */
static const struct {
  size_t num_bytes;
  uint8_t bytes[48];
} filters[] = {
  {9, {0, 0, 0, 0, 0, 0, 0, 0, 6}},
  {9, {0x11, 0x40, 0, 0x41, 0x04, 0x14, 0x40, 0x10, 6}},
  {12, {0x55, 0x55, 0x14, 0x55, 0x55, 0x15, 0x54, 0x45, 0x10, 0x55, 0x55, 30}},
  {12, {0, 0, 1, 0, 0, 0, 0, 0, 0x80, 0, 0, 6}},
  {3, {0x12, 0x34, 0}},
  {9, {0x11, 0x40, 0, 0x41, 0x04, 0x14, 0x40, 0x10, 0xff}},
  {1, {6}},
  {9, {255, 255, 255, 255, 255, 255, 255, 255, 1}},
  {47, {0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c}},
  {47, {0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0, 0, 0, 0x10, 0, 0, 0x02, 0, 0, 0, 0x04, 0, 0x00, 0x80, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0x80, 0, 0,
        0, 0x10, 0, 0, 0, 0x08}},
  {48, {0x15, 0x80, 0x01, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c}},
};
#define NUM_FILTERS (sizeof(filters)/sizeof(filters[0]))

static const char set_up[] =
  "PRAGMA trusted_schema = OFF;"
  "CREATE TABLE mixed(k, f);"
  "INSERT INTO mixed VALUES (NULL, bloom_empty(4)), (1, (SELECT bloom_build('a'))), (1.0, x''), ('1', x'06'),"
  " (x'31', x'0000000000000000ff'), (-0.0, NULL), (0.5, x'00'), (9223372036854775807, x'ffff01'),"
  " (-9223372036854775808, 'text'), ('', 7), (x'', bloom_add(bloom_empty(4), '', 1, 0.5)), ('a' || char(0) || 'b', x'0000'),"
  " (2.5, bloom_add(bloom_empty(4, 'parquet'), 2.5, 1)), (2, bloom_empty(90, 'parquet'));"
  "CREATE TABLE shapes(k, f);"
  "WITH v(value) AS (VALUES (1), ('a'), (2.5), (NULL), ('B'))"
  " INSERT INTO shapes SELECT value, bloom_add(bloom_empty(20), value) FROM v;"
  "CREATE TABLE numbers(k INTEGER PRIMARY KEY, f);"
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO numbers(k) SELECT i FROM n;"
  "CREATE TABLE many(k INTEGER PRIMARY KEY, f);"
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 33000) INSERT INTO many(k) SELECT i FROM n;"
  "CREATE TABLE none(k, f);"
  "CREATE TABLE files(k, f);"
  /* A LevelDB table file with a filter and one without, a filter block, BloomFiles. */
  "INSERT INTO files VALUES ('hello', x'00050068656c6c6f000500776f726c64000200c3a9000000000100000000d9420879114008416510c01006000000000900"
  "00000b0064101ae400220266696c7465722e6c6576656c64622e4275696c74696e426c6f6f6d46696c746572322212000000000100000000241b1514000102c4001d"
  "0000000001000000006416ab5c392f6d0e00000000000000000000000000000000000000000000000000000000000000000000000057fb808b247547db'),"
  " ('world', x'00050068656c6c6f000500776f726c64000200c3a9000000000100000000d9420879000000000100000000c0f2a1b0000102c4001d0000000001000000"
  "006416ab5c22082f0e00000000000000000000000000000000000000000000000000000000000000000000000057fb808b247547db'),"
  " (3, (SELECT bloom_filter_block_build(k * 3000, k) FROM numbers)), (4, (SELECT bloom_build_sets(k % 9, k, 0.01) FROM numbers)),"
  " (5, (SELECT bloom_build_sets(k, 'a', 10, 1) FROM numbers));"
  "CREATE TABLE kept(f BLOB);"
  "INSERT INTO kept VALUES (bloom_empty(10));"
  "CREATE TABLE log(k, n, f AS (bloom_add(bloom_empty(1), k)), b AS (bloom_add(bloom_empty(1, 'parquet'), k)), part AS (bloom_partition(k, 7)) STORED,"
  " CHECK (bloom_may_contain(f, k) IS NOT 0));"
  "CREATE INDEX log_part ON log(bloom_partition(k, 16));"
  "CREATE TRIGGER log_insert AFTER INSERT ON log BEGIN UPDATE kept SET f = bloom_add(f, NEW.k); END;"
  "CREATE TRIGGER log_update AFTER UPDATE ON log BEGIN UPDATE kept SET f = bloom_add(f, NEW.k); END;"
  "CREATE VIRTUAL TABLE log_filter USING bloom(log, k);"
  "CREATE VIRTUAL TABLE log_n USING bloom(log, n);"
  "CREATE VIRTUAL TABLE log_pair USING bloom(log, (k, n));"
  "CREATE VIRTUAL TABLE own_set USING bloom(capacity = 3);"
  "CREATE VIEW handles AS SELECT k, bloom_open(f) AS f FROM shapes;";


/* v has values to write, said the keys that the standalone filter was told. */
static const char set_up_history[] =
  "PRAGMA trusted_schema = OFF;"
  "CREATE TABLE v(k);"
  "INSERT INTO v VALUES (NULL), (1), (1.0), ('1'), (x'31'), ('01'), (0.5), ('0.5'), ('Ada'), ('ADA '), ('ada'), (9223372036854775807), (''), (x'616461');"
  "CREATE VIRTUAL TABLE alone USING bloom(capacity = 3);"
  "CREATE TABLE said(k);"
  "CREATE TRIGGER said_insert AFTER INSERT ON said BEGIN INSERT INTO alone(key) VALUES (new.k); END;"
  "CREATE TEMP TABLE checks(kind, sql);";

/* For each virtual table: how it is rebuilt and checked, and its name; and what is to be true of it.  ?1 is
** a condition of the grammar.  Of two tables that it may follow, its triggers say which. */
static const char list_of_checks[] =
  "WITH virtual(name, source) AS (SELECT name, coalesce((SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('s', 'r')"
  "  AND (instr(sql, 'INTO \"' || v.name || '_new\"(') OR instr(sql, 'INTO \"' || v.name || '_changed\"('))),"
  " (SELECT CASE count(*) WHEN 1 THEN max(name) END FROM sqlite_schema WHERE type = 'table' AND name IN ('s', 'r')))"
  "  FROM sqlite_schema v WHERE sql LIKE 'CREATE VIRTUAL%')"
  "SELECT printf('INSERT INTO %s(%s) VALUES (''rebuild'')', name, name), printf('INSERT INTO %s(%s) VALUES (''integrity-check'')', name, name),"
  " replace(replace(replace(replace(replace(checks.sql, '%C', ?1), '%F', virtual.name), '%T', source),"
  " '%A', (SELECT '\"' || name || '\"' FROM pragma_table_info(source) WHERE cid = 1)), '%B', (SELECT '\"' || name || '\"' FROM pragma_table_info(source) WHERE cid = 2))"
  " FROM virtual JOIN checks ON kind = rtrim(virtual.name, '2')";

/* -- Writing ---------------------------------------------------------------- */

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void put(generator *g, const char *format, ...){
  va_list arguments;
  int num;
  va_start(arguments, format);
  num = vsnprintf(g->sql + g->num_chars, MAX_SQL_BYTES - g->num_chars, format, arguments);
  va_end(arguments);
  g->num_chars += (size_t)num;
  /* Cut off, so that it will not even parse. */
  if( g->num_chars>=MAX_SQL_BYTES ) g->num_chars = MAX_SQL_BYTES - 1;
}

static unsigned choose(generator *g, unsigned limit){
  return fuzz_byte(&g->input) % limit;
}

/* -- Values ----------------------------------------------------------------- */

static double double_of(uint64_t bits){
  double real;
  memcpy(&real, &bits, sizeof(real));
  return real;
}

/* Adds a value to bind; returns its number, from 1. */
static int new_value(generator *g){
  static const int64_t integers[] = {0, 1, 30, 31, 64, 100, 255, 1<<14, 65536, INT32_MAX, UINT32_MAX,
    (int64_t)1<<32, (int64_t)1<<53, INT64_MAX, INT64_MIN, -1};
  static const double reals[] = {0, -0.0, 0.5, 1, 1.5, 10, 99.9, 100.1, -1, 1e9, 1e300, 0x1p63, -0x1p63, 1e-300,
    0x1p53, 0.01};
  static const uint8_t zero[1] = {0};
  bound_value *value;
  if( g->num_values==MAX_VALUES ) return 1 + (int)choose(g, MAX_VALUES);
  value = &g->values[g->num_values++];
  *value = (bound_value){.type = SQLITE_NULL, .bytes = zero};
  switch( choose(g, 12) ){
    case 0:  break;
    case 1:  value->type = SQLITE_INTEGER; value->integer = (int8_t)fuzz_byte(&g->input); break;
    case 2:  value->type = SQLITE_INTEGER; value->integer = (int64_t)fuzz_u64(&g->input); break;
    case 3:  value->type = SQLITE_INTEGER; value->integer = integers[choose(g, 16)]; break;
    case 4:  value->type = SQLITE_FLOAT;   value->real = (double)(int16_t)fuzz_u16(&g->input) / 16; break;
    case 5:  value->type = SQLITE_FLOAT;   value->real = double_of(fuzz_u64(&g->input)); break;
    case 6:  value->type = SQLITE_FLOAT;   value->real = reals[choose(g, 16)]; break;
    case 7:
    case 8:
      value->type = choose(g, 2) ? SQLITE_TEXT : SQLITE_BLOB;
      value->bytes = fuzz_bytes(&g->input, choose(g, 40), &value->num_bytes);
      break;
    case 9:
    case 10: {
      /* A filter, or as many of its bytes. */
      const unsigned number = choose(g, NUM_FILTERS);
      value->type = SQLITE_BLOB;
      value->bytes = filters[number].bytes;
      value->num_bytes = filters[number].num_bytes;
      if( choose(g, 4)==3 ) value->num_bytes = choose(g, (unsigned)value->num_bytes + 1);
      break;
    }
    case 11: value->type = 0; value->num_bytes = fuzz_u16(&g->input) % 3000; break;
  }
  return g->num_values;
}

static void bind_values(const generator *g, sqlite3_stmt *statement){
  int i;
  const int num_parameters = sqlite3_bind_parameter_count(statement);
  for(i=1; i<=num_parameters && i<=g->num_values; i++){
    const bound_value *value = &g->values[i-1];
    switch( value->type ){
      case SQLITE_INTEGER: sqlite3_bind_int64(statement, i, value->integer); break;
      case SQLITE_FLOAT:   sqlite3_bind_double(statement, i, value->real); break;
      /* Copied by SQLite into memory of that size. */
      case SQLITE_TEXT:
        sqlite3_bind_text64(statement, i, (const char*)value->bytes, value->num_bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
      case SQLITE_BLOB:
        sqlite3_bind_blob64(statement, i, value->bytes, value->num_bytes, SQLITE_TRANSIENT);
        break;
      case 0:
        sqlite3_bind_zeroblob64(statement, i, value->num_bytes);
        break;
      default: break;
    }
  }
}

/* -- The grammar ------------------------------------------------------------ */

/* Which alternatives ran without an error: libFuzzer keeps inputs that reach one more. */
#if defined(__linux__)
__attribute__((section("__libfuzzer_extra_counters")))
#endif
static uint8_t has_run[NUM_RULES][MAX_ALTERNATIVES];
static uint8_t is_used[NUM_RULES][MAX_ALTERNATIVES]; /* in this statement */

static const rule *find_rule(const char *name, size_t num_chars){
  size_t i;
  for(i=0; i<NUM_RULES; i++){
    if( strncmp(grammar[i].name, name, num_chars)==0 && grammar[i].name[num_chars]==0 ) return &grammar[i];
  }
  fprintf(stderr, "no rule {%.*s}\n", (int)num_chars, name);
  abort();
}

static void expand(generator *g, const rule *r);

/* What stands between { and }. */
static void expand_item(generator *g, const char *item, size_t num_chars){
  switch( item[0] ){
    case '?': put(g, "?%d", new_value(g)); break;
    case '*': new_value(g); break;
    case '+': g->has_columns = 1; break;
    case '-': g->has_columns = 0; break;
    case '!': g->is_damaged = 1; break;
    case '~': put(g, "%d", (int)(int8_t)fuzz_byte(&g->input)); break;
    case '#': put(g, "%u", choose(g, (unsigned)atoi(item + 1))); break;
    default:
      if( item[0]>='1' && item[0]<='9' ){
        const int number = item[0] - '0';
        const size_t first = g->num_chars;
        if( g->texts[number].is_set ){
          put(g, "%.*s", (int)g->texts[number].num_chars, g->sql + g->texts[number].first);
        }else{
          expand(g, find_rule(item + 2, num_chars - 2));
          g->texts[number].first = first;
          g->texts[number].num_chars = g->num_chars - first;
          g->texts[number].is_set = 1;
        }
      }else if( num_chars==1 && item[0]=='k' ){
        if( g->has_columns ) put(g, "%s", choose(g, 2) ? "f" : "k");
        else put(g, "?%d", new_value(g));
      }else{
        expand(g, find_rule(item, num_chars));
      }
  }
}

static void expand(generator *g, const rule *r){
  const int had_columns = g->has_columns;
  const int is_recursive = r->name[0]>='A' && r->name[0]<='Z';
  unsigned num = 0, number;
  const char *at;
  g->depth += is_recursive;
  while( num<MAX_ALTERNATIVES && r->alternatives[num] ) num++;
  number = num>1 && !(is_recursive && g->depth>MAX_DEPTH) ? choose(g, num) : 0;
  if( r->alternatives[number][0]=='!' && !g->may_be_slow ) number = 0;
  is_used[r - grammar][number] = 1;
  at = r->alternatives[number];
  if( *at=='!' ) at++;
  while( *at ){
    const size_t num_chars = strcspn(at, "{");
    put(g, "%.*s", (int)num_chars, at);
    at += num_chars;
    if( *at=='{' ){
      const size_t num_item = strcspn(at, "}");
      expand_item(g, at + 1, num_item - 1);
      at += num_item + 1;
    }
  }
  g->depth -= is_recursive;
  g->has_columns = had_columns;
}

static void start(generator *g){
  g->num_chars = 0;
  g->num_values = 0;
  g->has_columns = 0;
  g->depth = 0;
  g->sql[0] = 0;
  memset(g->texts, 0, sizeof(g->texts));
  memset(is_used, 0, sizeof(is_used));
}

static void generate(generator *g, const char *rule_name){
  start(g);
  expand(g, find_rule(rule_name, strlen(rule_name)));
}

/* -- Running ---------------------------------------------------------------- */

/* Stands in for sqlite3_interrupt(): long statements end early. */
static int count_down(void *num_left){
  return --*(int*)num_left<0;
}

/* Reads every value as what it is. */
static void read_row(sqlite3_stmt *statement){
  static volatile uint8_t sum;
  const int num_columns = sqlite3_column_count(statement);
  int i;
  for(i=0; i<num_columns; i++){
    const int type = sqlite3_column_type(statement, i);
    const uint8_t *bytes = NULL;
    if( type==SQLITE_INTEGER && strcmp(sqlite3_column_name(statement, i), "yes")==0
     && sqlite3_column_int64(statement, i)==0 ){
      fprintf(stderr, "a wrong no, column %d: %s\n", i, sqlite3_sql(statement));
      abort();
    }
    if( type==SQLITE_BLOB ) bytes = sqlite3_column_blob(statement, i);
    if( type==SQLITE_TEXT ) bytes = sqlite3_column_text(statement, i);
    if( bytes ){
      const int num_bytes = sqlite3_column_bytes(statement, i);
      if( num_bytes ) sum = (uint8_t)(sum + bytes[0] + bytes[num_bytes-1]);
    }
  }
}

/* With FUZZ_SHOW_SQL in the environment a replay prints what it runs, before that. */
static void show(sqlite3_stmt *statement){
  char *sql = fuzz_is_replay && getenv("FUZZ_SHOW_SQL") ? sqlite3_expanded_sql(statement) : NULL;
  if( sql ) printf("%s\n", sql);
  fflush(stdout);
  sqlite3_free(sql);
}

/* Runs a statement with g's values; returns what the last step returned. */
static int run_sql(generator *g, sqlite3 *db, const char *sql){
  sqlite3_stmt *statement = NULL;
  int num_steps = g->may_be_slow ? 4000 : 100; /* of 1000 instructions */
  int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  if( rc==SQLITE_OK && statement ){
    bind_values(g, statement);
    show(statement);
    sqlite3_progress_handler(db, 1000, count_down, &num_steps);
    while( (rc = sqlite3_step(statement))==SQLITE_ROW ) read_row(statement);
    sqlite3_progress_handler(db, 0, NULL, NULL);
  }
  if( fuzz_is_replay && getenv("FUZZ_SHOW_SQL") && rc!=SQLITE_DONE ) printf("-- %d %s: %s\n", rc, sqlite3_errmsg(db), sql);
  sqlite3_finalize(statement);
  FUZZ_CHECK(rc==SQLITE_OK || rc==SQLITE_DONE || rc==SQLITE_ERROR || rc==SQLITE_TOOBIG || rc==SQLITE_CONSTRAINT
          || rc==SQLITE_INTERRUPT || rc==SQLITE_MISMATCH || (rc==SQLITE_CORRUPT && (g->is_damaged || g->is_checking || strstr(sql, "integrity"))));
  return rc;
}

/* Runs what was generated. */
static int run(generator *g, sqlite3 *db){
  size_t i;
  const int rc = run_sql(g, db, g->sql);
  if( strstr(g->sql, "CREATE TRIGGER") && strstr(g->sql, "integrity") ) g->is_checking = 1;
  for(i=0; rc==SQLITE_DONE && i<sizeof(has_run); i++) ((uint8_t*)has_run)[i] |= ((uint8_t*)is_used)[i];
  return rc;
}

/* -- Connections and what is run on them again and again -------------------- */

typedef struct connection {
  sqlite3 *db;
  sqlite3_stmt *check; /* of log, or which checks a history needs */
} connection;

static const char check_log[] =
  "SELECT bloom_may_contain((SELECT f FROM kept), k) AS yes, bloom_may_contain(f, k) AS yes,"
  " bloom_may_contain(b, k) AS yes,"
  " part = bloom_partition(k, 7) AS yes, CASE WHEN k IS NOT NULL THEN (SELECT count(*) FROM log_filter(k)) END AS yes,"
  " CASE WHEN k IS NOT NULL AND n IS NOT NULL THEN (SELECT count(*) FROM log_pair WHERE key = bloom_tuple(k, n)) END AS yes,"
  " CASE WHEN k IS NOT NULL AND n IS NOT NULL THEN (SELECT count(*) FROM log_pair(k, n)) END AS yes,"
  " bloom_may_contain((SELECT handle FROM log_pair), bloom_tuple(k, n)) AS yes,"
  " bloom_may_contain((SELECT handle FROM log_filter), k) AS yes, CASE WHEN n IS NOT NULL"
  " THEN (SELECT count(*) FROM log_n(n)) END AS yes FROM log";

static void run_plain(sqlite3 *db, const char *sql){
  if( sqlite3_exec(db, sql, NULL, NULL, NULL)==SQLITE_OK ) return;
  fprintf(stderr, "%s: %s\n", sqlite3_errmsg(db), sql);
  abort();
}

static void roll_back(sqlite3 *db){
  /* An interrupt or OR ROLLBACK has ended the transaction. */
  if( !sqlite3_get_autocommit(db) ) run_plain(db, "ROLLBACK");
}

/* Changes, triggers, then every key of the table is in the filter they keep. */
static void check_changes(generator *g, connection *c){
  unsigned num;
  run_plain(c->db, "BEGIN");
  for(num=1+choose(g, 3); num && !sqlite3_get_autocommit(c->db); num--){
    generate(g, "change");
    run(g, c->db);
  }
  while( sqlite3_step(c->check)==SQLITE_ROW ) read_row(c->check);
  FUZZ_CHECK(sqlite3_reset(c->check)==SQLITE_OK);
  roll_back(c->db);
}

/* All that history_checks knows of the virtual tables that there are.  With rebuild each is built
** again first, whatever was done to it, and then its integrity-check has nothing to say. */
static void check_tables(generator *g, connection *c, int rebuild){
  char *statements[3][40];
  int num = 0, i;
  generate(g, "index_where");
  while( g->num_values<2 ) new_value(g);
  sqlite3_bind_text(c->check, 1, g->sql, -1, SQLITE_TRANSIENT);
  while( sqlite3_step(c->check)==SQLITE_ROW && num<40 ){
    if( sqlite3_column_type(c->check, 2)==SQLITE_NULL ) continue;
    for(i=0; i<3; i++) statements[i][num] = sqlite3_mprintf("%s", sqlite3_column_text(c->check, i));
    num++;
  }
  FUZZ_CHECK(sqlite3_reset(c->check)==SQLITE_OK);
  for(i=0; i<num; i++){
    /* Not of one that cannot be repaired. */
    if( !rebuild || run_sql(g, c->db, statements[0][i])==SQLITE_DONE ){
      if( rebuild ) FUZZ_CHECK(run_sql(g, c->db, statements[1][i])==SQLITE_DONE);
      run_sql(g, c->db, statements[2][i]);
    }
    sqlite3_free(statements[0][i]);
    sqlite3_free(statements[1][i]);
    sqlite3_free(statements[2][i]);
  }
}

/* A table, virtual tables over it, and what may happen to them. */
static void check_history(generator *g, connection *c){
  static const char *const first_steps[] = {"table", "write", "create", "write", "create"};
  const unsigned num_steps = 4 + choose(g, 10);
  unsigned i;
  run_plain(c->db, "BEGIN");
  for(i=0; i<num_steps && !sqlite3_get_autocommit(c->db); i++){
    generate(g, i<5 ? first_steps[i] : "step");
    run(g, c->db);
  }
  if( !sqlite3_get_autocommit(c->db) && !g->is_damaged ) check_tables(g, c, 0);
  if( !sqlite3_get_autocommit(c->db) && choose(g, 4)==3 ) check_tables(g, c, 1);
  roll_back(c->db);
}

/* Every rule that is named exists, and the grammar calls what the extension registered. */
static void check_grammar(sqlite3 *db){
  sqlite3_stmt *names = NULL;
  char *all = sqlite3_mprintf("%s", "");
  size_t i, j;
  int num = 0;
  for(i=0; i<NUM_RULES; i++){
    for(j=0; j<MAX_ALTERNATIVES && grammar[i].alternatives[j]; j++){
      const char *at = grammar[i].alternatives[j];
      char *longer = sqlite3_mprintf("%s\n%s", all, at);
      sqlite3_free(all);
      all = longer;
      while( (at = strchr(at, '{'))!=NULL ){
        at++;
        if( at[1]==':' ) at += 2;
        if( strchr("?*+-!~#", *at)==NULL && strncmp(at, "k}", 2)!=0 ) find_rule(at, strcspn(at, "}"));
      }
    }
  }
  FUZZ_CHECK(all && sqlite3_prepare_v2(db,
    "SELECT name, instr(?1, name || '(') FROM (SELECT name FROM pragma_function_list UNION SELECT name FROM pragma_module_list)"
    " WHERE name NOT IN (SELECT name FROM known) AND name NOT LIKE 'pragma%'", -1, &names, NULL)==SQLITE_OK);
  sqlite3_bind_text(names, 1, all, -1, sqlite3_free);
  while( sqlite3_step(names)==SQLITE_ROW ){
    num++;
    if( sqlite3_column_int(names, 1)==0 ){
      fprintf(stderr, "sql_grammar.h never calls %s()\n", sqlite3_column_text(names, 0));
      abort();
    }
  }
  FUZZ_CHECK(num>10);
  sqlite3_finalize(names);
}

/* Patterns are plain texts: what bloom makes of one holds of any regexp(). */
static void find_text(sqlite3_context *context, int num_args, sqlite3_value **args){
  const char *pattern = (const char*)sqlite3_value_text(args[0]);
  const char *text = (const char*)sqlite3_value_text(args[1]);
  (void)num_args;
  if( pattern && text ) sqlite3_result_int(context, strstr(text, pattern)!=NULL);
}

static connection open_connection(const char *encoding, const char *schema, const char *check){
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  connection c;
  sqlite3 *db = NULL;
  FUZZ_CHECK(sqlite3_open_v2(":memory:", &db, flags, NULL)==SQLITE_OK);
  /* Values in lookaside memory could be read past their end unseen. */
  FUZZ_CHECK(sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0)==SQLITE_OK);
  run_plain(db, encoding);
  FUZZ_CHECK(sqlite3_create_function(db, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                     NULL, find_text, NULL, NULL)==SQLITE_OK);
  run_plain(db, "CREATE TEMP TABLE known AS SELECT name FROM pragma_function_list UNION SELECT name FROM pragma_module_list");
  FUZZ_CHECK(sqlite3_bloom_init(db, NULL, NULL)==SQLITE_OK);
  check_grammar(db);
  run_plain(db, "DROP TABLE known");
  run_plain(db, schema);
  if( schema==set_up_history ){
    size_t i;
    for(i=0; i<NUM_HISTORY_CHECKS; i++){
      char *sql = sqlite3_mprintf("INSERT INTO checks VALUES (%Q, %Q)", history_checks[i][0], history_checks[i][1]);
      run_plain(db, sql);
      sqlite3_free(sql);
    }
  }
  c.db = db;
  FUZZ_CHECK(sqlite3_prepare_v2(db, check, -1, &c.check, NULL)==SQLITE_OK);
  return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_bytes){
  static connection connections[4];
  static generator g;
  static const int length_limits[] = {1<<16, 1<<16, 1<<20, 1<<12, 400, 60};
  uint8_t form;
  connection *c;
  if( connections[0].db==NULL ){
    /* What makes small statements slow: mutexes, counters, and 88 kB for
    ** the pages of every temporary table. */
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
    connections[0] = open_connection("PRAGMA encoding = 'UTF-8'", set_up, check_log);
    connections[1] = open_connection("PRAGMA encoding = 'UTF-16le'", set_up, check_log);
    connections[2] = open_connection("PRAGMA encoding = 'UTF-8'", set_up_history, list_of_checks);
    connections[3] = open_connection("PRAGMA encoding = 'UTF-16le'", set_up_history, list_of_checks);
  }
  g.input = (fuzz_input){data, num_bytes};
  g.may_be_slow = fuzz_seldom(data, num_bytes, 32768);
  g.is_damaged = 0;
  g.is_checking = 0;
  start(&g);
  form = fuzz_byte(&g.input);
  c = &connections[form % 16==10 ? 0 : form >> 7];
  sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, form % 16<10 ? length_limits[(form >> 4) % 8 % 6] : 1<<16);
  switch( form % 16 ){
    case 10:
      generate(&g, "keys_as_bytes");
      run(&g, c->db);
      break;
    case 11: case 12:
      check_changes(&g, c);
      break;
    case 13: case 14: case 15:
      check_history(&g, c + 2);
      break;
    default:
      generate(&g, "statement");
      run(&g, c->db);
  }
  return 0;
}
