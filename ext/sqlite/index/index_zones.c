/*
** Zones of the columns with RANGE: rows of NAME_zonesN, look-ups and merges.
**
** A zone has the least and the greatest values of the rows in 2^z blocks whose numbers follow each
** other; z is the generation's, and a zone lies within a span.  So a row's block tells its zone,
** whatever the order in which rows come.
**
** NAME_zonesN(data BLOB) has two kinds of rows.  A row of zones has 32 zones, and exists if one of
** them has a row of the source.  A directory has an entry for each of 32 rows of zones: the union
** of its zones, empty where that row does not exist.  The rowid is (2*place + level) * 2^32 + n,
** where row n has the zones, and directory n the entries, 32n to 32n + 31.  The bytes are in
** ../../core/entries/zone.c.
**
** While a layout names them, zones and directories only grow, and a directory is written after its
** rows: what a merge that stops half-way leaves has all that there was.  The number of spans tells
** how many directories there are, so a missing row is damage.  Further rows are not read.
*/
#include "index_values.h"

#include <string.h>

/* Then the directories of a generation's spans have the numbers 0 and up, without a gap. */
_Static_assert(2*BLOOM_ZONES_LG>=INDEX_SPAN_LG, "a directory has whole spans");

/* -- Rows ------------------------------------------------------------------------------------ */

/* Returns the rowid of a row, of the generation with this place. */
static sqlite3_int64 zones_rowid(uint32_t place, index_zone_level level, uint32_t number){
  assert( place<INDEX_MAX_GENERATIONS );
  return (sqlite3_int64)((2*(uint64_t)place + level) << 32 | number);
}

uint32_t bloom_index_zones_num_directories(const index_generation *generation){
  const uint32_t blocks_lg = generation->zone_lg + 2*BLOOM_ZONES_LG;
  return ((generation->num_spans << INDEX_SPAN_LG) + (1u << blocks_lg) - 1) >> blocks_lg;
}

int bloom_index_zones_read(bloom_index *index, const index_generation *generation, int key,
                           index_zone_level level, uint32_t number, bloom_zone *zones){
  const sqlite3_int64 rowid = zones_rowid(generation->place, level, number);
  sqlite3_stmt *row;
  int rc = bloom_index_statement_take(index, INDEX_USE_ENTRIES + key, &row, "SELECT z.data FROM"
                                      " \"%w\".\"%w_zones%d\" AS z WHERE z.rowid = ?1",
                                      index->schema, index->name, key + 1);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(row, 1, rowid);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW ){
    const void *bytes = sqlite3_column_blob(row, 0);
    const size_t num_bytes = (size_t)sqlite3_column_bytes(row, 0);
    rc = bytes && bloom_zone_row_unpack(bytes, num_bytes, generation->keys[key].number,
                                        (uint64_t)rowid, zones) ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
  }else if( rc==SQLITE_DONE || rc==SQLITE_ERROR ){
    rc = SQLITE_CORRUPT_VTAB;
  }
  bloom_index_statement_give_back(index, row, rc==SQLITE_OK);
  return rc;
}

/* -- Looking up ------------------------------------------------------------------------------ */

/* Returns 1 if one span of a zone meets all tests of a column: a row has one value, which lies in
** one span, for all of them. */
static int zones_pass(const bloom_zone *zone, const index_zone_test *tests, int num_tests, int key){
  int i, j;
  for(i=0; i<3; i++){
    for(j=0; j<num_tests; j++){
      if( tests[j].key==key
       && !bloom_zone_meets(&zone->spans[i], tests[j].spans, tests[j].num_spans) ) break;
    }
    if( j==num_tests ) return 1;
  }
  return 0;
}

/* Returns the first block at or behind `block` that may be added. */
static uint32_t zones_next_block(const index_block_set *within, uint32_t block){
  return within ? bloom_index_blocks_next(within, block) : block;
}

int bloom_index_zones_look_up(bloom_index *index, const index_generation *generation, int key,
                              const index_zone_test *tests, int num_tests,
                              const index_block_set *within, index_block_set *result){
  const uint32_t zone_lg = generation->zone_lg, num_spans = generation->num_spans;
  bloom_zone zones[BLOOM_ZONES_PER_ROW], entries[BLOOM_ZONES_PER_ROW];
  uint32_t row = UINT32_MAX, directory = UINT32_MAX; /* whose zones and entries these are */
  uint32_t block = 0;
  int rc = SQLITE_OK;
  assert( zone_lg<=INDEX_SPAN_LG );
  assert( within==NULL || within->num_segments==result->num_segments );
  if( index->config.keys[key].kind!=INDEX_KEY_ZONES ) return SQLITE_CORRUPT_VTAB;
  while( rc==SQLITE_OK && (block = zones_next_block(within, block))>>INDEX_SPAN_LG<num_spans ){
    const uint32_t zone = block >> zone_lg, of_row = zone >> BLOOM_ZONES_LG;
    if( directory!=of_row>>BLOOM_ZONES_LG ){
      directory = of_row >> BLOOM_ZONES_LG;
      rc = bloom_index_zones_read(index, generation, key, INDEX_ZONE_DIRECTORY, directory, entries);
    }
    if( rc==SQLITE_OK && row!=of_row ){
      if( !zones_pass(&entries[of_row & INDEX_ZONE_MASK], tests, num_tests, key) ){
        block = (of_row + 1) << (zone_lg + BLOOM_ZONES_LG);
        continue;
      }
      row = of_row;
      rc = bloom_index_zones_read(index, generation, key, INDEX_ZONES, row, zones);
    }
    if( rc==SQLITE_OK && !zones_pass(&zones[zone & INDEX_ZONE_MASK], tests, num_tests, key) ){
      block = (zone + 1) << zone_lg;
    }
    for(; block>>zone_lg==zone && rc==SQLITE_OK; block=zones_next_block(within, block + 1)){
      rc = bloom_index_blocks_add_all(result, block, block);
    }
  }
  return rc;
}

/* == Keys ============================================================================== */

/*
** The keys of values: those that a merge adds to a zone, and those that a condition asks for.
*/

/* Sets *span to the keys of a value as a text.  SQLITE_OK or SQLITE_NOMEM. */
static int zone_text(const bloom_index *index, int key, sqlite3_value *value, int is_ascii,
                     bloom_zone_span *span){
  const bloom_zone_order order = bloom_index_zone_order(index, key);
  const unsigned char *text = sqlite3_value_text(value);
  if( text==NULL ) return SQLITE_NOMEM;
  /* BINARY compares the bytes of UTF-16; other collations get UTF-8. */
  if( order==BLOOM_ZONE_BINARY && index->letter_bytes!=1 ) is_ascii = 1;
  *span = bloom_zone_of_text(text, (size_t)sqlite3_value_bytes(value), order, is_ascii);
  return SQLITE_OK;
}

/* Sets *span to the keys that a row's value adds to its zone.  A text that may be a number adds the
** keys of both; is_inexact: and of the REALs next to the number, which another SQLite may make of
** it.  SQLITE_OK or SQLITE_NOMEM. */
static int zones_span_of(const bloom_index *index, int key, sqlite3_value *value, int is_inexact,
                         bloom_zone_span *span){
  const int type = sqlite3_value_type(value);
  const double real = type==SQLITE_BLOB ? 0 : sqlite3_value_double(value);
  /* SQLite before 3.40 stores texts of an odd number of bytes, and compares the last one, which
  ** sqlite3_value_text() drops. */
  const int is_odd = type==SQLITE_TEXT && index->letter_bytes==2
    && sqlite3_value_bytes16(value)%2!=0;
  bloom_zone_span text;
  int rc;
  *span = type==SQLITE_NULL ? bloom_zone_of_null
      : bloom_zone_of_number(real, is_inexact && type==SQLITE_TEXT);
  /* LIKE 'begin%' finds BLOBs, and infinity as 'Inf', outside of the range that SQLite makes. */
  if( type==SQLITE_BLOB || is_odd ) *span = bloom_zone_everything;
  if( type==SQLITE_FLOAT && real - real!=0 ) *span = bloom_zone_hull(*span, bloom_zone_of_texts);
  if( type!=SQLITE_TEXT || is_odd ) return SQLITE_OK;
  rc = zone_text(index, key, value, 0, &text);
  if( rc==SQLITE_OK ){
    *span = bloom_text_may_be_number(value) ? bloom_zone_hull(*span, text) : text;
  }
  return rc;
}

/* -- Asking ---------------------------------------------------------------------------------- */

/* Widens the keys of a TEXT, which are in BINARY order: what NOCASE sorts above it is above the
** first key then, and what NOCASE sorts below it is below the last.  NOCASE sorts [ ] ^ _ ` and the
** backslash below letters, BINARY above capitals: the first key ends before them.  Behind a NUL
** NOCASE compares lengths. */
static void zone_widen_case(sqlite3_value *value, bloom_zone_span *span){
  const unsigned char *text = sqlite3_value_text(value);
  const size_t num_bytes = text ? (size_t)sqlite3_value_bytes(value) : 0;
  uint8_t upper[BLOOM_ZONE_TEXT_BYTES];
  size_t i;
  for(i=0; i<num_bytes && i<sizeof(upper) && (text[i]<'[' || text[i]>'`'); i++){
    upper[i] = text[i]>='a' && text[i]<='z' ? text[i] & 0xdf : text[i];
  }
  *span = bloom_zone_hull(*span, bloom_zone_of_text(upper, i, BLOOM_ZONE_BINARY, 1));
  *span = bloom_zone_hull(*span, bloom_zone_of_text(text, num_bytes, BLOOM_ZONE_NOCASE, 1));
  if( num_bytes>0 && memchr(text, 0, num_bytes) ) *span = bloom_zone_everything;
}

/* Appends what a comparison with a value asks for: at most two spans.  SQLITE_OK or
** SQLITE_NOMEM. */
static int zones_ask_value(const bloom_index *index, const index_condition *condition,
                           sqlite3_value *value, index_zone_test *test){
  const bloom_column_kind kind = index->config.keys[test->key].equality.kind;
  const int type = sqlite3_value_type(value);
  const int is_number = type==SQLITE_INTEGER || type==SQLITE_FLOAT, is_text = type==SQLITE_TEXT;
  const int is_below = condition->kind==INDEX_LT || condition->kind==INDEX_LE;
  const int is_above = condition->kind==INDEX_GT || condition->kind==INDEX_GE;
  bloom_zone_span *next = test->spans + test->num_spans, *span;
  int rc = SQLITE_OK;
  assert( type!=SQLITE_NULL && test->num_spans + 2<=test->max_spans );
  /* SQLite makes `>= '1.5e-'` of LIKE '1.5e-%', which finds numbers.  It compares a REAL as a text
  ** with as many digits as the connection has chosen, which a copy of the value does not know. */
  if( (is_text && kind!=BLOOM_COLUMN_TEXT && is_above
       && bloom_index_begins_number(sqlite3_value_text(value)))
   || (type==SQLITE_FLOAT && kind==BLOOM_COLUMN_TEXT
       && bloom_db_real_digits(index->connection->db)!=BLOOM_USUAL_REAL_DIGITS) ){
    test->spans[test->num_spans++] = bloom_zone_everything;
    return SQLITE_OK;
  }
  if( type==SQLITE_BLOB ) *next++ = bloom_zone_of_blobs;
  /* A literal TEXT has no affinity by which another column's text would be a number. */
  if( is_number
   || (is_text && !(condition->is_literal && !condition->is_list && kind!=BLOOM_COLUMN_NUMBER)
       && bloom_text_may_be_number(value)) ){
    *next++ = bloom_zone_of_number(sqlite3_value_double(value), !is_number);
  }
  /* A column of numbers makes one of a TEXT, if it can; a TEXT column makes a text of a number. */
  if( (is_text && (kind!=BLOOM_COLUMN_NUMBER || bloom_text_may_be_number(value)!=BLOOM_IS_NUMBER))
   || (is_number && kind==BLOOM_COLUMN_TEXT) ){
    sqlite3_value *copy = sqlite3_value_dup(value);
    /* LIKE 'begin%' finds ill-formed texts, too, outside of the range that SQLite makes of it. */
    rc = copy ? zone_text(index, test->key, copy, is_below || is_above, next) : SQLITE_NOMEM;
    if( rc==SQLITE_OK && sqlite3_stricmp(condition->collation, "NOCASE")==0 ){
      zone_widen_case(copy, next);
    }
    if( rc==SQLITE_OK ) next++;
    sqlite3_value_free(copy);
  }
  assert( next<=test->spans + test->max_spans );
  for(span=test->spans+test->num_spans; span<next; span++){
    if( is_below ) span->min = bloom_zone_everything.min;
    if( is_above ) span->max = bloom_zone_everything.max;
  }
  test->num_spans = (size_t)(next - test->spans);
  return rc;
}

int bloom_index_zones_test(bloom_index *index, const index_condition *condition,
                           sqlite3_value *value, const index_list *list, index_zone_test *test){
  const size_t num_values = condition->is_list ? list->num_values : 1;
  size_t i;
  int rc = SQLITE_OK;
  assert( condition->zone>=0 );
  *test = (index_zone_test){.key = condition->zone};
  for(i=0; i<num_values && rc==SQLITE_OK; i++){
    sqlite3_value *copy = NULL;
    rc = bloom_grow(&test->spans, test->num_spans + 2, &test->max_spans, sizeof(*test->spans));
    if( rc==SQLITE_OK && condition->is_list ) rc = bloom_index_value_copy(list->values[i], &copy);
    if( rc!=SQLITE_OK ) break;
    if( condition->kind==INDEX_IS_NOT_NULL ){
      test->spans[test->num_spans++] = bloom_zone_everything;
    }else if( sqlite3_value_type(copy ? copy : value)==SQLITE_NULL ){
      test->spans[test->num_spans++] = bloom_zone_of_null;
    }else{
      rc = zones_ask_value(index, condition, copy ? copy : value, test);
    }
    sqlite3_value_free(copy);
  }
  test->num_spans = bloom_zone_sort(test->spans, test->num_spans);
  return rc;
}

/* == Merging =========================================================================== */

/*
** A merge adds values to zones; 'integrity-check' looks whether zones have them.
*/

/* A row in memory. */
typedef struct merge_row {
  uint32_t number; /* UINT32_MAX: none */
  int is_changed;
  bloom_zone zones[BLOOM_ZONES_PER_ROW];
} merge_row;

struct index_zone_merge {
  bloom_index *index;
  const index_generation *generation;
  int key;
  uint32_t num_directories; /* that are on disk */
  merge_row levels[2]; /* by index_zone_level */
};

index_zone_merge *bloom_index_zones_new(bloom_index *index, const index_generation *generation,
                                        int key){
  index_zone_merge *merge = bloom_malloc_zeros(sizeof(*merge));
  assert( index->config.keys[key].kind==INDEX_KEY_ZONES );
  if( merge==NULL ) return NULL;
  merge->index = index;
  merge->generation = generation;
  merge->key = key;
  merge->num_directories = bloom_index_zones_num_directories(generation);
  merge->levels[0].number = merge->levels[1].number = UINT32_MAX;
  return merge;
}

/* Writes the row in memory, if it was changed. */
static int merge_write(index_zone_merge *merge, index_zone_level level){
  bloom_index *index = merge->index;
  merge_row *row = &merge->levels[level];
  const sqlite3_int64 rowid = zones_rowid(merge->generation->place, level, row->number);
  uint8_t bytes[BLOOM_ZONE_ROW_BYTES];
  sqlite3_stmt *statement;
  size_t num_bytes;
  int rc;
  if( !row->is_changed ) return SQLITE_OK;
  assert( row->number!=UINT32_MAX );
  num_bytes = bloom_zone_row_pack(row->zones, merge->generation->keys[merge->key].number,
                                  (uint64_t)rowid, bytes);
  rc = bloom_index_statement_take(index, INDEX_USE_BY_TEXT, &statement, "INSERT OR REPLACE INTO"
                                  " \"%w\".\"%w_zones%d\"(rowid, data) VALUES (?1, ?2)",
                                  index->schema, index->name, merge->key + 1);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(statement, 1, rowid);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(statement, 2, bytes, (int)num_bytes, SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, statement);
  bloom_index_statement_give_back(index, statement, 0);
  if( rc!=SQLITE_DONE ) return rc;
  /* A trigger on the table may keep it out: the zones of before do not have the new rows. */
  if( sqlite3_changes(index->connection->db)!=1 ){
    return bloom_fail_vtab(&index->base.zErrMsg, "bloom_index: a trigger on %s_zones%d keeps its"
                           " rows out: drop it", index->name, merge->key + 1);
  }
  row->is_changed = 0;
  return SQLITE_OK;
}

/* Writes the row of zones in memory, if it was changed, and sets its entry of the directory. */
static int merge_leave_row(index_zone_merge *merge){
  const merge_row *row = &merge->levels[INDEX_ZONES];
  merge_row *directory = &merge->levels[INDEX_ZONE_DIRECTORY];
  bloom_zone *entry = &directory->zones[row->number & INDEX_ZONE_MASK];
  bloom_zone all = bloom_zone_empty;
  uint32_t i;
  if( !row->is_changed ) return SQLITE_OK;
  assert( directory->number==row->number>>BLOOM_ZONES_LG );
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++) bloom_zone_unite(&all, &row->zones[i]);
  directory->is_changed |= memcmp(entry, &all, sizeof(all))!=0;
  *entry = all;
  return merge_write(merge, INDEX_ZONES);
}

/* Puts another row into memory; has_row: it is on disk. */
static int merge_read(index_zone_merge *merge, index_zone_level level, uint32_t number,
                      int has_row){
  merge_row *row = &merge->levels[level];
  uint32_t i;
  int rc = SQLITE_OK;
  assert( !row->is_changed );
  row->number = UINT32_MAX;
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++) row->zones[i] = bloom_zone_empty;
  if( has_row ) rc = bloom_index_zones_read(merge->index, merge->generation, merge->key, level,
                                            number, row->zones);
  if( rc==SQLITE_OK ) row->number = number;
  return rc;
}

/* Puts the row of a block's zone into memory, and its directory.  Sets *zone to the zone, and
** *entry to the row's entry.  A row is added to each new span, so no directory is left out. */
static int merge_go(index_zone_merge *merge, uint32_t block, bloom_zone **zone,
                    bloom_zone **entry){
  const uint32_t number = block >> merge->generation->zone_lg;
  const uint32_t row = number >> BLOOM_ZONES_LG, directory = row >> BLOOM_ZONES_LG;
  int rc;
  *zone = &merge->levels[INDEX_ZONES].zones[number & INDEX_ZONE_MASK];
  *entry = &merge->levels[INDEX_ZONE_DIRECTORY].zones[row & INDEX_ZONE_MASK];
  assert( directory<=merge->num_directories );
  if( merge->levels[INDEX_ZONES].number==row ) return SQLITE_OK;
  rc = merge_leave_row(merge);
  merge->levels[INDEX_ZONES].number = UINT32_MAX;
  if( rc==SQLITE_OK && merge->levels[INDEX_ZONE_DIRECTORY].number!=directory ){
    rc = merge_write(merge, INDEX_ZONE_DIRECTORY);
    if( rc==SQLITE_OK ) rc = merge_read(merge, INDEX_ZONE_DIRECTORY, directory,
                                        directory<merge->num_directories);
    if( directory>=merge->num_directories ) merge->num_directories = directory + 1;
  }
  return rc==SQLITE_OK ? merge_read(merge, INDEX_ZONES, row, bloom_zone_is_there(*entry)) : rc;
}

int bloom_index_zones_add(index_zone_merge *merge, uint32_t block, sqlite3_value *value,
                          int *is_found){
  bloom_zone_span span;
  bloom_zone *zone, *entry;
  int rc = zones_span_of(merge->index, merge->key, value, is_found==NULL, &span);
  if( rc==SQLITE_OK ) rc = merge_go(merge, block, &zone, &entry);
  if( rc!=SQLITE_OK ) return rc;
  if( is_found ){
    *is_found = bloom_zone_has(zone, &span) && bloom_zone_has(entry, &span);
  }else{
    /* A merge that stopped half-way may have written the row, and not the directory. */
    merge->levels[INDEX_ZONES].is_changed |= bloom_zone_add(zone, span)
      || !bloom_zone_has(entry, &span);
    assert( bloom_zone_has(zone, &span) );
  }
  return SQLITE_OK;
}

int bloom_index_zones_write(index_zone_merge *merge){
  int rc = merge_leave_row(merge);
  if( rc==SQLITE_OK ) rc = merge_write(merge, INDEX_ZONE_DIRECTORY);
  assert( rc!=SQLITE_OK || !(merge->levels[0].is_changed || merge->levels[1].is_changed) );
  return rc;
}

int bloom_index_zones_delete(bloom_index *index, int key, uint32_t place){
  return bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_zones%d\" WHERE rowid BETWEEN"
                       " %lld AND %lld", index->schema, index->name, key + 1,
                       zones_rowid(place, INDEX_ZONES, 0),
                       zones_rowid(place, INDEX_ZONE_DIRECTORY, UINT32_MAX));
}
