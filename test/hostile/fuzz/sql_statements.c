/*
** Whole SQL statements over our functions, with values of all types, in all
** orders, roles and arities.  They may fail; they may not crash, leak, exceed
** their limits, or answer a wrong "no".
**
** The input's bytes are decisions of a small grammar.  Random SQL has no answer
** to compare with, so some forms are true whatever fills their gaps, such as
**
**   bloom_may_contain(<filter that ?1 was put into>, ?1) AS yes
**
** A column named yes may be NULL or fail, but never 0.  Where all keys are bound
** values, the filter is compared with the reference's, byte for byte.
*/
#include "fuzz.h"

#include "arena.h"

#include <inttypes.h>
#include <stdarg.h>

#include <sqlite3.h>

#include "../../../ext/bloom.h"

#define MAX_SQL_BYTES 6000
#define MAX_VALUES    40
#define MAX_DEPTH     3

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
  size_t num_chars;
  char sql[MAX_SQL_BYTES];
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
  "CREATE TABLE kept(f BLOB);"
  "INSERT INTO kept VALUES (bloom_empty(10));"
  "CREATE TABLE log(k, f AS (bloom_add(bloom_empty(1), k)), b AS (bloom_add(bloom_empty(1, 'parquet'), k)), part AS (bloom_partition(k, 7)) STORED,"
  " CHECK (bloom_may_contain(f, k) IS NOT 0));"
  "CREATE INDEX log_part ON log(bloom_partition(k, 16));"
  "CREATE TRIGGER log_insert AFTER INSERT ON log BEGIN UPDATE kept SET f = bloom_add(f, NEW.k); END;"
  "CREATE TRIGGER log_update AFTER UPDATE ON log BEGIN UPDATE kept SET f = bloom_add(f, NEW.k); END;"
  "CREATE VIRTUAL TABLE log_filter USING bloom(log, k);"
  "CREATE VIRTUAL TABLE log_low USING bloom(log, lower(k), where = \"part < 4 OR k > '5'\");"
  "CREATE VIRTUAL TABLE log_pair USING bloom(log, (k, part));"
  "CREATE VIRTUAL TABLE own_set USING bloom(capacity = 3);"
  "CREATE VIEW handles AS SELECT k, bloom_open(f) AS f FROM shapes;";

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

static const char *choose_text(generator *g, const char *const *texts, unsigned num_texts){
  return texts[choose(g, num_texts)];
}
#define CHOOSE_TEXT(g, ...) \
  choose_text(g, (const char *const[]){__VA_ARGS__}, \
              (unsigned)(sizeof((const char *const[]){__VA_ARGS__})/sizeof(char*)))

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

/* -- The grammar: any expression, of any value ------------------------------ */

static void expression(generator *g, int depth);

static void value(generator *g){
  const unsigned kind = choose(g, 4);
  if( kind==0 || (kind==1 && !g->has_columns) ){
    put(g, "?%d", new_value(g));
  }else if( kind==1 ){
    put(g, "%s", CHOOSE_TEXT(g, "k", "f"));
  }else if( kind==2 ){
    /* Literals are hoisted out of loops, parameters are not always. */
    put(g, "%s", CHOOSE_TEXT(g, "1", "NULL", "'1'", "x'31'", "1.0", "10", "0.5", "'a'", "x'00'", "x'0006'",
                             "x'114000414410401006'", "9e999", "-1", "zeroblob(200)", "''", "x''", "'parquet'", "bloom_empty(2, 'parquet')"));
  }else{
    put(g, "%d", (int)(int8_t)fuzz_byte(&g->input));
  }
}

/* Rows of any k and f. */
static void source(generator *g, int depth){
  const int had_columns = g->has_columns;
  unsigned num_rows;
  switch( choose(g, 8) ){
    case 0:  put(g, "mixed"); return;
    case 1:  put(g, "shapes"); return;
    case 2:  put(g, "numbers"); return;
    case 3:  put(g, "none"); return;
    case 4:  put(g, "handles"); return;
    case 5:  put(g, g->may_be_slow ? "many" : "mixed"); return;
    default: break;
  }
  g->has_columns = 0;
  put(g, "(SELECT NULL AS k, NULL AS f");
  for(num_rows=choose(g, 4); num_rows; num_rows--){
    put(g, " UNION ALL SELECT ");
    expression(g, depth-1);
    put(g, ", ");
    expression(g, depth-1);
  }
  put(g, ")");
  g->has_columns = had_columns;
}

/* Comma-separated, each behind a comma. */
static void more_arguments(generator *g, int depth, unsigned num){
  for(; num; num--){
    put(g, ", ");
    expression(g, depth-1);
  }
}

/* An expression that often is a filter. */
static void filter(generator *g, int depth){
  switch( choose(g, 7) ){
    case 0:
    case 1:  put(g, "%s", g->has_columns ? "f" : "x'114000414410401006'"); break;
    case 2:  put(g, "bloom_open("); filter(g, depth-1); put(g, ")"); break;
    case 3:  put(g, "bloom_empty("); value(g); put(g, "%s)", CHOOSE_TEXT(g, "", "", ", 'parquet'")); break;
    case 4: /* A copy of a handle, which may outlive it. */
      put(g, "%s(bloom_open(", CHOOSE_TEXT(g, "nullif", "nullif", "coalesce", "min"));
      filter(g, depth-1);
      put(g, ")");
      more_arguments(g, depth, 1);
      put(g, ")");
      break;
    default: expression(g, depth-1);
  }
}

static void bits_per_key_call(generator *g, int depth){
  put(g, "bloom_bits_per_key(");
  if( !g->may_be_slow ) depth = 0;
  expression(g, depth-1);
  /* The model that keys need takes milliseconds. */
  put(g, ", %s", g->may_be_slow ? "" : CHOOSE_TEXT(g, "0", "NULL", "-1", "'x'", "0.5"));
  if( g->may_be_slow ) expression(g, depth-1);
  put(g, "%s)", CHOOSE_TEXT(g, "", "", ", 'parquet'"));
}

static void frame(generator *g){
  put(g, "%s BETWEEN ", CHOOSE_TEXT(g, "ROWS", "RANGE", "GROUPS"));
  put(g, "%s", CHOOSE_TEXT(g, "UNBOUNDED PRECEDING", "2 PRECEDING", "CURRENT ROW", "0 PRECEDING", "1.5 PRECEDING"));
  put(g, " AND %s", CHOOSE_TEXT(g, "CURRENT ROW", "1 FOLLOWING", "UNBOUNDED FOLLOWING", "3 FOLLOWING", "0 FOLLOWING"));
}

static void any_frame(generator *g){
  put(g, "%s BETWEEN ", CHOOSE_TEXT(g, "ROWS", "RANGE", "GROUPS"));
  put(g, "%s", CHOOSE_TEXT(g, "3 PRECEDING", "1 FOLLOWING", "UNBOUNDED PRECEDING", "CURRENT ROW"));
  put(g, " AND %s", CHOOSE_TEXT(g, "2 FOLLOWING", "1 PRECEDING", "CURRENT ROW", "UNBOUNDED FOLLOWING"));
  put(g, "%s", CHOOSE_TEXT(g, "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"));
}

/* Arguments 2 and more of bloom_build, good ones most of the time. */
static void size_arguments(generator *g, int depth){
  switch( choose(g, 8) ){
    case 0: break;
    case 5: put(g, ", 'parquet'"); break;
    case 6: put(g, ", %u, 'parquet'", 1 + choose(g, 100)); break;
    case 7: put(g, ", %u, %u, 'parquet'", 1 + choose(g, 100), choose(g, 200)); break;
    case 1: put(g, ", %u", 1 + choose(g, 100)); break;
    case 2: put(g, ", %u.%u, %u", 1 + choose(g, 40), choose(g, 10), choose(g, 200)); break;
    case 3: put(g, ", NULL, "); value(g); break;
    case 4: more_arguments(g, depth, 1 + choose(g, 2)); break;
  }
}

/* Over rows whose columns are k and f. */
static void aggregate(generator *g, int depth){
  switch( choose(g, 6) ){
    case 0:
    case 1:
      put(g, "bloom_build(%s", CHOOSE_TEXT(g, "", "", "DISTINCT "));
      expression(g, depth-1);
      size_arguments(g, depth);
      put(g, ")");
      break;
    case 2:
    case 3:
      put(g, "bloom_merge(%s", CHOOSE_TEXT(g, "", "", "DISTINCT "));
      filter(g, depth-1);
      put(g, ")");
      break;
    case 4:
      put(g, "%s(", CHOOSE_TEXT(g, "count", "max", "min", "group_concat"));
      expression(g, depth-1);
      put(g, ")");
      break;
    case 5:
      put(g, "bloom_build(k) FILTER (WHERE ");
      value(g);
      put(g, ")");
      break;
  }
}

static void aggregate_select(generator *g, int depth){
  const int had_columns = g->has_columns;
  g->has_columns = 1;
  put(g, "SELECT ");
  aggregate(g, depth);
  put(g, " FROM ");
  source(g, depth);
  if( choose(g, 5)==4 ){
    put(g, " WHERE ");
    expression(g, depth-1);
  }
  g->has_columns = had_columns;
}

static void any_call(generator *g, int depth){
  unsigned num_args = choose(g, 4);
  put(g, "%s(", CHOOSE_TEXT(g, "bloom_may_contain", "bloom_open", "bloom_add", "bloom_empty", "bloom_partition",
                            "bloom_version", "bloom_build", "bloom_merge", "bloom_info", "bloom_build_sets"));
  if( num_args ){
    expression(g, depth-1);
    more_arguments(g, depth, num_args-1);
  }
  put(g, ")");
}

static void expression(generator *g, int depth){
  /* Zeros, which follow the input's end, choose a value. */
  const unsigned kind = depth>0 ? choose(g, 24) : 0;
  unsigned num;
  switch( kind ){
    case 6: case 7:
      put(g, "bloom_may_contain(");
      filter(g, depth-1);
      more_arguments(g, depth, 1);
      put(g, ")");
      break;
    case 8:
      put(g, "bloom_open(");
      filter(g, depth-1);
      put(g, ")");
      break;
    case 9: case 10:
      put(g, "bloom_add(");
      filter(g, depth-1);
      num = choose(g, 8);
      more_arguments(g, depth, num%4);
      /* More than go to the bits at once, at times more than SQLite allows. */
      if( num==7 && g->num_values ){
        for(num=choose(g, 140); num; num--) put(g, ",?1");
      }
      put(g, ")");
      break;
    case 11:
      put(g, "bloom_empty(");
      value(g);
      if( choose(g, 2) ) more_arguments(g, depth, 1);
      put(g, "%s)", CHOOSE_TEXT(g, "", "", ", 'parquet'"));
      break;
    case 12:
      put(g, "bloom_partition(");
      expression(g, depth-1);
      more_arguments(g, 1, 1);
      put(g, ")");
      break;
    case 13:
      bits_per_key_call(g, depth);
      break;
    case 14: case 15:
      put(g, "(");
      aggregate_select(g, depth-1);
      put(g, ")");
      break;
    case 16:
      put(g, "(SELECT %s FROM bloom_info(", CHOOSE_TEXT(g, "argument", "note", "bits_set", "estimated_keys",
          "encoding", "num_bytes", "fill_ratio", "bits_per_key", "expected_fpr", "num_probes", "num_bits"));
      filter(g, depth-1);
      put(g, "))");
      break;
    case 17:
      put(g, "%s(", CHOOSE_TEXT(g, "typeof", "hex", "length", "abs", "quote", "lower"));
      expression(g, depth-1);
      put(g, ")");
      break;
    case 18:
      put(g, "CAST(");
      expression(g, depth-1);
      put(g, " AS %s)", CHOOSE_TEXT(g, "TEXT", "BLOB", "INTEGER", "REAL", "NUMERIC"));
      break;
    case 19:
      put(g, "(");
      expression(g, depth-1);
      put(g, " %s ", CHOOSE_TEXT(g, "=", "||", "+", "<", "IS", "AND", "*"));
      expression(g, depth-1);
      put(g, ")");
      break;
    case 20:
      put(g, "CASE WHEN ");
      expression(g, depth-1);
      put(g, " THEN ");
      expression(g, depth-1);
      put(g, " ELSE ");
      expression(g, depth-1);
      put(g, " END");
      break;
    case 21: /* iif() takes three: a wrong arity now and then */
      put(g, "%s(", CHOOSE_TEXT(g, "coalesce", "nullif", "max", "substr", "iif"));
      expression(g, depth-1);
      more_arguments(g, depth, 1);
      put(g, ")");
      break;
    case 22:
      any_call(g, depth);
      break;
    case 23:
      put(g, "bloom_version()");
      break;
    default:
      value(g);
  }
}

/* -- Forms that are true whatever fills them -------------------------------- */

/* Around a handle: what SQLite hands on or copies, so that it may be the same filter or NULL. */
static const struct { const char *before, *after; } copies[] = {
  {"", ""},
  {"nullif(", ", 7)"},
  {"nullif(", ", (SELECT f FROM kept))"},
  {"nullif(", ", bloom_may_contain(bloom_open(x'114000414410401006'), 1))"},
  {"coalesce(NULL, ", ")"},
  {"iif(1, ", ", bloom_open(x'000006'))"},
  {"CASE WHEN bloom_may_contain(bloom_open(x'000006'), 1) THEN bloom_open(x'000006') ELSE ", " END"},
  {"max(", ", bloom_open(x'000006'))"},
  {"(SELECT max(h) FROM (SELECT ", " AS h))"},
  {"(SELECT first_value(h) OVER () FROM (SELECT ", " AS h UNION ALL SELECT NULL))"},
  {"(SELECT lag(h, 0) OVER (ORDER BY i) FROM (SELECT ", " AS h, 1 AS i UNION ALL SELECT NULL, 2))"},
  {"(SELECT nth_value(h, 1) OVER () FROM (SELECT ", " AS h))"},
  {"(SELECT nullif(", ", 7))"},
};
#define NUM_COPIES (sizeof(copies)/sizeof(copies[0]))

/*
** A filter that parameter number key, if it is not NULL, was put into.
** for_merge: never NULL, for bloom_merge() skips NULLs and then rightly knows
** nothing of the key.  So no handle, which compound and sorted subqueries turn
** into NULL (ext/FUNCTIONS.md, bloom_open), nor what is NULL for a filter that is.
*/
static void filter_with(generator *g, int key, int depth, int for_merge){
  static const unsigned char not_null[] = {0, 1, 3, 6, 7};
  const char *encoding;
  unsigned form = depth>0 ? choose(g, 8) : 0;
  if( for_merge ) form = not_null[form % sizeof(not_null)];
  switch( form ){
    default:
      if( choose(g, 2) ){
        put(g, "(SELECT bloom_build(DISTINCT v");
      }else{
        put(g, "(SELECT bloom_build(v");
        size_arguments(g, 0);
      }
      put(g, ") FROM (SELECT ?%d AS v UNION ALL SELECT ", key);
      expression(g, depth-1);
      put(g, "%s", CHOOSE_TEXT(g, "))", " UNION ALL SELECT 'other'))", " ORDER BY 1))", " LIMIT 9))"));
      break;
    case 1:
      put(g, "bloom_add(");
      filter_with(g, key, depth-1, for_merge);
      more_arguments(g, depth, choose(g, 3));
      put(g, ")");
      break;
    case 2:
      put(g, "bloom_add(");
      filter(g, depth-1);
      more_arguments(g, depth, choose(g, 2));
      put(g, ", ?%d", key);
      more_arguments(g, depth, choose(g, 2));
      put(g, ")");
      break;
    case 3:
      put(g, "(SELECT bloom_merge(v) FROM (SELECT ");
      filter_with(g, key, depth-1, 1);
      put(g, " AS v UNION ALL SELECT ");
      filter(g, depth-1);
      put(g, "))");
      break;
    case 4:
      form = choose(g, NUM_COPIES);
      put(g, "%sbloom_open(", copies[form].before);
      filter_with(g, key, depth-1, 0);
      put(g, ")%s", copies[form].after);
      break;
    case 5:
      put(g, "(SELECT argument FROM bloom_info(");
      filter_with(g, key, depth-1, 0);
      put(g, "))");
      break;
    case 6:
      put(g, "bloom_add(bloom_empty(%u, %u%s), ?%d)", choose(g, 100), 1 + choose(g, 100),
          CHOOSE_TEXT(g, "", ", 'parquet'"), key);
      break;
    case 7:
      encoding = CHOOSE_TEXT(g, "", ", 'parquet'");
      put(g, "(SELECT bloom_merge(v) FROM (SELECT bloom_add(bloom_empty(9%s), ?%d) AS v UNION ALL SELECT ", encoding, key);
      put(g, "bloom_add(bloom_empty(9%s)", encoding);
      more_arguments(g, depth, choose(g, 4));
      put(g, ")))");
      break;
  }
}

static void yes_of_a_value(generator *g){
  const int key = new_value(g);
  put(g, "SELECT bloom_may_contain(");
  filter_with(g, key, MAX_DEPTH - 1, 0);
  if( choose(g, 2) ){
    /* The same key, once other filters were opened; f is of a table, or all would be
    ** computed beforehand. */
    g->has_columns = 1;
    put(g, ", CASE WHEN bloom_may_contain((SELECT bloom_open(f)), bloom_may_contain(bloom_open(f), ");
    expression(g, 1);
    put(g, ")) THEN ?%d ELSE ?%d END) AS yes FROM (SELECT f AS k, f FROM kept)", key, key);
  }else{
    put(g, ", ?%d) AS yes", key);
  }
}

/* The same rows twice: as keys to add and as keys to test. */
static void yes_of_rows(generator *g){
  size_t start, num_chars;
  put(g, "WITH t AS (SELECT k, f FROM ");
  source(g, 2);
  put(g, ") SELECT bloom_may_contain((SELECT %s(bloom_build(k", CHOOSE_TEXT(g, "", "bloom_open"));
  size_arguments(g, 0);
  put(g, ")) FROM t");
  start = g->num_chars;
  switch( choose(g, 4) ){
    case 0: break;
    case 1: put(g, " WHERE typeof(k) %s 'text'", CHOOSE_TEXT(g, "=", "<>", "<")); break;
    case 2: put(g, " WHERE k >= "); put(g, "?%d", new_value(g)); break;
    case 3: put(g, " WHERE bloom_partition(k, 3) = %u", choose(g, 3)); break;
  }
  num_chars = g->num_chars - start;
  put(g, "), k) AS yes FROM t");
  put(g, "%.*s", (int)num_chars, g->sql + start);
}

/* The smallest, the largest and any key of a group were put into its filter. */
static void yes_of_groups(generator *g){
  const char *key = CHOOSE_TEXT(g, "min(k)", "max(k)", "k");
  const char *distinct = CHOOSE_TEXT(g, "", "DISTINCT ");
  put(g, "SELECT bloom_may_contain(bloom_build(%sk", distinct);
  if( distinct[0]==0 ) size_arguments(g, 0);
  put(g, "), %s) AS yes, ", key);
  g->has_columns = 1;
  aggregate(g, 2);
  put(g, " FROM ");
  source(g, 2);
  put(g, " GROUP BY ");
  expression(g, 2);
  if( choose(g, 3)==2 ){
    put(g, " HAVING ");
    expression(g, 1);
  }
  if( choose(g, 3)==2 ){
    put(g, " ORDER BY ");
    expression(g, 1);
  }
}

/* Every frame here has its own row in it. */
static void yes_of_windows(generator *g){
  put(g, "SELECT bloom_may_contain(bloom_build(k");
  size_arguments(g, 0);
  put(g, ") OVER w, k) AS yes, ");
  g->has_columns = 1;
  aggregate(g, 1);
  put(g, " OVER (ORDER BY k ");
  any_frame(g);
  put(g, ") FROM ");
  source(g, 2);
  put(g, " WINDOW w AS (");
  if( choose(g, 2) ){
    put(g, "PARTITION BY ");
    expression(g, 1);
  }
  put(g, " ORDER BY %s ", CHOOSE_TEXT(g, "k", "f", "typeof(k)", "k DESC", "bloom_partition(k, 3)"));
  frame(g);
  put(g, ")");
}

/* A key's own set is among those that may hold it. */
static void yes_of_sets(generator *g){
  const unsigned set_number = choose(g, 200);
  const int key = new_value(g), other_set = new_value(g), other_key = new_value(g), third_key = new_value(g);
  put(g, "SELECT (?%d IS NULL OR (SELECT count(*) FROM bloom_sets((SELECT %s(bloom_build_sets(n, v", key,
      CHOOSE_TEXT(g, "bloom_open", "", "bloom_open"));
  size_arguments(g, 0);
  put(g, ")) FROM (SELECT %u AS n, ?%d AS v UNION ALL SELECT ?%d, ?%d UNION ALL SELECT 70, ?%d)), ?%d)"
      " WHERE set_number = %u) = 1) AS yes", set_number, key, other_set, other_key, third_key, key, set_number);
}

/* Lateral: a row for each filter. */
static void yes_of_info(generator *g){
  put(g, "SELECT i.num_bytes = length(s.f) AS yes, ");
  put(g, "%s", g->may_be_slow ? "i.*" : CHOOSE_TEXT(g, "i.note", "i.bits_set", "i.argument", "i.estimated_keys",
      "i.bits_per_key", "i.fill_ratio", "bloom_may_contain(i.argument, s.k)", "i.expected_fpr", "i.rowid"));
  g->has_columns = 0;
  put(g, " FROM ");
  source(g, 2);
  put(g, " AS s %s bloom_info(s.f) AS i", CHOOSE_TEXT(g, ",", "LEFT JOIN", "CROSS JOIN"));
  if( choose(g, 3)==2 ){
    g->has_columns = 1;
    put(g, " WHERE ");
    expression(g, 2);
  }
  if( choose(g, 3)==2 ) put(g, " ORDER BY %s", CHOOSE_TEXT(g, "i.num_bits", "i.argument", "s.f", "i.note DESC"));
}

static void any_select(generator *g){
  put(g, "SELECT %s", CHOOSE_TEXT(g, "", "", "DISTINCT "));
  g->has_columns = 1;
  expression(g, MAX_DEPTH);
  put(g, ", ");
  if( choose(g, 3)==2 ){
    aggregate(g, 2);
    put(g, " OVER (");
    if( choose(g, 2) ){
      put(g, "PARTITION BY ");
      expression(g, 2);
    }
    put(g, " ORDER BY ");
    expression(g, 2);
    put(g, " ");
    any_frame(g);
    put(g, ")");
  }else{
    expression(g, 2);
  }
  put(g, " FROM ");
  source(g, 2);
  if( choose(g, 3)==2 ){
    put(g, " WHERE ");
    expression(g, 2);
  }
  if( choose(g, 3)==2 ){
    put(g, " ORDER BY ");
    expression(g, 2);
  }
  if( choose(g, 4)==3 ){
    put(g, " LIMIT ");
    value(g);
  }
}

/* What a table's own filter is told. */
static void any_command(generator *g){
  const char *name = CHOOSE_TEXT(g, "log_filter", "log_low", "own_set", "log_pair");
  switch( choose(g, 5) ){
    case 0:
      put(g, "INSERT INTO %s(%s) VALUES ('%s')", name, name, CHOOSE_TEXT(g, "rebuild", "integrity-check", "none"));
      break;
    case 1:
      put(g, "INSERT INTO %s(%s) VALUES (", name, CHOOSE_TEXT(g, "key", "removed", "handle", "num_keys"));
      expression(g, 2);
      put(g, ")");
      break;
    case 2:
      put(g, "INSERT INTO own_set(key) SELECT k FROM ");
      source(g, 2);
      break;
    case 3:
      put(g, "SELECT * FROM %s WHERE key %s ", name, CHOOSE_TEXT(g, "=", "IN (1, 2) OR key =", "= bloom_tuple(1.5, 2) AND key >", "IS"));
      expression(g, 2);
      break;
    case 4:
      put(g, "SELECT f.*, bloom_may_contain(handle, 1), i.* FROM %s f, bloom_info(f.%s) i", name,
          CHOOSE_TEXT(g, "filter", "handle", "key"));
      break;
  }
}

static void any_change(generator *g){
  switch( choose(g, 6) ){
    case 4: case 5:
      any_command(g);
      break;
    case 0:
      put(g, "INSERT INTO log(k) VALUES (");
      expression(g, 3);
      put(g, ")");
      break;
    case 1:
      put(g, "INSERT INTO log(k) SELECT k FROM ");
      source(g, 2);
      break;
    case 2:
      g->has_columns = 1;
      put(g, "UPDATE log SET k = ");
      expression(g, 3);
      break;
    case 3:
      g->has_columns = 1;
      put(g, "DELETE FROM log WHERE ");
      expression(g, 3);
      break;
  }
}

/* -- Running ---------------------------------------------------------------- */

static void start(generator *g){
  g->num_chars = 0;
  g->num_values = 0;
  g->has_columns = 0;
  g->sql[0] = 0;
}

/* Stands in for sqlite3_interrupt(): long statements end early. */
static int count_down(void *num_left){
  return --*(int*)num_left<0;
}

/* Reads every value as what it is. */
static void read_row(const generator *g, sqlite3_stmt *statement){
  static volatile uint8_t sum;
  const int num_columns = sqlite3_column_count(statement);
  int i;
  for(i=0; i<num_columns; i++){
    const int type = sqlite3_column_type(statement, i);
    const uint8_t *bytes = NULL;
    if( type==SQLITE_INTEGER && strcmp(sqlite3_column_name(statement, i), "yes")==0
     && sqlite3_column_int64(statement, i)==0 ){
      fprintf(stderr, "a wrong no: %s\n", g->sql);
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

/* With FUZZ_SHOW_SQL in the environment a replay prints what it runs. */
static void show(const generator *g, sqlite3 *db, int rc){
  if( getenv("FUZZ_SHOW_SQL") ) printf("%s  -- %d %s\n", g->sql, rc, sqlite3_errmsg(db));
}

/* Runs what was generated; returns what the last step gave. */
static void run(generator *g, sqlite3 *db){
  sqlite3_stmt *statement = NULL;
  int num_steps = g->may_be_slow ? 4000 : 40; /* of 1000 instructions */
  int rc = sqlite3_prepare_v2(db, g->sql, (int)g->num_chars, &statement, NULL);
  if( fuzz_is_replay ) show(g, db, rc);
  if( rc==SQLITE_OK && statement ){
    bind_values(g, statement);
    sqlite3_progress_handler(db, 1000, count_down, &num_steps);
    while( (rc = sqlite3_step(statement))==SQLITE_ROW ) read_row(g, statement);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    if( fuzz_is_replay ) show(g, db, rc);
  }
  sqlite3_finalize(statement);
  FUZZ_CHECK(rc==SQLITE_OK || rc==SQLITE_DONE || rc==SQLITE_ERROR || rc==SQLITE_TOOBIG || rc==SQLITE_CONSTRAINT
          || rc==SQLITE_INTERRUPT || rc==SQLITE_MISMATCH);
}

static size_t reference_integer(int64_t integer, int is_parquet, uint8_t *buffer){
  int i;
  if( !is_parquet ) return (size_t)snprintf((char*)buffer, 24, "%" PRId64, integer);
  for(i=0; i<8; i++) buffer[i] = (uint8_t)((uint64_t)integer >> 8*i);
  return 8;
}

/* Key bytes as ext/FUNCTIONS.md defines them; 0 for NULL.  Room for 24 bytes. */
static int reference_key(const bound_value *value, int is_parquet, uint8_t *buffer, const uint8_t **bytes,
                         size_t *num_bytes){
  double real = value->real;
  uint64_t bits;
  int i;
  *bytes = buffer;
  switch( value->type ){
    case SQLITE_INTEGER:
      *num_bytes = reference_integer(value->integer, is_parquet, buffer);
      return 1;
    case SQLITE_FLOAT:
      if( real!=real ) return 0;
      if( real>=-0x1p63 && real<0x1p63 && (double)(int64_t)real==real ){
        *num_bytes = reference_integer((int64_t)real, is_parquet, buffer);
        return 1;
      }
      memcpy(&bits, &real, sizeof(bits));
      for(i=0; i<8; i++) buffer[i] = (uint8_t)(bits >> 8*i);
      *num_bytes = 8;
      return 1;
    case SQLITE_TEXT:
    case SQLITE_BLOB:
      *bytes = value->bytes;
      *num_bytes = value->num_bytes;
      return 1;
    default:
      return 0;
  }
}

/* The reference's filter of these hashes, which the caller frees. */
static uint8_t *reference_filter(int is_parquet, uint64_t num_keys, uint32_t sixteenths, const uint64_t *hashes,
                                 size_t num_hashes, size_t *num_bytes){
  uint8_t *filter;
  size_t i;
  if( is_parquet ){
    uint8_t header[REFERENCE_HEADER_BYTES];
    const uint64_t num_blocks = reference_num_blocks(num_keys, sixteenths);
    const size_t num_header_bytes = reference_header(num_blocks, header);
    *num_bytes = num_header_bytes + (size_t)num_blocks*32;
    filter = fuzz_exact(NULL, *num_bytes);
    memcpy(filter, header, num_header_bytes);
    for(i=0; i<num_hashes; i++) reference_add_to_block(filter + num_header_bytes, num_blocks, hashes[i]);
  }else{
    *num_bytes = reference_num_bytes(num_keys, sixteenths);
    filter = fuzz_exact(NULL, *num_bytes);
    filter[*num_bytes-1] = (uint8_t)reference_num_probes(sixteenths);
    for(i=0; i<num_hashes; i++) reference_add(filter, *num_bytes, (uint32_t)hashes[i]);
  }
  return filter;
}

/* Binds up to 12 keys and compares with the reference. */
static void check_exact_filter(generator *g, sqlite3 *db){
  const uint32_t sixteenths = 16 + fuzz_u16(&g->input) % (1600-16+1);
  const unsigned capacity = choose(g, 60);
  const unsigned num_keys = 1 + choose(g, 12);
  const int is_growing = capacity%2; /* bloom_add instead of bloom_build */
  const int is_parquet = (int)choose(g, 2);
  const char *encoding = is_parquet ? ", 'parquet'" : "";
  uint64_t hashes[12];
  size_t num_hashes = 0, num_bytes, i;
  sqlite3_stmt *statement = NULL;
  uint8_t *expected;
  const uint8_t *given;
  if( is_growing ){
    put(g, "SELECT bloom_add(bloom_empty(%u, %u/16.0%s)", capacity, sixteenths, encoding);
  }else{
    put(g, "SELECT bloom_build(k, %u/16.0", sixteenths);
    if( capacity<30 ) put(g, ", %u", capacity);
    put(g, "%s) FROM (", encoding);
  }
  for(i=0; i<num_keys; i++){
    bound_value *value;
    const int number = new_value(g);
    uint8_t buffer[24];
    const uint8_t *bytes;
    size_t num_key_bytes;
    value = &g->values[number-1];
    if( value->type==0 ) value->type = SQLITE_NULL;
    put(g, "%s ?%d%s", is_growing ? "," : i ? " UNION ALL SELECT" : "SELECT", number, is_growing || i ? "" : " AS k");
    if( reference_key(value, is_parquet, buffer, &bytes, &num_key_bytes) ){
      hashes[num_hashes++] = is_parquet ? reference_xxh64(bytes, num_key_bytes) : reference_hash(bytes, num_key_bytes);
    }
  }
  put(g, ")");
  /* Without keys a filter is of the size that its rows asked for all the same. */
  expected = reference_filter(is_parquet, is_growing || capacity<30 ? capacity : num_hashes, sixteenths,
                              hashes, num_hashes, &num_bytes);
  FUZZ_CHECK(sqlite3_prepare_v2(db, g->sql, -1, &statement, NULL)==SQLITE_OK);
  bind_values(g, statement);
  FUZZ_CHECK(sqlite3_step(statement)==SQLITE_ROW);
  given = sqlite3_column_blob(statement, 0);
  if( (size_t)sqlite3_column_bytes(statement, 0)!=num_bytes || memcmp(given, expected, num_bytes)!=0 ){
    fprintf(stderr, "not the reference's filter: %s\n", g->sql);
    abort();
  }
  FUZZ_CHECK(sqlite3_step(statement)==SQLITE_DONE);
  sqlite3_finalize(statement);
  free(expected);
}

/* A connection and what is run on it again and again. */
typedef struct connection {
  sqlite3 *db;
  sqlite3_stmt *begin, *check, *rollback;
} connection;

static const char check_sql[] =
  "SELECT bloom_may_contain((SELECT f FROM kept), k) AS yes, bloom_may_contain(f, k) AS yes,"
  " bloom_may_contain(b, k) AS yes,"
  " part = bloom_partition(k, 7) AS yes, CASE WHEN k IS NOT NULL THEN (SELECT count(*) FROM log_filter(k)) END AS yes,"
  " CASE WHEN k IS NOT NULL THEN (SELECT count(*) FROM log_pair WHERE key = bloom_tuple(k, part)) END AS yes,"
  " bloom_may_contain((SELECT handle FROM log_pair), bloom_tuple(k, part)) AS yes,"
  " bloom_may_contain((SELECT handle FROM log_filter), k) AS yes, CASE WHEN (part < 4 OR k > '5') AND k IS NOT NULL"
  " THEN (SELECT count(*) FROM log_low(lower(k))) END AS yes FROM log";

static void run_again(sqlite3_stmt *statement, const generator *g){
  while( sqlite3_step(statement)==SQLITE_ROW ) read_row(g, statement);
  FUZZ_CHECK(sqlite3_reset(statement)==SQLITE_OK);
}

static void run_plain(sqlite3 *db, const char *sql){
  if( sqlite3_exec(db, sql, NULL, NULL, NULL)==SQLITE_OK ) return;
  fprintf(stderr, "%s: %s\n", sqlite3_errmsg(db), sql);
  abort();
}

/* Changes, triggers, then every key of the table is in the filter they keep. */
static void check_changes(generator *g, connection *c){
  sqlite3 *db = c->db;
  unsigned num;
  run_again(c->begin, g);
  for(num=1+choose(g, 3); num; num--){
    start(g);
    any_change(g);
    run(g, db);
  }
  run_again(c->check, g);
  /* No error of these ends a transaction by itself. */
  run_again(c->rollback, g);
}

static connection open_connection(const char *encoding){
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  connection c;
  sqlite3 *db = NULL;
  FUZZ_CHECK(sqlite3_open_v2(":memory:", &db, flags, NULL)==SQLITE_OK);
  /* Values in lookaside memory could be read past their end unseen. */
  FUZZ_CHECK(sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0)==SQLITE_OK);
  FUZZ_CHECK(sqlite3_bloom_init(db, NULL, NULL)==SQLITE_OK);
  run_plain(db, encoding);
  run_plain(db, set_up);
  c.db = db;
  FUZZ_CHECK(sqlite3_prepare_v2(db, "BEGIN", -1, &c.begin, NULL)==SQLITE_OK);
  FUZZ_CHECK(sqlite3_prepare_v2(db, "ROLLBACK", -1, &c.rollback, NULL)==SQLITE_OK);
  FUZZ_CHECK(sqlite3_prepare_v2(db, check_sql, -1, &c.check, NULL)==SQLITE_OK);
  return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t num_bytes){
  static connection utf8, utf16;
  static generator g;
  static long num_allocations;
  static const int length_limits[] = {1<<16, 1<<16, 1<<20, 1<<12, 400, 60};
  uint8_t form;
  connection *c;
  if( utf8.db==NULL ){
    /* A replay may be slow and so has malloc() itself, which sees most. */
    if( !fuzz_is_replay ) arena_install();
    /* What else makes small statements slow: mutexes, counters, and 88 kB for
    ** the pages of every temporary table. */
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
    utf8 = open_connection("PRAGMA encoding = 'UTF-8'");
    utf16 = open_connection("PRAGMA encoding = 'UTF-16le'");
    num_allocations = arena_num_allocations();
  }
  g.input = (fuzz_input){data, num_bytes};
  g.may_be_slow = fuzz_seldom(data, num_bytes, 32768);
  start(&g);
  form = fuzz_byte(&g.input);
  c = form & 0x80 ? &utf16 : &utf8;
  sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, length_limits[(form >> 4) % 8 % 6]);
  switch( form % 16 ){
    case 0: case 1: any_select(&g); break;
    case 2: case 3: yes_of_a_value(&g); break;
    case 4: case 5: yes_of_rows(&g); break;
    case 6: case 7: yes_of_groups(&g); break;
    case 8: case 9: yes_of_windows(&g); break;
    case 10: yes_of_info(&g); break;
    case 11: yes_of_sets(&g); break;
    case 12: aggregate_select(&g, MAX_DEPTH); break;
    case 13: case 14:
      sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, 1<<16);
      check_changes(&g, c);
      return 0;
    default:
      sqlite3_limit(utf8.db, SQLITE_LIMIT_LENGTH, 1<<16);
      check_exact_filter(&g, utf8.db);
      return 0;
  }
  run(&g, c->db);
  /* SQLite's caches grow to a limit. */
  FUZZ_CHECK(arena_num_allocations() < num_allocations + 5000);
  return 0;
}
