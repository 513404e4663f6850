/*
** LIKE and GLOB: the pieces of a text, and those that a pattern needs.
**
** core/signature has what a piece is and how many bits it has.  Here are the values: a TEXT
** has pieces, an INTEGER those of its digits, NULL matches nothing, and of REALs and BLOBs blocks
** say nothing, so that they are always read: a REAL's text depends on SQLite's version.
*/
#include "index_like.h"
#include "index_source.h"

#include <string.h>

#include "../../core/signature/pattern.h"
#include "../../core/signature/weights.h"

/* Texts of about so many blocks are enough to learn from. */
#define INDEX_LESSON_CHUNKS 512
#define INDEX_LESSON_PLACES 64

/* The bytes of the row of weights, which like those of all rows are a multiple of 1,008. */
#define WEIGHTS_ROW_BYTES 33264

/* -- Weights ----------------------------------------------------------------------------- */

int bloom_index_weights_read(const bloom_index *index, int key, uint8_t **weights){
  *weights = NULL;
  if( !index->config.keys[key].is_like ) return SQLITE_OK;
  *weights = sqlite3_malloc64(BLOOM_WEIGHTS_BYTES);
  if( *weights==NULL ) return SQLITE_NOMEM;
  return bloom_index_row_read(index, key, INDEX_ROW_OF_WEIGHTS, *weights, BLOOM_WEIGHTS_BYTES);
}

int bloom_index_weights_are_untaught(const bloom_index *index, int *are_untaught){
  int i, rc = SQLITE_OK;
  size_t j;
  *are_untaught = 0;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    uint8_t *bytes;
    rc = bloom_index_weights_read(index, i, &bytes);
    if( rc==SQLITE_OK && bytes ){
      for(j=1; j<BLOOM_WEIGHTS_BYTES && bytes[j]==bytes[0]; j++){}
      *are_untaught |= j==BLOOM_WEIGHTS_BYTES;
    }
    sqlite3_free(bytes);
  }
  return rc;
}

static void lesson_add_text(bloom_lesson *lesson, sqlite3_value *value){
  const uint8_t *text = sqlite3_value_text(value);
  const size_t num_bytes = text ? (size_t)sqlite3_value_bytes(value) : 0;
  uint64_t hashes[BLOOM_PIECES_ROOM];
  bloom_pieces pieces;
  size_t num_hashes;
  bloom_pieces_begin(&pieces, text, num_bytes);
  while( (num_hashes = bloom_pieces_next(&pieces, hashes))>0 ){
    bloom_lesson_add(lesson, hashes, num_hashes);
  }
  bloom_lesson_end_row(lesson, num_bytes);
}

/* Counts the pieces of a sample: rows from places that are spread over the ids, as texts at
** the beginning of a table may be unlike those at its end. */
static int lesson_read(bloom_index *index, int key, bloom_lesson *lesson){
  const char *id = index->columns.id_name;
  sqlite3_str *sql;
  sqlite3_stmt *rows = NULL;
  sqlite3_int64 first = 0, last = 0;
  uint64_t step;
  uint32_t i;
  int rc = bloom_index_source_ids(index, &first, &last);
  if( rc!=SQLITE_OK ) return rc;
  step = ((uint64_t)last - (uint64_t)first) / INDEX_LESSON_PLACES;
  sql = sqlite3_str_new(index->connection->db);
  sqlite3_str_appendall(sql, "SELECT ");
  bloom_index_append_key(index, sql, key);
  sqlite3_str_appendf(sql, " FROM " INDEX_SOURCE " NOT INDEXED WHERE x.\"%w\" BETWEEN ?1 AND ?2"
                      " ORDER BY x.\"%w\"", index->schema, index->source_name, id, id);
  rc = bloom_sql_prepare_text(index->connection, &rows, sqlite3_str_finish(sql));
  for(i=0; i<INDEX_LESSON_PLACES && rc==SQLITE_OK; i++){
    const uint64_t from = (uint64_t)first + i*step;
    const uint64_t to = i+1<INDEX_LESSON_PLACES ? from + step - (step>0) : (uint64_t)last;
    const uint32_t max_chunks = lesson->num_chunks + INDEX_LESSON_CHUNKS/INDEX_LESSON_PLACES;
    if( step==0 && i+1<INDEX_LESSON_PLACES ) continue;
    sqlite3_bind_int64(rows, 1, (sqlite3_int64)from);
    sqlite3_bind_int64(rows, 2, (sqlite3_int64)to);
    while( lesson->num_chunks<=max_chunks
          && (rc = bloom_sql_step(index->connection, rows))==SQLITE_ROW ){
      sqlite3_value *value = sqlite3_column_value(rows, 0);
      if( sqlite3_value_type(value)==SQLITE_TEXT ) lesson_add_text(lesson, value);
      rc = SQLITE_OK;
    }
    if( rc==SQLITE_DONE ) rc = SQLITE_OK;
    sqlite3_reset(rows);
  }
  sqlite3_finalize(rows);
  return rc;
}

/* Learns the weights of one column and writes them. */
static int weights_learn_key(bloom_index *index, int key, bloom_lesson *lesson, uint8_t *bytes){
  sqlite3_stmt *write = NULL;
  int rc;
  bloom_lesson_begin(lesson, index_block_bits(index, key));
  rc = lesson_read(index, key, lesson);
  if( rc!=SQLITE_OK ) return rc;
  bloom_lesson_finish(lesson, bytes);
  rc = bloom_index_row_write(index, key, &write, INDEX_ROW_OF_WEIGHTS, bytes, WEIGHTS_ROW_BYTES);
  sqlite3_finalize(write);
  return rc;
}

int bloom_index_weights_learn(bloom_index *index){
  bloom_lesson *lesson = NULL;
  uint8_t *bytes = NULL;
  int i, rc = SQLITE_OK;
  for(i=0; i<index->config.num_keys && rc==SQLITE_OK; i++){
    if( !index->config.keys[i].is_like ) continue;
    if( lesson==NULL ) lesson = sqlite3_malloc64(sizeof(*lesson));
    if( bytes==NULL ) bytes = sqlite3_malloc64(WEIGHTS_ROW_BYTES);
    if( bytes ) memset(bytes, 0, WEIGHTS_ROW_BYTES);
    rc = lesson && bytes ? weights_learn_key(index, i, lesson, bytes) : SQLITE_NOMEM;
  }
  sqlite3_free(lesson);
  sqlite3_free(bytes);
  return rc;
}

/* -- Texts ------------------------------------------------------------------------------- */

int bloom_index_like_is_silent(sqlite3_value *value){
  const int type = sqlite3_value_type(value);
  return type==SQLITE_FLOAT || type==SQLITE_BLOB;
}

void bloom_index_like_add(const index_key *key, const uint8_t *weights, sqlite3_value *value,
                          bloom_block *block){
  const int type = sqlite3_value_type(value);
  const uint8_t *text = NULL, *end;
  char digits[24];
  uint64_t hashes[BLOOM_PIECES_ROOM];
  bloom_pieces pieces;
  if( type==SQLITE_NULL ) return;
  if( type==SQLITE_TEXT ) text = sqlite3_value_text(value);
  if( type==SQLITE_INTEGER ) text = (const uint8_t *)sqlite3_snprintf(sizeof(digits), digits,
      "%lld", sqlite3_value_int64(value));
  if( text==NULL ){
    bloom_block_fill(block);
    return;
  }
  end = text + (type==SQLITE_TEXT ? (size_t)sqlite3_value_bytes(value) : strlen(digits));
  while( text ){
    size_t num_hashes;
    bloom_pieces_begin(&pieces, text, (size_t)(end - text));
    while( (num_hashes = bloom_pieces_next(&pieces, hashes))>0 ){
      bloom_weights_add(weights, block, hashes, num_hashes);
    }
    text = key->is_regexp && text<end ? memchr(text, 0, (size_t)(end - text)) : NULL;
    if( text ) text++;
  }
}

/* -- Patterns ---------------------------------------------------------------------------- */

void bloom_index_test_add_pieces(index_test *test, const uint8_t *weights, uint32_t bits_per_block,
                                 const uint8_t *text, size_t num_bytes){
  uint64_t hashes[BLOOM_PIECES_ROOM];
  bloom_pieces pieces;
  size_t num_hashes;
  bloom_pieces_begin(&pieces, text, num_bytes);
  while( (num_hashes = bloom_pieces_next(&pieces, hashes))>0 ){
    test->num_bits = bloom_weights_bits(weights, bits_per_block, hashes, num_hashes, test->bits,
                                        test->num_bits, INDEX_MAX_BITS);
  }
}

int bloom_index_like_test(const bloom_index *index, const uint8_t *weights,
                          index_condition condition, sqlite3_value *pattern, index_test *test){
  const int max_bytes = sqlite3_limit(index->connection->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
  /* A copy, as the value is SQLite's to compare with. */
  sqlite3_value *copy = sqlite3_value_dup(pattern);
  const uint8_t *text = copy ? sqlite3_value_text(copy) : NULL;
  const int num_bytes = text ? sqlite3_value_bytes(copy) : 0;
  /* A longer one is an error of the function, if there is a row. */
  if( text && num_bytes<=max_bytes ){
    uint64_t hashes[BLOOM_PIECES_ROOM];
    bloom_pattern reading;
    size_t num_hashes;
    bloom_pattern_begin(&reading, condition.kind==INDEX_GLOB ? BLOOM_PATTERN_GLOB
                        : BLOOM_PATTERN_LIKE, text, (size_t)num_bytes);
    while( (num_hashes = bloom_pattern_next(&reading, hashes))>0 ){
      test->num_bits = bloom_weights_bits(weights, index_block_bits(index, condition.key), hashes,
                                          num_hashes, test->bits, test->num_bits, INDEX_MAX_BITS);
    }
  }
  sqlite3_value_free(copy);
  return text ? SQLITE_OK : SQLITE_NOMEM;
}

void bloom_index_like_equal_test(const bloom_index *index, const uint8_t *weights, int key,
                                 sqlite3_value *value, index_test *test){
  const uint8_t *text;
  size_t num_bytes;
  if( sqlite3_value_type(value)!=SQLITE_TEXT || bloom_text_may_be_number(value) ) return;
  text = sqlite3_value_text(value);
  num_bytes = (size_t)sqlite3_value_bytes(value);
  while( num_bytes>0 && text[num_bytes-1]==' '
        && index->config.keys[key].equality.collation==BLOOM_COLLATION_RTRIM ) num_bytes--;
  bloom_index_test_add_pieces(test, weights, index_block_bits(index, key), text, num_bytes);
}

int bloom_index_like_check(bloom_index *index, index_condition *condition){
  const index_function function = {condition->kind==INDEX_GLOB ? "glob" : "like", 2};
  int is_trusted = 0, rc = SQLITE_OK;
  if( !index_is_regexp(condition->kind) ){
    rc = bloom_index_are_built_in(index, &function, 1, &is_trusted);
  }else if( condition->key>=0 ){
    rc = bloom_index_regexp_check(index, condition, &is_trusted);
  }
  if( is_trusted ) return rc;
  condition->key = -1;
  condition->is_unpassed = 1;
  return rc;
}

int bloom_index_like_read_literal(index_condition *condition, sqlite3_value *literal){
  sqlite3_value *copy;
  const uint8_t *text;
  int is_empty = 0, rc = SQLITE_OK;
  if( literal==NULL || sqlite3_value_type(literal)!=SQLITE_TEXT ) return SQLITE_OK;
  copy = sqlite3_value_dup(literal);
  text = copy ? sqlite3_value_text(copy) : NULL;
  if( text==NULL ){
    rc = SQLITE_NOMEM;
  }else if( index_is_regexp(condition->kind) ){
    bloom_regexp regexp;
    rc = bloom_index_regexp_read(copy, condition->kind, &regexp);
    is_empty = regexp.num_literals==0;
  }else{
    uint64_t hashes[BLOOM_PIECES_ROOM];
    bloom_pattern pattern;
    bloom_pattern_begin(&pattern, condition->kind==INDEX_GLOB ? BLOOM_PATTERN_GLOB
                        : BLOOM_PATTERN_LIKE, text, (size_t)sqlite3_value_bytes(copy));
    is_empty = bloom_pattern_next(&pattern, hashes)==0;
  }
  if( is_empty ) condition->key = -1;
  sqlite3_value_free(copy);
  return rc;
}

int bloom_index_are_built_in(bloom_index *index, const index_function *functions, int num_functions,
                             int *are_built_in){
  int i, found = 0, num_others = 0;
  sqlite3_stmt *row;
  /* Not FROM pragma_function_list: behind sqlite3_deserialize() SQLite 3.40.1 crashes over it. */
  int rc = bloom_sql_prepare(index->connection, &row, "PRAGMA function_list");
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    const char *name;
    const int num_args = sqlite3_column_int(row, 4);
    rc = bloom_sql_column_text(row, 0, &name);
    for(i=0; i<num_functions && rc==SQLITE_OK; i++){
      if( sqlite3_stricmp(name, functions[i].name)!=0 || (num_args!=functions[i].num_args
                                                          && num_args!=-1) ) continue;
      if( sqlite3_column_int(row, 1) ) found |= 1 << i; else num_others++;
    }
  }
  sqlite3_finalize(row);
  *are_built_in = rc==SQLITE_DONE && found==(1 << num_functions) - 1 && num_others==0;
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}
