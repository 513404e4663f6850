/*
** Many filters, one key: what SQLite spends on each of 10,000 stored filters in
**
**     SELECT shard FROM shards WHERE bloom_may_contain(filter, ?1)
**
** by size of the filter, size of the page and layout of the row.
**
**     many_filters FOLDER [--filters N] [--repeats N] [--state NAME]
**
** FOLDER gets one database a contestant, 900 MB in all with the default of 10,000
** filters.  Contestants take turns, each once untimed before; printed is the median of the repeats, their
** least and most, in ns of processor time a filter, and the pages that were got a filter.
**
**   warm    all pages in SQLite's page cache
**   small   SQLite's default page cache, 2 MB; the file in the system's cache
**
** Layouts:
**   filter last, filter first   shards(id, shard, filter), shards(id, filter, shard)
**   WITHOUT ROWID               keyed by shard; rows of more than a quarter of a
**                               page have overflow pages there
**   nothing but the row         the same rows, `WHERE id%2=2` instead: no filter is read
**   blob I/O                    sqlite3_blob_reopen() a row and one byte a probe, in C:
**                               what no SQL function can do, for comparison
**   in 16 parts                 each filter in 16 partitions; those of all shards that
**                               have one number side by side: id = part*N + shard
*/
#include "lookups.h"

#include "../../ext/core/numeric.h"
#include "../../ext/core/leveldb/leveldb.h"
#include "../../ext/core/leveldb/hash.h"

enum { WARM, SMALL, NUM_STATES };
static const char *const state_names[NUM_STATES] = {"warm", "small"};

/* So many filters differ; the others repeat them. */
#define NUM_DISTINCT 100

typedef enum contestant_kind { PLAIN, ROW_ONLY, BLOB_IO, PARTS } contestant_kind;

typedef struct contestant {
  const char *name;
  contestant_kind kind;
  int num_parts; /* of each filter, in PARTS */
  int num_keys; /* of a filter, 12 bits each */
  int page_bytes;
  const char *table;
  int is_mapped;
  char *path;
  sqlite3 *db;
  sqlite3_stmt *statement;
  sqlite3_blob *blob;
  double ns[NUM_STATES][MAX_REPEATS];
  double pages;
} contestant;

#define LAST      "shards(id INTEGER PRIMARY KEY, shard TEXT NOT NULL, filter BLOB NOT NULL)"
#define FIRST     "shards(id INTEGER PRIMARY KEY, filter BLOB NOT NULL, shard TEXT NOT NULL)"
#define CLUSTERED "shards(id INTEGER, shard TEXT PRIMARY KEY, filter BLOB NOT NULL) WITHOUT ROWID"

static contestant contestants[] = {
  {.name = "12 KB, filter last", .num_keys = 8000, .page_bytes = 4096, .table = LAST},
  {.name = "12 KB, filter first", .num_keys = 8000, .page_bytes = 4096, .table = FIRST},
  {.name = "12 KB, WITHOUT ROWID", .num_keys = 8000, .page_bytes = 4096, .table = CLUSTERED},
  {.name = "12 KB, nothing but the row", .kind = ROW_ONLY, .num_keys = 8000, .page_bytes = 4096, .table = LAST},
  {.name = "12 KB, blob I/O", .kind = BLOB_IO, .num_keys = 8000, .page_bytes = 4096, .table = LAST},
  {.name = "12 KB, mmap", .num_keys = 8000, .page_bytes = 4096, .table = LAST, .is_mapped = 1},
  {.name = "12 KB, pages of 16 KB", .num_keys = 8000, .page_bytes = 16384, .table = LAST},
  {.name = "12 KB, pages of 16 KB, mmap", .num_keys = 8000, .page_bytes = 16384, .table = LAST, .is_mapped = 1},
  {.name = "12 KB, pages of 64 KB", .num_keys = 8000, .page_bytes = 65536, .table = LAST},
  {.name = "12 KB in 16 parts", .kind = PARTS, .num_keys = 8000, .page_bytes = 4096, .num_parts = 16, .table = LAST},
  {.name = "12 KB in 16 parts, pages of 16 KB", .kind = PARTS, .num_keys = 8000, .page_bytes = 16384, .num_parts = 16, .table = LAST},
  {.name = "12 KB in 64 parts, pages of 16 KB", .kind = PARTS, .num_parts = 64, .num_keys = 8000, .page_bytes = 16384, .table = LAST},
  {.name = "3 KB", .num_keys = 2000, .page_bytes = 4096, .table = LAST},
  {.name = "3 KB, nothing but the row", .kind = ROW_ONLY, .num_keys = 2000, .page_bytes = 4096, .table = LAST},
  {.name = "3 KB, pages of 16 KB", .num_keys = 2000, .page_bytes = 16384, .table = LAST},
  {.name = "3 KB, pages of 64 KB", .num_keys = 2000, .page_bytes = 65536, .table = LAST},
  {.name = "1 KB", .num_keys = 680, .page_bytes = 4096, .table = LAST},
  {.name = "1 KB, nothing but the row", .kind = ROW_ONLY, .num_keys = 680, .page_bytes = 4096, .table = LAST},
  {.name = "1 KB, pages of 16 KB", .num_keys = 680, .page_bytes = 16384, .table = LAST},
};
#define NUM_CONTESTANTS (sizeof(contestants)/sizeof(contestants[0]))

static int num_filters = 10000;

static char *setup_sql(const contestant *c){
  if( c->kind==PARTS ){
    return sqlite3_mprintf(
      "CREATE TABLE %s; CREATE TEMP TABLE f AS SELECT i/%d AS number, bloom_partition(key(i), %d) AS part,"
      " bloom_build(key(i), 12) AS filter FROM (" NUMBERS(%d) "SELECT i FROM n) GROUP BY 1, 2;"
      NUMBERS(%d) "INSERT INTO shards(id, shard, filter) SELECT part*%d + i, 'shard ' || i, filter FROM f JOIN n"
      " ON i%%%d = number ORDER BY 1",
      c->table, c->num_keys, c->num_parts, NUM_DISTINCT*c->num_keys, num_filters, num_filters, NUM_DISTINCT);
  }
  return sqlite3_mprintf(
    "CREATE TABLE %s; CREATE TEMP TABLE f AS SELECT i/%d AS number,"
    " bloom_build(key(i), 12) AS filter FROM (" NUMBERS(%d) "SELECT i FROM n) GROUP BY 1;"
    "CREATE INDEX temp.f_number ON f(number);"
    NUMBERS(%d) "INSERT INTO shards(id, shard, filter) SELECT i, 'shard ' || i, filter FROM n CROSS JOIN f"
    " ON number = i%%%d",
    c->table, c->num_keys, NUM_DISTINCT*c->num_keys, num_filters, NUM_DISTINCT);
}

static char *query_sql(const contestant *c){
  switch( c->kind ){
    case ROW_ONLY: return sqlite3_mprintf("SELECT shard FROM shards WHERE id%%2=2");
    case PARTS:
      return sqlite3_mprintf("SELECT shard FROM shards WHERE bloom_may_contain(filter, ?1)"
                             " AND id BETWEEN bloom_partition(?1, %d)*%d AND bloom_partition(?1, %d)*%d + %d",
                             c->num_parts, num_filters, c->num_parts, num_filters, num_filters - 1);
    case PLAIN:
    case BLOB_IO:
      break;
  }
  return sqlite3_mprintf("SELECT shard FROM shards WHERE bloom_may_contain(filter, ?1)");
}

static void prepare(const char *folder, contestant *c){
  /* Equal tables share a file. */
  c->path = sqlite3_mprintf("%s/%d-%d-%d-%d-%c.db", folder, num_filters, c->num_keys, c->page_bytes,
                            c->num_parts,
                            strcmp(c->table, FIRST)==0 ? 'f' : strcmp(c->table, CLUSTERED)==0 ? 'c' : 'l');
  build_database(c->path, c->page_bytes, setup_sql(c));
  c->db = open_database(c->path, SQLITE_OPEN_READONLY);
  if( c->is_mapped ) exec(c->db, "PRAGMA mmap_size=2000000000");
  c->statement = prepared(c->db, query_sql(c));
  read_file(c->path);
}

/* Reads only the bytes of a filter that are tested. */
static int look_up_by_blob_io(contestant *c, const char *key){
  const uint32_t hash = bloom_leveldb_hash((const uint8_t *)key, KEY_CHARS);
  int num_found = 0, id;
  for(id=0; id<num_filters; id++){
    uint32_t h = hash, num_bits, probe;
    uint8_t byte, num_probes;
    if( c->blob==NULL ) check(c->db, sqlite3_blob_open(c->db, "main", "shards", "filter", id, 0, &c->blob));
    else check(c->db, sqlite3_blob_reopen(c->blob, id));
    num_bits = 8 * (uint32_t)(sqlite3_blob_bytes(c->blob) - 1);
    num_probes = (uint8_t)bloom_num_probes(12); /* the last byte lies on the last page */
    for(probe=0; probe<num_probes; probe++, h+=bloom_leveldb_delta(hash)){
      const uint32_t bit = h % num_bits;
      check(c->db, sqlite3_blob_read(c->blob, &byte, 1, (int)(bit/8)));
      if( !(byte >> bit%8 & 1) ) break;
    }
    num_found += probe==num_probes;
  }
  return num_found;
}

static int look_up(contestant *c, const char *key){
  int num_found = 0, rc;
  if( c->kind==BLOB_IO ) return look_up_by_blob_io(c, key);
  sqlite3_bind_text(c->statement, 1, key, KEY_CHARS, SQLITE_STATIC);
  while( (rc = sqlite3_step(c->statement))==SQLITE_ROW ) num_found++;
  check(c->db, sqlite3_reset(c->statement));
  return num_found;
}

/* Looks up one absent key; returns ns a filter. */
static double measure(contestant *c, int state, int repeat){
  char key[KEY_CHARS + 1];
  double start, ns;
  int num_found;
  write_key((sqlite3_uint64)1 << 40 | (sqlite3_uint64)repeat, key);
  exec(c->db, state==WARM ? "PRAGMA cache_size=-400000; BEGIN" : "PRAGMA cache_size=-2000; BEGIN");
  look_up(c, key); /* SQLite's pages, and the processor's caches, which are the last contestant's */
  cache_misses(c->db);
  start = cpu_ns();
  num_found = look_up(c, key);
  ns = (cpu_ns() - start) / num_filters;
  c->pages = (double)cache_misses(c->db) / num_filters;
  exec(c->db, "COMMIT");
  if( c->blob ) sqlite3_blob_close(c->blob);
  c->blob = NULL;
  /* 0.3 % false positives, of so many different filters */
  if( num_found>num_filters/20 ){
    fprintf(stderr, "%s: %d filters may have an absent key\n", c->name, num_found);
    exit(1);
  }
  return ns;
}

int main(int argc, char **argv){
  options o = {.num_repeats = 11, .num_items = num_filters};
  int order[NUM_CONTESTANTS];
  int repeat, state;
  FILE *out = NULL;
  size_t n;
  if( !read_options(argc, argv, "--filters", 1, &o) ){
    fprintf(stderr, "usage: many_filters FOLDER [--filters N] [--repeats N] [--state NAME]\n");
    return 2;
  }
  num_filters = (int)o.num_items;
  make_folder(o.folder);
  for(n=0; n<NUM_CONTESTANTS; n++) prepare(o.folder, &contestants[n]);
  if( o.only_state==NULL ){ /* a part is not kept */
    out = open_results("many-filters", sqlite3_libversion(), "one absent key, many filters: ns and pages a filter",
                       "num_filters\tstate\tcontestant\trepeat\tns\tpages");
  }
  printf("SQLite %s, %d filters, %d repeats, ns a filter\n", sqlite3_libversion(), num_filters, o.num_repeats);
  for(state=0; state<NUM_STATES; state++){
    if( !is_wanted(&o, state_names[state]) ) continue;
    for(repeat=-1; repeat<o.num_repeats; repeat++){ /* -1 warms up */
      shuffle(order, (int)NUM_CONTESTANTS);
      for(n=0; n<NUM_CONTESTANTS; n++){
        contestant *c = &contestants[order[n]];
        double ns = measure(c, state, repeat + 1);
        if( repeat<0 ) continue;
        c->ns[state][repeat] = ns;
        if( out ) fprintf(out, "%d\t%s\t%s\t%d\t%.0f\t%.2f\n", num_filters, state_names[state], c->name, repeat, ns, c->pages);
      }
    }
    printf("\n%-34s %8s %8s %8s %8s %7s\n", state_names[state], "ns", "least", "most", "ratio", "pages");
    for(n=0; n<NUM_CONTESTANTS; n++){
      const contestant *c = &contestants[n];
      spread ns = spread_of(c->ns[state], o.num_repeats);
      spread ratio = ratios_of(c->ns[state], contestants[0].ns[state], o.num_repeats);
      printf("%-34s %8.0f %8.0f %8.0f %8.2f %7.2f\n", c->name, ns.median, ns.least, ns.most, ratio.median, c->pages);
    }
    fflush(stdout);
  }
  for(n=0; n<NUM_CONTESTANTS; n++) close_database(contestants[n].db, contestants[n].statement);
  return out ? fclose(out)!=0 : 0;
}
