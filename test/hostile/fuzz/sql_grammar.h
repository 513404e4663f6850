/*
** The grammar of sql_statements.c: rules, and for each its alternatives, of which the input's
** next byte chooses one.  In an alternative
**
**   {rule}     is expanded;  {1:rule} once, and {1:rule} again is the same text
**   {?}        a new value, bound;  {*} one that no text names yet.  The first one is ?1
**   {k}        one of the columns k and f where there are any, else a new value
**   {+} {-}    from here to the alternative's end, there are such columns; there are none
**   {#100}     a number below 100;  {~} one in -128..127
**   {!}        somebody wrote to bloom's own tables
**
** One that begins with ! takes long and is chosen seldom.  Rules with a capital letter contain
** each other.  They take their first alternative where they are deep or the input is at its end,
** so that must end.
**
** Columns named yes may be NULL or fail, but never be 0.
*/
#define MAX_ALTERNATIVES 48

typedef struct rule {
  const char *name;
  const char *alternatives[MAX_ALTERNATIVES];
} rule;

#define HELLO "x'114000414410401006'"
#define SECRET "x'000102030405060708090a0b0c0d0e0f'"
#define TEN_KEYS ",?1,?1,?1,?1,?1,?1,?1,?1,?1,?1"
/* The bytes of a key k (ext/FUNCTIONS.md), by other functions; whole numbers' are the encoding's. */
#define IS_WHOLE "(typeof(k) = 'integer' OR typeof(k) = 'real' AND k >= -9223372036854775808.0 AND k < 9223372036854775808.0" \
  " AND CAST(k AS INTEGER) = k)"
#define KEY_BYTES(whole) "CASE WHEN " IS_WHOLE " THEN " whole " WHEN typeof(k) = 'real' THEN bloom_key(k, 'double') ELSE CAST(k AS BLOB) END"
#define DECIMAL "CAST(CAST(CAST(k AS INTEGER) AS TEXT) AS BLOB)"
#define INT64 "bloom_key(CAST(k AS INTEGER), 'int64')"
#define FILTER_BLOCK "x'114008416510C010060000000009000000090000000B'"

static const rule grammar[] = {
  /* -- Values: literals are hoisted out of loops, parameters are not always. */
  {"literal", {"1", "NULL", "'1'", "x'31'", "1.0", "10", "0.5", "'a'", "x'00'", "x'0006'", HELLO, "9e999", "-1", "zeroblob(200)",
    "''", "x''", "'parquet'", "bloom_empty(2, 'parquet')", "'01'", "' 1'", "'1.0'", "'ADA'", "'ada '", "'0.5'", "9007199254740993",
    "9007199254740992.0", "9223372036854775807", "-0.0"}},
  {"value", {"{?}", "{k}", "{literal}", "{~}"}},
  {"key_type", {"'int32'", "'int64'", "'float'", "'double'", "'uuid'", "'fixed32'", "'fixed64'", "'big32'", "'big64'", "'varint32'",
    "'varint64'", "{value}"}},
  {"encoding", {"", "", ", 'parquet'", ", 'LevelDB'"}},
  {"rate", {"0.01", "0.{#10}", "0.00{#10}", "1e-{#12}", "0.5", "'1%'", "0.{#200}", "0.999"}},
  {"bits", {"10", "{#102}", "{#40}.{#10}", "{rate}", "{rate}", "NULL", "{value}"}},
  /* Arguments behind the keys, good ones most of the time. */
  {"size", {"", "", ", {rate}", ", {bits}", ", {bits}, {#200}", ", NULL, {value}", ", {bits}, 'parquet'", ", {rate}, 'parquet'",
    ", {bits}, {#200}, 'parquet'", ", 'parquet'", ", {Expression}", ", {Expression}, {Expression}"}},
  {"one_size", {"", "", "", ", {bits}", ", {bits}, {#200}"}},
  {"keys", {"", ", {Expression}", ", {Expression}, {Expression}", ", {Expression}, {Expression}, {Expression}",
    /* More than go to the bits at once, and more than SQLite allows. */
    TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS,
    TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS TEN_KEYS}},

  /* -- Rows of any k and f. */
  {"rows", {"", " UNION ALL SELECT {Expression}, {Expression}", " UNION ALL SELECT {Expression}, {Expression} UNION ALL SELECT {value}, {Filter}",
    " UNION ALL SELECT {Expression}, {value} UNION ALL SELECT {Expression}, {value} UNION ALL SELECT {Expression}, {value}"}},
  {"Source", {"mixed", "shapes", "numbers", "none", "handles", "files", "!many", "(SELECT NULL AS k, NULL AS f{-}{rows})",
    "(SELECT NULL AS k, NULL AS f{-}{rows})",
    "(SELECT slot AS k, filter AS f{-} FROM bloom_filter_block({Block}))", "(SELECT slot AS k, filter AS f{-} FROM bloom_ldb({File}))",
    "(SELECT set_number AS k, {File} AS f{-} FROM bloom_sets({File}, {Expression}))"}},
  {"where", {"", "", "", " WHERE {Expression}"}},
  {"order", {"", "", " ORDER BY {Expression}"}},
  {"partition", {"", "", "PARTITION BY {Expression}"}},
  {"unit", {"ROWS", "RANGE", "GROUPS"}},
  /* Every such frame has its own row in it. */
  {"frame", {"{unit} BETWEEN {begin} AND {end}"}},
  {"begin", {"UNBOUNDED PRECEDING", "2 PRECEDING", "CURRENT ROW", "0 PRECEDING", "1.5 PRECEDING"}},
  {"end", {"CURRENT ROW", "1 FOLLOWING", "UNBOUNDED FOLLOWING", "3 FOLLOWING", "0 FOLLOWING"}},
  {"any_frame", {"{unit} BETWEEN {any_begin} AND {any_end}{exclude}"}},
  {"any_begin", {"3 PRECEDING", "1 FOLLOWING", "UNBOUNDED PRECEDING", "CURRENT ROW"}},
  {"any_end", {"2 FOLLOWING", "1 PRECEDING", "CURRENT ROW", "UNBOUNDED FOLLOWING"}},
  {"exclude", {"", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES"}},

  /* -- What often is a filter, a file, a block. */
  {"Filter", {"{k}", HELLO, "bloom_open({Filter})", "bloom_empty({value}{encoding})", "bloom_empty({#200}, {bits}{encoding})",
    /* A copy of a handle, which may outlive it. */
    "{copy}(bloom_open({Filter}), {Expression})", "{Expression}", "{Expression}"}},
  {"copy", {"nullif", "nullif", "coalesce", "min"}},
  {"Block", {FILTER_BLOCK, "{?}", "(SELECT bloom_filter_block_build({#200} * {#200}, {Expression}{block_size}) FROM {Source})",
    "substr(" FILTER_BLOCK ", {#22})", "(SELECT f FROM files LIMIT 1 OFFSET {#5})", "{Expression}"}},
  {"block_size", {"", ", {rate}", ", {bits}"}},
  {"File", {"(SELECT f FROM files LIMIT 1 OFFSET {#5})", "substr((SELECT f FROM files LIMIT 1 OFFSET {#5}), {#150})",
    "(SELECT bloom_build_sets({#200}, {Expression}{one_size}))", "bloom_open((SELECT f FROM files LIMIT 1 OFFSET 3))", "{Filter}"}},

  {"Aggregate", {"count({k})", "bloom_build({Expression}{size})", "bloom_build(DISTINCT {Expression})", "bloom_merge({Filter})",
    "bloom_merge(DISTINCT {Filter})", "bloom_build(k) FILTER (WHERE {value})", "{plain_aggregate}({Expression})",
    "bloom_build_sets({Expression}, {Expression}{one_size})", "bloom_filter_block_build({Expression}, {Expression}{block_size})",
    "bloom_merge(bloom_build_sets({Expression}, {Expression}))", "bloom_filter({Expression}{keys})", "bloom_filter(DISTINCT {Expression})"}},
  {"plain_aggregate", {"max", "min", "group_concat"}},
  {"Select", {"SELECT {+}{Aggregate} FROM {Source}{where}"}},
  {"set", {"{#200}"}},
  {"number", {"{#200}", "NULL", "-1", "'x'", "0.5"}},
  {"info", {"argument", "note", "bits_set", "estimated_keys", "encoding", "num_bytes", "fill_ratio", "bits_per_key", "expected_fpr",
    "num_probes", "num_bits", "num_sets", "rowid"}},
  {"slot", {"slot", "first_offset", "last_offset", "filter", "note", "rowid"}},
  {"name", {"bloom_may_contain", "bloom_open", "bloom_add", "bloom_empty", "bloom_partition", "bloom_version", "bloom_build", "bloom_merge",
    "bloom_info", "bloom_build_sets", "bloom_sets", "bloom_ldb", "bloom_filter_block", "bloom_filter_block_build", "bloom_tuple",
    "bloom_key", "bloom", "bloom_filter"}},
  {"arguments", {"", "{Expression}", "{Expression}, {Expression}", "{Expression}, {Expression}, {Expression}"}},
  {"plain", {"typeof", "hex", "length", "abs", "quote", "lower"}},
  {"plain2", {"coalesce", "nullif", "max", "substr", "iif"}}, /* iif() takes three */
  {"type", {"TEXT", "BLOB", "INTEGER", "REAL", "NUMERIC"}},
  {"operator", {"=", "||", "+", "<", "IS", "AND", "*"}},
  {"Expression", {"{value}", "{value}", "{value}", "{value}", "{value}", "{value}",
    "bloom_may_contain({Filter}, {Expression})", "bloom_may_contain({Filter}, {Expression})", "bloom_open({Filter})",
    "bloom_add({Filter}{keys})", "bloom_add({Filter}{keys})", "bloom_empty({value}{encoding})", "bloom_empty({value}, {bits}{encoding})",
    "bloom_partition({Expression}, {value})", "bloom_bits_per_key({rate}, {number}{encoding})",
    "!bloom_bits_per_key({Expression}, {Expression}{encoding})", "!bloom_bits_per_key({rate}{encoding})",
    "bloom_tuple({arguments})", "bloom_tuple({Expression}{keys})", "bloom_key({Expression}, {key_type})", "bloom_key({Expression}, 'siphash', " SECRET ")",
    "bloom_key({Expression}, {key_type}, {value})", "({Select})", "({Select})", "(SELECT {info} FROM bloom_info({Filter}))",
    "(SELECT {slot} FROM bloom_filter_block({Block}))", "(SELECT {slot} FROM bloom_ldb({File}))", "(SELECT policy FROM bloom_ldb({File}))",
    "(SELECT group_concat(set_number) FROM bloom_sets({File}, {Expression}))",
    "{plain}({Expression})", "CAST({Expression} AS {type})", "({Expression} {operator} {Expression})",
    "CASE WHEN {Expression} THEN {Expression} ELSE {Expression} END", "{plain2}({Expression}, {Expression})",
    "{name}({arguments})", "bloom_version()", "bloom_may_contain({Filter}, {Expression}{keys})",
    "bloom_may_contain((SELECT bloom_filter({arguments}) FROM {Source}), {arguments})", "({IndexFunction})"}},
  {"IndexFunction", {"SELECT count(value) FROM bloom_index_list({Expression})", "SELECT coalesce(note, merged) FROM bloom_index_info({virtual_table})",
    "SELECT count(*) FROM bloom_index_info({arguments})"}},
  {"virtual_table", {"'ix'", "'plain'", "'pair'", "'s'", "'log_filter'", "'log_index'"}},

  /* -- Filters that {9:key} was put into, if it is not NULL.  Made is never NULL, for bloom_merge() is NULL
  ** where a filter is.  So no handle, which compound and sorted subqueries turn into NULL. */
  {"key", {"?1", "?1", "bloom_tuple(?1)", "bloom_tuple(?1, {literal})", "bloom_tuple({?}, ?1, {literal})", "bloom_key(?1, 'siphash', " SECRET ")",
    "bloom_key(?1, {key_type})"}},
  {"tail", {"))", " UNION ALL SELECT 'other'))", " ORDER BY 1))", " LIMIT 9))"}},
  {"Made", {"(SELECT bloom_build(v{size}) FROM (SELECT {9:key} AS v UNION ALL SELECT {Expression}{tail}",
    "(SELECT bloom_build(DISTINCT v) FROM (SELECT {9:key} AS v UNION ALL SELECT {Expression}{tail}",
    "bloom_add({Made}{keys})", "(SELECT bloom_merge(v) FROM (SELECT {Made} AS v UNION ALL SELECT {Filter}))",
    "bloom_add(bloom_empty({#100}, {bits}{encoding}), {9:key})",
    "(SELECT bloom_merge(v) FROM (SELECT bloom_add(bloom_empty(9{8:size9}), {9:key}) AS v UNION ALL SELECT bloom_add(bloom_empty(9{8:size9}){keys})))"}},
  {"size9", {"", ", 'parquet'", ", {rate}", ", {rate}, 'parquet'"}},
  {"With", {"{Made}", "bloom_add({With}{keys})", "bloom_add({Filter}{keys}, {9:key})", "(SELECT argument FROM bloom_info({With}))",
    /* Around a handle: what SQLite hands on or copies, so that it may be the same filter or NULL. */
    "bloom_open({With})", "nullif(bloom_open({With}), 7)", "nullif(bloom_open({With}), (SELECT f FROM kept))",
    "nullif(bloom_open({With}), bloom_may_contain(bloom_open(" HELLO "), 1))", "coalesce(NULL, bloom_open({With}))",
    "iif(1, bloom_open({With}), bloom_open(x'000006'))",
    "CASE WHEN bloom_may_contain(bloom_open(x'000006'), 1) THEN bloom_open(x'000006') ELSE bloom_open({With}) END",
    "max(bloom_open({With}), bloom_open(x'000006'))", "(SELECT max(h) FROM (SELECT bloom_open({With}) AS h))",
    "(SELECT first_value(h) OVER () FROM (SELECT bloom_open({With}) AS h UNION ALL SELECT NULL))",
    "(SELECT lag(h, 0) OVER (ORDER BY i) FROM (SELECT bloom_open({With}) AS h, 1 AS i UNION ALL SELECT NULL, 2))",
    "(SELECT nth_value(h, 1) OVER () FROM (SELECT bloom_open({With}) AS h))", "(SELECT nullif(bloom_open({With}), 7))"}},

  /* -- Statements */
  {"distinct", {"", "", "DISTINCT "}},
  {"limit", {"", "", "", " LIMIT {value}"}},
  {"second", {"{Expression}", "{Expression}", "{Aggregate} OVER ({partition} ORDER BY {Expression} {any_frame})"}},
  {"row_key", {"k", "k", "bloom_tuple(k, f)", "bloom_tuple(f, k, k)", "bloom_tuple(k)", "bloom_key(k, 'siphash', " SECRET ")", "lower(hex(k))"}},
  {"condition", {"1", "typeof(k) = 'text'", "typeof(k) <> 'text'", "k >= {?}", "bloom_partition(k, 3) = {#3}"}},
  {"open", {"", "bloom_open"}},
  {"group_key", {"min(k)", "max(k)", "k"}},
  {"having", {"", "", " HAVING {Expression}"}},
  {"by", {"k", "f", "typeof(k)", "k DESC", "bloom_partition(k, 3)"}},
  {"join", {",", "LEFT JOIN", "CROSS JOIN"}},
  {"facts", {"i.note", "i.{info}", "i.{info}", "bloom_may_contain(i.argument, s.k)", "!i.*"}},
  {"facts_order", {"", "", " ORDER BY i.num_bits", " ORDER BY i.argument", " ORDER BY s.f"}},
  {"statement", {
    "SELECT {distinct}{+}{Expression}, {second} FROM {Source}{where}{order}{limit}",
    "{Select}",
    /* A filter with a key may contain it; once other filters were opened, too.  Of a table, or all would be computed beforehand. */
    "{*}SELECT bloom_may_contain({With}, {9:key}) AS yes",
    "{*}SELECT bloom_may_contain({With}, {9:key}) AS yes",
    "{*}SELECT bloom_may_contain({With}, CASE WHEN bloom_may_contain((SELECT bloom_open(f)), bloom_may_contain(bloom_open(f), {+}{Expression})) THEN"
      " {9:key} ELSE {9:key} END) AS yes"
      " FROM (SELECT f AS k, f FROM kept)",
    /* Rows are taken twice: as keys to add and as keys to test. */
    "WITH t AS (SELECT k, f, {condition} AS c FROM {Source}) SELECT bloom_may_contain((SELECT {open}(bloom_build({1:row_key}{size})) FROM t WHERE c),"
      " {1:row_key}) AS yes FROM t WHERE c",
    "WITH t AS (SELECT k, f FROM {Source}) SELECT bloom_may_contain((SELECT {open}(bloom_build(k{size})) FROM t WHERE {1:condition}), k) AS yes FROM t"
      " WHERE {1:condition}",
    /* Keys of a group were put into its filter, and the row of a frame into its own. */
    "SELECT bloom_may_contain(bloom_build(k{size}), {group_key}) AS yes, {+}{Aggregate} FROM {Source} GROUP BY {Expression}{having}{order}",
    "SELECT bloom_may_contain(bloom_build(DISTINCT k), {group_key}) AS yes, {+}{Aggregate} FROM {Source} GROUP BY {Expression}{having}{order}",
    "SELECT bloom_may_contain(bloom_build(k{size}) OVER w, k) AS yes, {+}{Aggregate} OVER (ORDER BY k {any_frame}) FROM {Source} WINDOW w AS ({partition}"
      " ORDER BY {by} {frame})",
    "SELECT bloom_may_contain(bloom_build({1:row_key}{size}) OVER w, {1:row_key}) AS yes FROM {Source} WINDOW w AS (ORDER BY {by} {frame})",
    /* Lateral: a row for each filter. */
    "SELECT i.num_bytes = length(s.f) AS yes, {facts} FROM {Source} AS s {join} bloom_info(s.f) AS i{+}{facts_order}",
    /* A key's own set is among those that may hold it. */
    "{*}SELECT (?1 IS NULL OR (SELECT count(*) FROM bloom_sets((SELECT {open}(bloom_build_sets(n, v{one_size})) FROM"
      " (SELECT {1:set} AS n, ?1 AS v UNION ALL SELECT {?}, {?} UNION ALL SELECT 70, {?})), ?1) WHERE set_number = {1:set}) = 1) AS yes",
    /* And in merged files. */
    "{*}SELECT (SELECT count(*) FROM bloom_sets((SELECT bloom_merge(f) FROM (SELECT bloom_build_sets(3, ?1, {1:bits}, 5) AS f UNION ALL SELECT"
      " bloom_build_sets(3, {?}, {1:bits}, 5))), ?1)) = 1 AS yes WHERE ?1 IS NOT NULL",
    /* A data block's filter has its keys. */
    "{*}SELECT bloom_may_contain(b.filter, ?1) AS yes FROM bloom_filter_block((SELECT bloom_filter_block_build(n, v{block_size}) FROM (SELECT"
      " {1:number}*{2:number} AS n, ?1 AS v"
      " UNION ALL SELECT {?}, {?} UNION ALL SELECT {1:number}*{2:number}, {Expression}))) b WHERE {1:number}*{2:number} BETWEEN b.first_offset AND"
      " b.last_offset",
    /* What says one thing in two ways. */
    "{*}SELECT bloom_build(v, {1:bits}, {2:set}{3:encoding}) IS bloom_add(bloom_empty({2:set}, {1:bits}{3:encoding}), ?1) AS yes FROM (SELECT ?1 AS v)",
    "{*}{*}SELECT CASE WHEN ?1 = ?2 THEN bloom_tuple(?1, 1) = bloom_tuple(?2, 1.0) END AS yes",
    "{*}SELECT bloom_partition(?1, {1:number}) BETWEEN 0 AND {1:number} - 1 AS yes, bloom_bits_per_key({rate}, {number}{encoding}) BETWEEN 1 AND 100 AS yes",
    "SELECT {slot}, bloom_may_contain(filter, {value}) FROM bloom_ldb({File})",
    /* bloom_filter() has what `=` finds, by whatever affinities and collation. */
    "{*}{*}SELECT bloom_may_contain((SELECT bloom_filter({1:left}) FROM (SELECT 1 UNION ALL SELECT 2)), {2:right}) AS yes WHERE {1:left} = {2:right}",
    "{*}{*}SELECT bloom_may_contain((SELECT bloom_filter({1:left}, {2:left}) FROM (SELECT 1)), {3:right}, {4:right}) AS yes"
      " WHERE {1:left} = {3:right} AND {2:left} = {4:right}",
    "{*}WITH t AS (SELECT k FROM {Source}) SELECT bloom_may_contain((SELECT bloom_filter(k) FROM t), {1:left}) AS yes FROM t WHERE k = {1:left}",
    "WITH t AS (SELECT k, f FROM {Source}) SELECT bloom_may_contain((SELECT bloom_filter(k) FROM t WHERE {1:condition}), k) AS yes,"
      " bloom_may_contain((SELECT bloom_filter(k, f, k) FROM t), k, f, k) AS yes FROM t WHERE {1:condition}",
    "SELECT bloom_may_contain(bloom_filter(k, {1:row_key}) OVER w, k, {1:row_key}) AS yes FROM {Source} WINDOW w AS (ORDER BY {by} {frame})",
    "SELECT bloom_may_contain(bloom_filter(k), {group_key}) AS yes, {+}{Aggregate} FROM {Source} GROUP BY {Expression}{having}{order}",
  }},
  {"six_keys", {"SELECT {?} AS k UNION ALL SELECT {?} UNION ALL SELECT {?} UNION ALL SELECT {?} UNION ALL SELECT {?} UNION ALL SELECT {?}"}},
  {"keys_as_bytes", {"SELECT bloom_add(bloom_empty({1:set}), k) IS bloom_add(bloom_empty({1:set}), " KEY_BYTES(DECIMAL) ") AS yes,"
    " bloom_add(bloom_empty({1:set}, 'parquet'), k) IS bloom_add(bloom_empty({1:set}, 'parquet'), " KEY_BYTES(INT64) ") AS yes,"
    " bloom_build(k) OVER () IS bloom_build(" KEY_BYTES(DECIMAL) ") OVER () AS yes,"
    " bloom_build(k, 'parquet') OVER () IS bloom_build(" KEY_BYTES(INT64) ", 'parquet') OVER () AS yes"
    " FROM pragma_encoding, ({six_keys} UNION ALL {six_keys}) WHERE encoding = 'UTF-8'"}},
  {"left", {"?1", "CAST(?1 AS {type})", "{literal}", "?1 * 1", "+?1", "coalesce(?1, 0.0)", "upper(?1)", "?1 || ' '"}},
  {"right", {"?2", "CAST(?2 AS {type})", "{literal}", "?1 COLLATE NOCASE", "CAST(?1 AS {type}) COLLATE RTRIM", "?1 || '  ' COLLATE RTRIM", "lower(?1) COLLATE NOCASE",
    "0 + ?1", "' 0' || ?1 || '.0'"}},

  /* -- Changes of a table with filters, in CHECKs, generated columns, triggers and virtual tables. */
  {"kept", {"log_filter", "log_n", "own_set", "log_pair"}},
  {"hidden", {"key", "removed", "handle", "num_keys"}},
  {"lookup", {"= {Expression}", "IN (1, 2) OR key = {Expression}", "= bloom_tuple({Expression}, 2) AND key > 1", "IS {Expression}",
    "IN ({Expression}, bloom_tuple(1.5, {Expression}))", "IN (SELECT k FROM {Source})"}},
  {"change", {
    "INSERT INTO log(k, n) VALUES ({Expression}, {Expression})", "INSERT INTO log(k) SELECT k FROM {Source}", "UPDATE log SET k = {+}{Expression}",
    "UPDATE log SET n = {+}{Expression}", "INSERT INTO {1:kept}({1:kept}) VALUES ('merge')",
    "DELETE FROM log WHERE {+}{Expression}", "INSERT INTO {1:kept}({1:kept}) VALUES ('rebuild')",
    "INSERT INTO {1:kept}({1:kept}) VALUES ('integrity-check')", "INSERT INTO {1:kept}({1:kept}) VALUES ({Expression})",
    "INSERT INTO {kept}({hidden}) VALUES ({Expression})", "INSERT INTO own_set(key) SELECT k FROM {Source}",
    "SELECT * FROM {kept} WHERE key {lookup}", "SELECT count(*) FROM {kept}({arguments})",
    "SELECT f.*, bloom_may_contain(handle, 1), i.* FROM {kept} f, bloom_info(f.filter) i",
    "SELECT f.*, bloom_may_contain(handle, bloom_tuple({Expression}, 1)) FROM {kept} f, bloom_info(f.{hidden}) i"}},

  /* -- Histories of a table that anything may happen to. */
  {"v", {"{?}", "{literal}", "{~}", "(SELECT k FROM v LIMIT 1 OFFSET {#14})"}},
  {"id", {"id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY AUTOINCREMENT", "id",
    "id TEXT PRIMARY KEY", "id INT PRIMARY KEY DESC"}},
  {"affinity", {"", "TEXT", "INTEGER", "REAL", "NUMERIC", "BLOB", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM", "INT COLLATE NOCASE",
    "TEXT NOT NULL DEFAULT 'ada'", "INTEGER UNIQUE", "DEFAULT 7 COLLATE RTRIM"}},
  {"generated", {"a || b", "a + b", "lower(a)", "b", "bloom_tuple(a, b)", "coalesce(b, a)"}},
  {"stored", {"", "STORED"}},
  {"without", {"", "", "", "", "", " WITHOUT ROWID", " STRICT"}},
  {"table", {"CREATE TABLE s({id}, a {affinity}, b {affinity}, x ANY, g {affinity} AS ({generated}) {stored}){without}"}},
  {"options", {"", "", ", bits_per_key = {bits}", ", capacity = {#9}", ", bits_per_key = {rate}, capacity = {#200}"}},
  {"index_options", {"", "", "", ", probes = {#40}"}},
  {"create", {
    "CREATE VIRTUAL TABLE plain USING bloom(s, a{options})", "CREATE VIRTUAL TABLE pair USING bloom(s, (a, b){options})",
    "CREATE VIRTUAL TABLE ix USING bloom_index(s, a, b, a LIKE{index_options})", "CREATE VIRTUAL TABLE low USING bloom(s, b{options})",
    "CREATE VIRTUAL TABLE tuple USING bloom(s, (b, x, a){options})", "CREATE VIRTUAL TABLE ids USING bloom(s, id{options})",
    "CREATE VIRTUAL TABLE gen USING bloom(s, g{options})", "CREATE VIRTUAL TABLE plain USING bloom(s, a{options})",
    "CREATE VIRTUAL TABLE pair USING bloom(s, (a, b){options})", "CREATE VIRTUAL TABLE ix USING bloom_index(s, a, b, a LIKE{index_options})",
    "CREATE VIRTUAL TABLE ix USING bloom_index(s, b, b RANGE, a LIKE REGEXP, b LIKE{index_options})", "CREATE VIRTUAL TABLE ix USING bloom_index(s, a RANGE, b RANGE, a{index_options})",
    "CREATE VIRTUAL TABLE odd USING bloom(s, {v}{options})", "CREATE VIRTUAL TABLE odd USING bloom_index(s, {v}{index_options})"}},
  {"a", {"a", "a", "a", "b", "c", "x"}},
  {"s", {"s", "s", "s", "r"}},
  {"f", {"plain", "pair", "ix", "low", "tuple", "ids", "gen", "alone", "plain2", "ix2"}},
  {"or", {"", "", "OR REPLACE ", "OR IGNORE ", "OR FAIL ", "OR ROLLBACK "}},
  {"some", {"", " WHERE id = {#9}", " WHERE id > {#9}", " WHERE a = {v}", " WHERE typeof(a) = 'text'"}},
  {"write", {
    "INSERT {or}INTO {s}(a, b) VALUES ({v}, {v})", "INSERT {or}INTO {s}(a, b) VALUES ({v}, {v}), ({v}, {v}), ({v}, {v})",
    "INSERT {or}INTO {s}(id, a, b) VALUES ({~}, {v}, {v})", "INSERT {or}INTO {s}(a, b) SELECT k, k FROM v WHERE k IS NOT NULL",
    "INSERT {or}INTO {s}(a, b) SELECT k, {v} FROM v",
    "INSERT INTO {s}(id, a) VALUES ({#9}, {v}) ON CONFLICT DO UPDATE SET a = {v}",
    "INSERT INTO {s}(a, b) VALUES ({v}, {v}) RETURNING (SELECT count(*) FROM plain(a)), (SELECT count(*) FROM pair(a, b))",
    "UPDATE {or}{s} SET {a} = {v}{some}", "UPDATE {s} SET a = b, b = a{some}", "UPDATE {or}{s} SET id = id + {#9}{some}", "DELETE FROM {s}{some}",
    "INSERT INTO said VALUES ({v})"}},
  {"command", {"rebuild", "rebuild", "merge", "integrity-check", "merge={#9}"}},
  {"savepoint", {"SAVEPOINT p", "ROLLBACK TO p", "SAVEPOINT q", "ROLLBACK TO q", "RELEASE p", "RELEASE q"}},
  {"before", {"BEFORE", "AFTER"}},
  {"event", {"INSERT", "UPDATE", "DELETE", "UPDATE OF a"}},
  {"body", {"SELECT RAISE(IGNORE)", "SELECT RAISE(FAIL, 'no')", "DELETE FROM s WHERE id = 1", "UPDATE s SET a = b WHERE id = 2",
    "INSERT OR IGNORE INTO s(id, a, b) VALUES ({~}, 1, 2)",
    "INSERT INTO {1:f}({1:f}) VALUES ('{command}')", "SELECT count(*) FROM {f}"}},
  {"trigger", {"before_insert", "after_insert", "before_update", "after_update", "before_delete", "guard"}},
  {"alter", {"ALTER TABLE {1:f} RENAME TO {1:f}2", "ALTER TABLE {1:f}2 RENAME TO {1:f}", "ALTER TABLE s RENAME TO r", "ALTER TABLE r RENAME TO s",
    "ALTER TABLE {s} RENAME COLUMN a TO c", "ALTER TABLE {s} RENAME c TO a", "ALTER TABLE {s} RENAME b TO \"d e\"",
    "ALTER TABLE {s} ADD COLUMN y DEFAULT {literal}",
    "ALTER TABLE {s} DROP COLUMN {a}", "DROP TRIGGER {f}_{trigger}", "DROP TABLE {f}", "DROP TABLE {s}", "{table}",
    "CREATE TRIGGER u {before} {event} ON {s} BEGIN {body}; END", "CREATE INDEX i ON {s}(a)", "CREATE VIEW r AS SELECT * FROM s", "ANALYZE"}},
  {"shadow", {"{1:f}_pages", "ix_state", "ix_changed", "ix_entries1", "ix_zones2", "ix_entries3", "ix_spans", "{1:f}_new",
    "ix_canary"}},
  {"bytes", {"bytes", "data", "covered", "key", "config", "layout", "moved_by_vacuum"}},
  {"damage", {"{!}UPDATE {shadow} SET {2:bytes} = {v}", "{!}UPDATE {shadow} SET {2:bytes} = CAST(substr({2:bytes}, 1, {#200}) || {v} || substr({2:bytes},"
      " {#200}) AS BLOB) WHERE rowid <> {#3}",
    "{!}DELETE FROM {shadow} WHERE rowid > {#4}", "{!}INSERT INTO {shadow} SELECT * FROM {shadow}", "{!}DROP TABLE {shadow}",
    "{!}UPDATE {shadow} SET rowid = rowid + {#3}", "{!}ALTER TABLE {shadow} ADD COLUMN z"}},
  {"read", {"SELECT * FROM {f} WHERE key = {v}", "SELECT count(*) FROM {f}({v})", "SELECT count(*) FROM {f}({v}, {v})",
    "SELECT * FROM {f} WHERE key IN ({v}, {v}) OR key = {v}",
    "SELECT rowid FROM pair WHERE key = bloom_tuple({v}, {v}) OR key IN (bloom_tuple({v}, {v}), {v})",
    "SELECT f.*, i.* FROM {f} f, bloom_info(f.filter) i", "SELECT bloom_may_contain((SELECT handle FROM {f}), {v}) FROM v",
    "SELECT * FROM v JOIN {f} ON key = k", "SELECT * FROM v JOIN {f} ON key = bloom_tuple(k, {v})", "SELECT * FROM {f} WHERE handle = {v} AND key {#2}",
    "PRAGMA integrity_check", "DELETE FROM {f}", "UPDATE {f} SET key = {v}",
    "INSERT INTO {f}({hidden}) VALUES ({v})", "SELECT * FROM ix{index_where} ORDER BY id DESC LIMIT {#5}",
    "SELECT * FROM ix, v WHERE ix.a = k AND ix.b > {v}"}},
  {"step", {"{write}", "{write}", "{write}", "{write}", "INSERT INTO {1:f}({1:f}) VALUES ('{command}')", "INSERT INTO ix(ix) VALUES ('{command}')",
    "{savepoint}", "{savepoint}", "{alter}", "{alter}", "{read}", "{create}", "{damage}"}},
  {"index_where", {"", " WHERE {Compared}", " WHERE {Compared} AND {Compared}", " WHERE {Compared} OR {Compared}", " WHERE NOT {Compared}"}},
  {"pattern", {"'%ada%'", "'ada%'", "'%' || {v} || '%'", "{v}", "'*ada*'", "'_da%'", "'[aA]da*'"}},
  {"column", {"%A", "%B", "id"}},
  {"Compared", {"{column} = {v}", "{column} IS {v}", "{column} IN ({v}, {v})", "{column} LIKE {pattern}", "{column} GLOB {pattern}", "{column} < {v}",
    "%A = %B", "{column} IN (SELECT k FROM v)",
    "{column} = (SELECT k FROM v LIMIT 1 OFFSET {#14})", "({Compared} AND {Compared})", "{column} >= {v}",
    "{column} BETWEEN {v} AND {v}", "{column} REGEXP {pattern}"}},
};
#define NUM_RULES (sizeof(grammar)/sizeof(grammar[0]))

/* What holds of each virtual table that a history made, by its name: %F is its name of today, %T the table it
** follows, %A and %B that table's second and third column, %C a condition on them; ?1 and ?2 any values. */
static const char *const history_checks[][2] = {
#define FINDS(kind, key, columns, rows) \
  {kind, "SELECT (SELECT count(*) FROM %F WHERE key = " key ") AS yes, (SELECT count(*) FROM %F(" columns ")) AS yes," \
         " (SELECT count(*) FROM %F WHERE key IN (" key ", 'other')) AS yes, bloom_may_contain((SELECT handle FROM %F), " key ") AS yes FROM " rows}
  FINDS("plain", "%A", "%A", "%T WHERE %A IS NOT NULL"),
  FINDS("plain", "?1", "?1", "%T WHERE %A = ?1"),
  FINDS("plain", "u.%B", "u.%B", "%T, %T u WHERE %T.%A = u.%B"),
  FINDS("ids", "id", "id", "%T WHERE id IS NOT NULL"),
  FINDS("ids", "?1", "?1", "%T WHERE id = ?1"),
  FINDS("low", "%B", "%B", "%T WHERE %B IS NOT NULL"),
  FINDS("tuple", "bloom_tuple(%B, x, %A)", "%B, x, %A", "%T WHERE %A IS NOT NULL AND %B IS NOT NULL AND x IS NOT NULL"),
  FINDS("pair", "bloom_tuple(%A, %B)", "%A, %B", "%T WHERE %A IS NOT NULL AND %B IS NOT NULL"),
  FINDS("pair", "bloom_tuple(?1, ?2)", "?1, ?2", "%T WHERE %A = ?1 AND %B = ?2"),
  FINDS("alone", "k", "k", "said WHERE k IS NOT NULL"),
#define SAME_ROWS(rows) "(SELECT group_concat(quote(id) || quote(%A) || quote(%B)) FROM (SELECT * FROM " rows "%C ORDER BY id, quote(%A), quote(%B)))"
  {"ix", "SELECT " SAME_ROWS("%F") " IS " SAME_ROWS("%T") " AS yes"},
  {"ix", "SELECT (SELECT count(*) FROM %F%C) IS (SELECT count(*) FROM %T%C) AS yes"},
};
#define NUM_HISTORY_CHECKS (sizeof(history_checks)/sizeof(history_checks[0]))
