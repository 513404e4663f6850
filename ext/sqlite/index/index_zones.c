/*
** Zones of the columns with RANGE: where they are, and asking them.
**
** A zone is the least and the greatest values of the rows in 2^z blocks whose numbers follow each
** other; z is the generation's, and a zone lies within a span.  So the zone of a row is found by
** the row's block, whatever the order in which rows come.
**
** NAME_zonesN(data BLOB) of such a column has a row for 32 zones that have a row of the source,
** and a directory for each 32 of these, with or without: an entry is the union of a row's zones,
** and empty where there is no row.  The rowid is (2*place + level) * 2^32 + number; row or entry n
** is that of zones, or rows, 32n and up.  ../../core/entries/zone.c has the bytes.
**
** As long as a layout names them zones and directories only grow, and the directory is written
** after its rows: whatever a merge that stops half-way leaves is no less than there was.  How many
** directories there are follows from the number of spans, so a row that is missing is damage.  What
** lies behind is not looked at.
*/
#include "index_values.h"

#include <string.h>

/* Spans are numbered one after the other, and so are directories if none is less than a span. */
_Static_assert(2*BLOOM_ZONES_LG>=INDEX_SPAN_LG, "a directory has whole spans");

/* -- Rows ------------------------------------------------------------------------------------ */

/* Returns the rowid of a row of a generation that has a place. */
static sqlite3_int64 zones_rowid(uint32_t place, index_zone_level level, uint32_t number){
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
  int rc = bloom_index_fixed_take(index, INDEX_FIXED_ENTRIES + key, &row, "SELECT z.data FROM"
                                  " \"%w\".\"%w_zones%d\" AS z WHERE z.rowid = ?1", index->schema,
                                  index->name, key + 1);
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
  bloom_index_fixed_give_back(index, INDEX_FIXED_ENTRIES + key, rc==SQLITE_OK);
  return rc;
}

/* -- Asking ---------------------------------------------------------------------------------- */

/* Appends what one value asks for. */
static int zones_add_asked(const bloom_index *index, index_zone_test *test,
                           index_condition condition, sqlite3_value *value){
  bloom_zone_operator comparison = BLOOM_ZONE_EQUAL;
  size_t num_spans = 0;
  int rc;
  if( condition.kind==INDEX_LT || condition.kind==INDEX_LE ) comparison = BLOOM_ZONE_BELOW;
  if( condition.kind==INDEX_GT || condition.kind==INDEX_GE ) comparison = BLOOM_ZONE_ABOVE;
  rc = bloom_grow(&test->spans, test->num_spans + 3, &test->max_spans, sizeof(*test->spans));
  if( rc!=SQLITE_OK ) return rc;
  if( condition.kind==INDEX_IS_NOT_NULL ){
    test->spans[test->num_spans++] = bloom_zone_everything();
    return SQLITE_OK;
  }
  rc = bloom_index_kinds[condition.kind].is_pattern
    ? bloom_index_zone_spans_of_pattern(index, test->key, condition.kind, value,
                                        test->spans + test->num_spans, &num_spans)
    : bloom_index_zone_spans_asked(index, test->key, comparison, value,
                                   condition.is_literal && !condition.is_list,
                                   sqlite3_stricmp(condition.collation, "NOCASE")==0,
                                   test->spans + test->num_spans, &num_spans);
  test->num_spans += num_spans;
  return rc;
}

int bloom_index_zones_test(bloom_index *index, index_condition condition, sqlite3_value *value,
                           const index_list *list, index_zone_test *test){
  size_t i;
  int rc = bloom_index_learn_encoding(index);
  *test = (index_zone_test){.key = condition.zone};
  test->asks_null = condition.kind==INDEX_IS_NULL
    || (condition.kind==INDEX_IS && !condition.is_list && sqlite3_value_type(value)==SQLITE_NULL);
  if( test->asks_null ) return rc;
  if( rc==SQLITE_OK && !condition.is_list ) rc = zones_add_asked(index, test, condition, value);
  for(i=0; condition.is_list && rc==SQLITE_OK && i<list->num_values; i++){
    sqlite3_value *copy;
    rc = bloom_index_list_value(list, i, &copy);
    if( rc==SQLITE_OK ) rc = zones_add_asked(index, test, condition, copy);
    sqlite3_value_free(copy);
  }
  test->num_spans = bloom_zone_sort(test->spans, test->num_spans);
  return rc;
}

/* Returns 1 if one span of a zone, or NULL, meets all tests of its column: a row has one value for
** all of them. */
static int zones_pass(const bloom_zone *zone, const index_zone_test *tests, int num_tests, int key){
  int half, i;
  for(half=0; half<(zone->has_null ? 3 : 2); half++){
    for(i=0; i<num_tests; i++){
      if( tests[i].key!=key ) continue;
      if( half==2 ? !tests[i].asks_null
         : !bloom_zone_meets(&zone->spans[half], tests[i].spans, tests[i].num_spans) ) break;
    }
    if( i==num_tests ) return 1;
  }
  return 0;
}

/* What is looked for. */
typedef struct zones_search {
  bloom_index *index;
  const index_generation *generation;
  int key;
  const index_zone_test *tests;
  int num_tests;
  const index_block_set *within;
  index_block_set *result;
  uint32_t end_block; /* of the generation */
  bloom_zone zones[BLOOM_ZONES_PER_ROW], entries[BLOOM_ZONES_PER_ROW];
} zones_search;

/* Returns the first block at or behind one that matters. */
static uint32_t zones_next_block(const zones_search *search, uint32_t block){
  return search->within ? bloom_index_blocks_next(search->within, block) : block;
}

/* Returns 1 if a zone or an entry of blocks first .. last has what is looked for. */
static int zones_match(const zones_search *search, const bloom_zone *zone, uint32_t first,
                       uint32_t last){
  return first<search->end_block && zones_pass(zone, search->tests, search->num_tests, search->key)
      && zones_next_block(search, first)<=last;
}

/* Adds the blocks of a row's zones. */
static int zones_search_row(zones_search *search, uint32_t number){
  const uint32_t blocks_lg = search->generation->zone_lg;
  uint32_t i;
  int rc = bloom_index_zones_read(search->index, search->generation, search->key, INDEX_ZONES,
                                  number, search->zones);
  for(i=0; i<BLOOM_ZONES_PER_ROW && rc==SQLITE_OK; i++){
    const uint32_t first = (number*BLOOM_ZONES_PER_ROW + i) << blocks_lg;
    const uint32_t last = first + (1u << blocks_lg) - 1;
    if( zones_match(search, &search->zones[i], first, last) ){
      rc = bloom_index_blocks_add_all(search->result, first, last);
    }
  }
  return rc;
}

/* Adds the blocks of a directory's rows. */
static int zones_search_directory(zones_search *search, uint32_t number){
  const uint32_t blocks_lg = search->generation->zone_lg + BLOOM_ZONES_LG;
  uint32_t i;
  int rc = bloom_index_zones_read(search->index, search->generation, search->key,
                                  INDEX_ZONE_DIRECTORY, number, search->entries);
  for(i=0; i<BLOOM_ZONES_PER_ROW && rc==SQLITE_OK; i++){
    const uint32_t row = number*BLOOM_ZONES_PER_ROW + i;
    const uint32_t first = row << blocks_lg;
    if( zones_match(search, &search->entries[i], first, first + (1u << blocks_lg) - 1) ){
      rc = zones_search_row(search, row);
    }
  }
  return rc;
}

int bloom_index_zones_look_up(bloom_index *index, const index_generation *generation, int key,
                              const index_zone_test *tests, int num_tests,
                              const index_block_set *within, index_block_set *result){
  const uint32_t blocks_lg = generation->zone_lg + 2*BLOOM_ZONES_LG;
  zones_search *search = sqlite3_malloc64(sizeof(*search));
  uint32_t block = 0;
  int rc = search ? SQLITE_OK : SQLITE_NOMEM;
  assert( index->config.keys[key].is_range && generation->zone_lg<=INDEX_SPAN_LG );
  if( search ){
    *search = (zones_search){.index = index, .generation = generation, .key = key, .tests = tests,
                             .num_tests = num_tests, .within = within, .result = result,
                             .end_block = generation->num_spans << INDEX_SPAN_LG};
  }
  while( rc==SQLITE_OK && (block = zones_next_block(search, block))<search->end_block ){
    rc = zones_search_directory(search, block >> blocks_lg);
    block = ((block >> blocks_lg) + 1) << blocks_lg;
  }
  sqlite3_free(search);
  return rc;
}

/* == Keys ============================================================================== */

/*
** The keys of values in zones: by which a row is in its zone, and by which conditions ask.
*/

int bloom_index_learn_encoding(bloom_index *index){
  return index->letter_bytes ? SQLITE_OK
      : bloom_sql_integer(index->connection, &index->letter_bytes,
                          "SELECT 1 + (CAST('a' AS BLOB) <> x'61')");
}

/* Sets *is_odd to whether a TEXT has an odd number of bytes in a database of UTF-16, as SQLite
** before 3.40 stores them: it compares the last one, which conversions lose. */
static int zone_find_odd(const bloom_index *index, sqlite3_value *value, int *is_odd){
  const void *bytes = sqlite3_value_blob(value);
  const int num_bytes = sqlite3_value_bytes(value); /* of the BLOB, so as many as there are */
  const unsigned char *text;
  sqlite3_value *copy;
  *is_odd = 0;
  if( index->letter_bytes!=2 || num_bytes % 2==0 ) return SQLITE_OK;
  copy = sqlite3_value_dup(value);
  text = copy ? sqlite3_value_text(copy) : NULL;
  /* One that is in UTF-8 by now stays as it is. */
  *is_odd = text && (sqlite3_value_bytes(copy)!=num_bytes
                     || memcmp(text, bytes, (size_t)num_bytes)!=0);
  sqlite3_value_free(copy);
  return text ? SQLITE_OK : SQLITE_NOMEM;
}

/* Sets *span to the keys of a TEXT as a text.  SQLITE_OK or SQLITE_NOMEM. */
static int zone_text(const bloom_index *index, int key, sqlite3_value *value, int is_ascii,
                     bloom_zone_span *span){
  const bloom_collation collation = index->config.keys[key].equality.collation;
  const bloom_zone_order order = collation==BLOOM_COLLATION_NOCASE ? BLOOM_ZONE_NOCASE
      : collation==BLOOM_COLLATION_RTRIM ? BLOOM_ZONE_RTRIM : BLOOM_ZONE_BINARY;
  const unsigned char *text;
  int is_odd;
  const int rc = zone_find_odd(index, value, &is_odd);
  *span = bloom_zone_everything();
  if( rc!=SQLITE_OK || is_odd ) return rc;
  text = sqlite3_value_text(value);
  if( text==NULL ) return SQLITE_NOMEM;
  /* BINARY compares the bytes of UTF-16; other collations get UTF-8. */
  if( order==BLOOM_ZONE_BINARY && index->letter_bytes!=1 ) is_ascii = 1;
  *span = bloom_zone_of_text(text, (size_t)sqlite3_value_bytes(value), order, is_ascii);
  return SQLITE_OK;
}

int bloom_index_zone_span_of(const bloom_index *index, int key, sqlite3_value *value,
                             int is_inexact, bloom_zone_span *span){
  const int type = sqlite3_value_type(value);
  const double real = type==SQLITE_BLOB ? 0 : sqlite3_value_double(value);
  int rc = SQLITE_OK;
  *span = type==SQLITE_NULL ? bloom_zone_nothing()
      : bloom_zone_of_number(real, is_inexact && type==SQLITE_TEXT);
  /* LIKE finds a BLOB, and infinity as 'Inf', by ranges that they are not in. */
  if( type==SQLITE_BLOB ) *span = bloom_zone_everything();
  if( type==SQLITE_FLOAT && real - real!=0 ) *span = bloom_zone_hull(*span, bloom_zone_all_texts());
  if( type==SQLITE_TEXT ){
    bloom_zone_span text;
    rc = zone_text(index, key, value, 0, &text);
    if( rc==SQLITE_OK ){
      *span = bloom_text_may_be_number(value) ? bloom_zone_hull(*span, text) : text;
    }
  }
  return rc;
}

/* Sets *is_beginning to whether numbers are found above a text as well: SQLite makes `>= '1.5e-'`
** of LIKE '1.5e-%'.   SQLITE_OK or SQLITE_NOMEM. */
static int zone_begins_number(bloom_zone_operator comparison, sqlite3_value *value,
                              int *is_beginning){
  sqlite3_value *copy;
  const unsigned char *text;
  *is_beginning = 0;
  if( comparison!=BLOOM_ZONE_ABOVE || sqlite3_value_type(value)!=SQLITE_TEXT ) return SQLITE_OK;
  copy = sqlite3_value_dup(value);
  text = copy ? sqlite3_value_text(copy) : NULL;
  *is_beginning = text && bloom_index_begins_number(text);
  sqlite3_value_free(copy);
  return text ? SQLITE_OK : SQLITE_NOMEM;
}

/* Returns the keys of texts that begin with bytes between those of first and those of last. */
static bloom_zone_span zone_of_beginnings(const uint8_t *first, const uint8_t *last,
                                          size_t num_bytes){
  uint8_t text[BLOOM_ZONE_TEXT_BYTES + 1];
  bloom_zone_span span = bloom_zone_of_text(first, num_bytes, BLOOM_ZONE_BINARY, 0);
  memcpy(text, last, num_bytes);
  text[num_bytes] = 0x80; /* all that may stand there */
  span.max = bloom_zone_of_text(text, num_bytes + 1, BLOOM_ZONE_BINARY, 1).max;
  return span;
}

int bloom_index_zone_spans_of_pattern(const bloom_index *index, int key, index_condition_kind kind,
                                      sqlite3_value *value, bloom_zone_span *spans,
                                      size_t *num_spans){
  const bloom_equality equality = index->config.keys[key].equality;
  sqlite3_value *copy = sqlite3_value_dup(value);
  const unsigned char *text = copy ? sqlite3_value_text(copy) : NULL;
  uint8_t upper[BLOOM_ZONE_TEXT_BYTES], lower[BLOOM_ZONE_TEXT_BYTES];
  size_t i, num_bytes = text ? bloom_index_like_beginning(kind, text) : 0;
  const int rc = text ? SQLITE_OK : SQLITE_NOMEM;
  *num_spans = 0;
  if( num_bytes>sizeof(upper) ) num_bytes = sizeof(upper);
  for(i=0; i<num_bytes; i++){
    const int is_letter = (text[i] | 0x20)>='a' && (text[i] | 0x20)<='z';
    const int is_any_case = is_letter && kind==INDEX_LIKE;
    const int is_folded = is_letter && equality.collation==BLOOM_COLLATION_NOCASE;
    upper[i] = is_folded ? text[i] | 0x20 : is_any_case ? text[i] & 0xdf : text[i];
    lower[i] = is_folded || is_any_case ? text[i] | 0x20 : text[i];
  }
  /* Other types become texts, of which digits, signs and infinity are numbers'. */
  if( num_bytes==0 || sqlite3_value_type(value)!=SQLITE_TEXT ){
    spans[(*num_spans)++] = bloom_zone_everything();
  }else if( equality.kind!=BLOOM_COLUMN_TEXT && strchr("-0123456789Ii", text[0]) ){
    spans[(*num_spans)++] = bloom_zone_hull(bloom_zone_of_number(-1e300*1e300, 1),
                                            bloom_zone_of_number(1e300*1e300, 1));
  }
  if( equality.collation==BLOOM_COLLATION_RTRIM ){
    while( num_bytes>0 && upper[num_bytes-1]==' ' ) num_bytes--;
  }
  spans[(*num_spans)++] = zone_of_beginnings(upper, lower, num_bytes);
  /* Between those that begin with an upper and with a lower letter are many others. */
  if( num_bytes>0 && upper[0]!=lower[0] ){
    const uint8_t first = upper[0];
    upper[0] = lower[0];
    spans[*num_spans - 1] = zone_of_beginnings(upper, lower, num_bytes);
    upper[0] = lower[0] = first;
    spans[(*num_spans)++] = zone_of_beginnings(upper, lower, num_bytes);
  }
  sqlite3_value_free(copy);
  return rc;
}

/* Widens the keys of a TEXT by BINARY, so that what NOCASE has above it is above the first of them,
** and what it has below it is below the last.  NOCASE has [ ] ^ _ ` and the backslash below each
** letter, BINARY above capitals: there the first ends.  Behind a NUL NOCASE compares lengths. */
static void zone_widen_case(sqlite3_value *value, bloom_zone_span *span){
  const unsigned char *text = sqlite3_value_text(value);
  const size_t num_bytes = text ? (size_t)sqlite3_value_bytes(value) : 0;
  uint8_t upper[BLOOM_ZONE_TEXT_BYTES], lower[BLOOM_ZONE_TEXT_BYTES];
  size_t num_upper = 0, num_lower = 0;
  while( num_lower<num_bytes && num_lower<sizeof(lower) ){
    const uint8_t byte = text[num_lower], letter = byte | 0x20;
    const int is_letter = letter>='a' && letter<='z';
    if( num_upper==num_lower && byte && (is_letter || byte<'[' || byte>'`') ){
      upper[num_upper++] = is_letter ? byte & 0xdf : byte;
    }
    lower[num_lower++] = byte==0 ? 0x80 : is_letter ? letter : byte;
    if( byte==0 ) break;
  }
  *span = bloom_zone_hull(*span, bloom_zone_of_text(upper, num_upper, BLOOM_ZONE_BINARY, 1));
  *span = bloom_zone_hull(*span, bloom_zone_of_text(lower, num_lower, BLOOM_ZONE_BINARY, 1));
}

int bloom_index_zone_spans_asked(const bloom_index *index, int key, bloom_zone_operator comparison,
                                 sqlite3_value *value, int is_literal, int is_nocase,
                                 bloom_zone_span *spans, size_t *num_spans){
  const bloom_column_kind kind = index->config.keys[key].equality.kind;
  const int type = sqlite3_value_type(value);
  const int is_number = type==SQLITE_INTEGER || type==SQLITE_FLOAT;
  size_t i, num = 0;
  int is_beginning = 0;
  int rc = kind==BLOOM_COLUMN_TEXT ? SQLITE_OK
    : zone_begins_number(comparison, value, &is_beginning);
  *num_spans = 0;
  if( rc!=SQLITE_OK ) return rc;
  if( is_beginning
   || (type==SQLITE_FLOAT && kind==BLOOM_COLUMN_TEXT
       && bloom_db_real_digits(index->connection->db)!=BLOOM_USUAL_REAL_DIGITS) ){
    /* Of such a REAL SQLite compares a text with the connection's digits; a copy has none. */
    spans[0] = bloom_zone_everything();
    *num_spans = 1;
    return SQLITE_OK;
  }
  if( type==SQLITE_BLOB ) spans[num++] = bloom_zone_of_blob();
  /* A literal TEXT has no affinity by which another column's text would be a number. */
  if( is_number
   || (type==SQLITE_TEXT && !(is_literal && kind!=BLOOM_COLUMN_NUMBER)
       && bloom_text_may_be_number(value)) ){
    spans[num++] = bloom_zone_of_number(sqlite3_value_double(value), !is_number);
  }
  /* A column of numbers makes one of a TEXT, if it can; a TEXT column makes a text of a number. */
  if( (type==SQLITE_TEXT && (kind!=BLOOM_COLUMN_NUMBER || !bloom_text_is_number(value)))
   || (is_number && kind==BLOOM_COLUMN_TEXT) ){
    sqlite3_value *copy = sqlite3_value_dup(value);
    /* SQLite makes ranges of LIKE 'begin%', which finds ill-formed texts that are not in them. */
    rc = copy ? zone_text(index, key, copy, comparison!=BLOOM_ZONE_EQUAL, &spans[num++])
        : SQLITE_NOMEM;
    if( rc==SQLITE_OK && is_nocase ) zone_widen_case(copy, &spans[num-1]);
    sqlite3_value_free(copy);
  }
  for(i=0; i<num && rc==SQLITE_OK; i++) spans[i] = bloom_zone_asked(comparison, spans[i]);
  *num_spans = num;
  return rc;
}

/* == Merging =========================================================================== */

/*
** Widening zones, and looking whether values are in theirs.
*/

/* A row at hand. */
typedef struct merge_zones {
  uint32_t number; /* UINT32_MAX: none is at hand */
  int is_changed;
  bloom_zone zones[BLOOM_ZONES_PER_ROW];
} merge_zones;

struct index_zone_merge {
  bloom_index *index;
  const index_generation *generation;
  int key;
  uint32_t num_directories; /* that are on disk */
  sqlite3_stmt *write;
  merge_zones directory, row;
};

int bloom_index_zones_start(bloom_index *index, const index_generation *generation, int key,
                            index_zone_merge **result){
  index_zone_merge *merge = sqlite3_malloc64(sizeof(*merge));
  assert( index->config.keys[key].is_range );
  *result = merge;
  if( merge==NULL ) return SQLITE_NOMEM;
  merge->index = index;
  merge->generation = generation;
  merge->key = key;
  merge->num_directories = bloom_index_zones_num_directories(generation);
  merge->write = NULL;
  merge->directory.number = merge->row.number = UINT32_MAX;
  merge->directory.is_changed = merge->row.is_changed = 0;
  return bloom_index_learn_encoding(index);
}

void bloom_index_zones_free(index_zone_merge *merge){
  if( merge ) sqlite3_finalize(merge->write);
  sqlite3_free(merge);
}

/* Compares a row with what is stored: a trigger on the table may have kept it out, and old zones
** lose rows. */
static int merge_compare_stored(const index_zone_merge *merge, sqlite3_int64 rowid,
                                const uint8_t *bytes, size_t num_bytes){
  bloom_index *index = merge->index;
  char *table = sqlite3_mprintf("%s_zones%d", index->name, merge->key + 1);
  const bloom_blob_place place = {index->connection->db, index->schema, table, "data"};
  uint8_t stored[BLOOM_ZONE_ROW_BYTES];
  sqlite3_blob *blob = NULL;
  int rc = table ? bloom_blob_open_any(place, rowid, 0, &blob) : SQLITE_NOMEM;
  if( rc==SQLITE_OK && (size_t)sqlite3_blob_bytes(blob)!=num_bytes ) rc = SQLITE_ERROR;
  if( rc==SQLITE_OK ) rc = sqlite3_blob_read(blob, stored, (int)num_bytes, 0);
  if( rc==SQLITE_OK && memcmp(stored, bytes, num_bytes)!=0 ) rc = SQLITE_ERROR;
  if( rc==SQLITE_ERROR ){
    sqlite3_free(index->base.zErrMsg);
    index->base.zErrMsg = sqlite3_mprintf("bloom_index: a trigger on %s keeps its rows out: drop"
                                          " it",
                                          table);
  }
  sqlite3_blob_close(blob);
  sqlite3_free(table);
  return rc;
}

/* Writes a row, if it was changed. */
static int merge_write(index_zone_merge *merge, merge_zones *row, index_zone_level level){
  bloom_index *index = merge->index;
  const sqlite3_int64 rowid = zones_rowid(merge->generation->place, level, row->number);
  uint8_t bytes[BLOOM_ZONE_ROW_BYTES];
  size_t num_bytes;
  int rc = SQLITE_OK;
  if( !row->is_changed ) return SQLITE_OK;
  assert( row->number!=UINT32_MAX );
  num_bytes = bloom_zone_row_pack(row->zones, merge->generation->keys[merge->key].number,
                                  (uint64_t)rowid, bytes);
  if( merge->write==NULL ){
    rc = bloom_sql_prepare(index->connection, &merge->write,
                           "INSERT OR REPLACE INTO \"%w\".\"%w_zones%d\"(rowid, data) VALUES"
                           " (?1, ?2)", index->schema, index->name, merge->key + 1);
  }
  if( rc==SQLITE_OK ) rc = sqlite3_bind_int64(merge->write, 1, rowid);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(merge->write, 2, bytes, (int)num_bytes, SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, merge->write);
  if( rc==SQLITE_DONE ) rc = sqlite3_reset(merge->write);
  if( rc==SQLITE_OK ) rc = merge_compare_stored(merge, rowid, bytes, num_bytes);
  if( rc==SQLITE_OK ) row->is_changed = 0;
  return rc;
}

/* Writes the row at hand, and makes its entry of the directory. */
static int merge_leave_row(index_zone_merge *merge){
  merge_zones *row = &merge->row;
  bloom_zone *entry = &merge->directory.zones[row->number & INDEX_ZONE_MASK];
  bloom_zone all = bloom_zone_empty();
  uint32_t i;
  if( !row->is_changed ) return SQLITE_OK;
  assert( merge->directory.number==row->number>>BLOOM_ZONES_LG );
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++) bloom_zone_unite(&all, &row->zones[i]);
  merge->directory.is_changed |= memcmp(entry, &all, sizeof(all))!=0;
  *entry = all;
  return merge_write(merge, row, INDEX_ZONES);
}

/* Goes to another row; has_row: it is on disk. */
static int merge_read(index_zone_merge *merge, merge_zones *row, index_zone_level level,
                      uint32_t number, int has_row){
  uint32_t i;
  int rc = SQLITE_OK;
  row->number = UINT32_MAX;
  for(i=0; i<BLOOM_ZONES_PER_ROW; i++) row->zones[i] = bloom_zone_empty();
  if( has_row ) rc = bloom_index_zones_read(merge->index, merge->generation, merge->key, level,
                                            number, row->zones);
  if( rc==SQLITE_OK ) row->number = number;
  return rc;
}

/* Sets *zone to that of a block, and *entry to its row's in the directory; the row is at hand
** then. */
static int merge_go(index_zone_merge *merge, uint32_t block, bloom_zone **zone,
                    bloom_zone **entry){
  const uint32_t number = block >> merge->generation->zone_lg;
  const uint32_t row = number >> BLOOM_ZONES_LG, directory = row >> BLOOM_ZONES_LG;
  int rc = SQLITE_OK;
  *zone = &merge->row.zones[number & INDEX_ZONE_MASK];
  *entry = &merge->directory.zones[row & INDEX_ZONE_MASK];
  if( merge->row.number==row ) return SQLITE_OK;
  rc = merge_leave_row(merge);
  merge->row.number = UINT32_MAX;
  if( rc==SQLITE_OK && merge->directory.number!=directory ){
    rc = merge_write(merge, &merge->directory, INDEX_ZONE_DIRECTORY);
    if( rc==SQLITE_OK ) rc = merge_read(merge, &merge->directory, INDEX_ZONE_DIRECTORY, directory,
                                        directory<merge->num_directories);
    if( directory>=merge->num_directories ) merge->num_directories = directory + 1;
  }
  if( rc!=SQLITE_OK ) return rc;
  return merge_read(merge, &merge->row, INDEX_ZONES, row, bloom_zone_is_there(*entry));
}

int bloom_index_zones_add(index_zone_merge *merge, uint32_t block, sqlite3_value *value){
  bloom_zone_span span;
  bloom_zone *zone, *entry;
  int rc = bloom_index_zone_span_of(merge->index, merge->key, value, 1, &span);
  if( rc==SQLITE_OK ) rc = merge_go(merge, block, &zone, &entry);
  if( rc!=SQLITE_OK ) return rc;
  merge->row.is_changed |= bloom_zone_add(zone, span);
  /* A merge that stopped half-way wrote rows, and perhaps not the directory. */
  merge->row.is_changed |= !bloom_zone_has(entry, &span);
  return SQLITE_OK;
}

int bloom_index_zones_write(index_zone_merge *merge){
  const int rc = merge_leave_row(merge);
  return rc==SQLITE_OK ? merge_write(merge, &merge->directory, INDEX_ZONE_DIRECTORY) : rc;
}

int bloom_index_zones_delete(bloom_index *index, int key, uint32_t place){
  return bloom_sql_run(index->connection, "DELETE FROM \"%w\".\"%w_zones%d\" WHERE rowid BETWEEN"
                       " %lld AND %lld", index->schema, index->name, key + 1,
                       zones_rowid(place, INDEX_ZONES, 0),
                       zones_rowid(place, INDEX_ZONE_DIRECTORY, UINT32_MAX));
}

int bloom_index_zones_check(index_zone_merge *merge, uint32_t block, sqlite3_value *value,
                            int *is_found){
  bloom_zone_span span;
  bloom_zone *zone, *entry;
  int rc = bloom_index_zone_span_of(merge->index, merge->key, value, 0, &span);
  if( rc==SQLITE_OK ) rc = merge_go(merge, block, &zone, &entry);
  if( rc==SQLITE_OK ) *is_found = bloom_zone_has(zone, &span) && bloom_zone_has(entry, &span);
  return rc;
}
