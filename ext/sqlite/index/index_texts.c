/*
** LIKE columns: which lists a value's block is entered in, and which lists a pattern is looked for
** in.  core/entries/texts.h says what grams and lists are.
**
** A TEXT has its grams, an INTEGER those of its digits, and NULL has none.  A REAL or BLOB has none
** either, but may match: a REAL's text depends on SQLite's version.  So its block is entered in the
** list that each look-up reads.
**
** How many lists the classes of grams have is stored in NAME_entriesN, in row -1 or -2 by the
** generation's place: the 6,147 bytes of core/entries/texts.h and a checksum of 8 bytes, of these
** and of the lists' random number, which the layout has, too.
*/
#include "index_values.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/hash.h"
#include "../../core/numeric.h"

/* -- Lists ----------------------------------------------------------------------------------- */

/* The lists of a column and a generation's place that were read last. */
struct index_lists_kept {
  int is_read; /* 0: reading them failed */
  uint64_t number;
  bloom_lists lists;
};

static uint64_t lists_checksum(const uint8_t *bytes, uint64_t number){
  return bloom_mix64(bloom_xxh64(bytes, BLOOM_LISTS_BYTES) ^ bloom_mix64(number));
}

void bloom_index_lists_free(bloom_index *index){
  int key, place;
  for(key=0; key<INDEX_MAX_KEYS; key++){
    for(place=0; place<INDEX_MAX_GENERATIONS; place++){
      sqlite3_free(index->lists[key][place]);
      index->lists[key][place] = NULL;
    }
  }
}

int bloom_index_lists_read(bloom_index *index, const index_generation *generation, int key,
                           const bloom_lists **lists){
  const uint64_t number = generation->keys[key].number;
  struct index_lists_kept **place = &index->lists[key][generation->place], *kept;
  sqlite3_stmt *row;
  int rc;
  assert( index_properties_of(&index->config.keys[key])->has_lists );
  if( *place==NULL ){
    *place = sqlite3_malloc64(sizeof(**place));
    if( *place==NULL ) return SQLITE_NOMEM;
    (*place)->is_read = 0;
  }
  kept = *place;
  *lists = &kept->lists;
  if( kept->is_read && kept->number==number ) return SQLITE_OK;
  kept->is_read = 0;
  kept->number = number;
  rc = bloom_index_statement_take(index, INDEX_USE_BY_TEXT, &row, "SELECT e.data FROM"
                                  " \"%w\".\"%w_entries%d\" AS e WHERE e.rowid = %d",
                                  index->schema, index->name, key + 1,
                                  -1 - (int)generation->place);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, row);
  if( rc==SQLITE_ROW ){
    const uint8_t *bytes = sqlite3_column_blob(row, 0);
    kept->is_read = bytes && sqlite3_column_bytes(row, 0)==BLOOM_LISTS_BYTES + 8
        && bloom_load64_le(bytes + BLOOM_LISTS_BYTES)==lists_checksum(bytes, number)
        && bloom_lists_unpack(&kept->lists, bytes);
  }
  if( rc==SQLITE_ROW || rc==SQLITE_DONE || rc==SQLITE_ERROR ){
    rc = kept->is_read ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
  }
  bloom_index_statement_give_back(index, row, rc==SQLITE_OK);
  return rc;
}

int bloom_index_lists_write(bloom_index *index, index_generation *generation, int key,
                            const bloom_lists *lists){
  uint8_t bytes[BLOOM_LISTS_BYTES + 8];
  sqlite3_stmt *write = NULL;
  uint64_t number;
  int rc;
  assert( index_properties_of(&index->config.keys[key])->has_lists
          && generation->place<INDEX_MAX_GENERATIONS );
  sqlite3_randomness(sizeof(number), &number);
  bloom_lists_pack(lists, bytes);
  bloom_store64_le(bytes + BLOOM_LISTS_BYTES, lists_checksum(bytes, number));
  rc = bloom_sql_prepare(index->connection, &write, "INSERT OR REPLACE INTO"
                         " \"%w\".\"%w_entries%d\"(rowid, data) VALUES (%d, ?1)", index->schema,
                         index->name, key + 1, -1 - (int)generation->place);
  if( rc==SQLITE_OK ) rc = sqlite3_bind_blob(write, 1, bytes, sizeof(bytes), SQLITE_STATIC);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, write);
  if( rc==SQLITE_DONE ) generation->keys[key].number = number;
  return bloom_sql_end(write, rc);
}

/* -- Patterns -------------------------------------------------------------------------------- */

static int regexp_flags(index_condition_kind kind){
  return (kind==INDEX_REGEXP_IN_ANY_CASE ? BLOOM_REGEXP_IGNORES_CASE : 0)
      | (kind!=INDEX_REGEXP ? BLOOM_REGEXP_HAS_LINES : 0);
}

static bloom_needle_kind like_needle(index_condition_kind kind){
  return kind==INDEX_GLOB ? BLOOM_NEEDLE_GLOB : BLOOM_NEEDLE_LIKE;
}

size_t bloom_index_needle(const bloom_index *index, const bloom_lists *lists,
                          const index_condition *condition, sqlite3_value *value,
                          bloom_lists_range *ranges){
  const int is_pattern = index_is_pattern(condition->kind);
  bloom_needle_kind kind = BLOOM_NEEDLE_EQUAL;
  const uint8_t *text;
  size_t num_bytes;
  if( sqlite3_value_type(value)!=SQLITE_TEXT
   || (!is_pattern && bloom_text_may_be_number(value)) ) return 0;
  text = sqlite3_value_text(value);
  num_bytes = text ? (size_t)sqlite3_value_bytes(value) : 0;
  if( is_pattern ){
    kind = like_needle(condition->kind);
    /* A longer one is an error of the function, if there is a row. */
    if( num_bytes>(size_t)sqlite3_limit(index->connection->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH,
                                        -1) ) return 0;
  }else if( index->config.keys[condition->key].equality.collation==BLOOM_COLLATION_RTRIM ){
    kind = BLOOM_NEEDLE_EQUAL_RTRIM;
    while( num_bytes>0 && text[num_bytes-1]==' ' ) num_bytes--;
  }
  return bloom_needle_ranges(lists, kind, text, num_bytes, ranges, 0, INDEX_MAX_RANGES);
}

/* -- Functions ------------------------------------------------------------------------------- */

int bloom_index_like_read_literal(index_condition *condition, sqlite3_value *literal){
  const index_condition_kind kind = condition->kind;
  sqlite3_value *copy;
  const uint8_t *text;
  size_t num_bytes;
  int has_ranges, rc;
  if( literal==NULL || sqlite3_value_type(literal)!=SQLITE_TEXT ) return SQLITE_OK;
  rc = bloom_index_value_copy(literal, &copy);
  if( rc!=SQLITE_OK ) return rc;
  text = sqlite3_value_text(copy);
  num_bytes = (size_t)sqlite3_value_bytes(copy);
  if( index_is_regexp(kind) ){
    bloom_regexp regexp;
    has_ranges = bloom_regexp_read(&regexp, text, num_bytes, regexp_flags(kind));
  }else{
    has_ranges = bloom_needle_ranges(NULL, like_needle(kind), text, num_bytes, NULL, 0, 0)>0;
  }
  if( !has_ranges ){
    condition->is_short = condition->key>=0;
    condition->key = -1;
  }
  sqlite3_value_free(copy);
  return SQLITE_OK;
}

int bloom_index_are_built_in(bloom_index *index, const index_function *functions, int num_functions,
                             int *are_built_in){
  int i, found = 0, num_others = 0;
  sqlite3_stmt *row;
  assert( num_functions>0 && num_functions<31 );
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

int bloom_index_begins_number(const unsigned char *text){
  const char *begin = (const char *)text + (*text=='-'), *next = begin;
  if( *begin==0 ) return *text=='-';
  if( sqlite3_strnicmp(begin, "Inf", (int)strlen(begin))==0 ) return 1;
  while( (*next>='0' && *next<='9') || *next=='.' ) next++;
  if( next==begin || (*next!='e' && *next!='E') ) return 0;
  next++;
  if( *next=='+' || *next=='-' ) next++;
  return *next==0;
}

/* == Regular expressions =============================================================== */

/*
** REGEXP: can entries serve the application's regexp(), and what does a pattern require?
**
** SQLite has no regexp() of its own, and the application's may be any.  The declaration says that
** it searches a text for a pattern of Perl's kind.  Samples test that at each plan, since the
** application may replace the function at any time.
*/

/* -- Samples --------------------------------------------------------------------------------- */

/* Whether a text matches a pattern; REGEXP_BY_LINE: if ^ matches elsewhere than before all bytes of
** a text, or $ elsewhere than at its end or before a last newline; REGEXP_BY_CASE: if the function
** ignores case. */
#define REGEXP_BY_LINE 2
#define REGEXP_BY_CASE 3
static const struct regexp_sample {
  int matches;
  const char *text, *pattern;
} regexp_samples[] = {
  /* It searches, and reads quantifiers, classes and such. */
  {1, "xabcx", "abc"}, {1, "abc", "a.c"}, {1, "aab", "a+b$"}, {1, "ac", "^ab?c"},
  {1, "xyz", "abc|xyz"}, {1, "abab", "^(ab)*$"}, {1, "a.c", "a\\.c"}, {1, "abc", "a[bc]c"},
  /* These match only if a regexp() swaps the arguments, negates, matches as LIKE does or by words,
  ** leaves out or folds blanks, punctuation, comments, accents, ligatures or widths, finds what is
  ** similar, or takes NULL for a text. */
  {0, "a.c", "abc"}, {0, "xyz", "abc"}, {0, "abc", "a_c"}, {0, "abc", "%b%"}, {0, "ab", "a b"},
  {0, "a b", "a  b"}, {0, "ab", "a-b"}, {0, "ab", "ab#c"}, {0, "ab", "ab "}, {0, "abc", "a\\.c"},
  {0, "abxd", "abcd"}, {0, "e", "\xc3\xa9"}, {0, "\xc3\xa9", "e"},
  {0, "e\xcc\x81", "\xc3\xa9"}, {0, "\xef\xbd\x81", "a"}, {0, "\xc5\x89", "n"},
  {0, "\xc7\xb0", "j"}, {0, NULL, "abc"}, {0, NULL, "."},
  /* ^ or $ matches at another end of a line, or the function leaves out blanks or a byte order
  ** mark. */
  {REGEXP_BY_LINE, "\xef\xbb\xbf" "b\nb\rb\x0b" "b\x0c" "b\xc2\x85" "b\xe2\x80\xa8" "b\r\nb", "^b"},
  {REGEXP_BY_LINE, " b", "^b"}, {REGEXP_BY_LINE, "\r\nb", "^b"},
  {REGEXP_BY_LINE, "b\r\n", "b$"}, {REGEXP_BY_LINE, "b\r", "b$"}, {REGEXP_BY_LINE, "b ", "b$"},
  {REGEXP_BY_LINE, "b\n\n", "b$"},
  {REGEXP_BY_CASE, "abc", "ABC"}, {REGEXP_BY_CASE, "ABC", "abc"},
  {REGEXP_BY_CASE, "k", "\xe2\x84\xaa"}, {REGEXP_BY_CASE, "\xe2\x84\xaa", "k"},
  {REGEXP_BY_CASE, "\xc3\xa9", "\xc3\x89"},
};

/* Sets *is_trusted to whether samples show that the application's regexp() is of the kind that
** patterns are read for; and the condition's kind, if it ignores case, or ^ begins lines. */
static int regexp_check(bloom_index *index, index_condition *condition, int *is_trusted){
  /* The inner statement looks for literals by these. */
  const index_function literal_functions[] = {{"instr", 2}, {"lower", 1}, {"typeof", 1}};
  sqlite3_stmt *statement;
  int is_right = 1, is_built_in = 0, rc;
  size_t i;
  /* Where xBestIndex could not read, each look-up checks again. */
  assert( index_is_regexp(condition->kind) );
  rc = bloom_sql_prepare(index->connection, &statement,
                         "SELECT CASE WHEN ?1 REGEXP ?2 THEN 1 ELSE 0 END");
  for(i=0; i<BLOOM_COUNT_OF(regexp_samples) && rc==SQLITE_OK; i++){
    const struct regexp_sample *sample = &regexp_samples[i];
    int matches = 0;
    rc = sqlite3_bind_text(statement, 1, sample->text, -1, SQLITE_STATIC);
    if( rc==SQLITE_OK ) rc = sqlite3_bind_text(statement, 2, sample->pattern, -1, SQLITE_STATIC);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, statement);
    if( rc==SQLITE_ROW ) matches = sqlite3_column_int(statement, 0);
    sqlite3_reset(statement);
    /* Some functions fail for NULL. */
    if( rc==SQLITE_ROW || (sample->text==NULL && rc==SQLITE_ERROR) ) rc = SQLITE_OK;
    if( sample->matches<REGEXP_BY_LINE ) is_right &= matches==sample->matches;
    else if( matches ) condition->kind = sample->matches==REGEXP_BY_LINE ? INDEX_REGEXP_BY_LINE
        : INDEX_REGEXP_IN_ANY_CASE;
  }
  sqlite3_finalize(statement);
  if( rc==SQLITE_OK ) rc = bloom_index_are_built_in(index, literal_functions, 3, &is_built_in);
  *is_trusted = rc==SQLITE_OK && is_right && is_built_in;
  return bloom_sql_is_fatal(rc) || rc==SQLITE_INTERRUPT ? rc : SQLITE_OK;
}

int bloom_index_like_check(bloom_index *index, index_condition *condition){
  const int is_like = condition->kind!=INDEX_GLOB;
  const index_function function = {is_like ? "like" : "glob", 2};
  sqlite3_stmt *none = NULL;
  int is_trusted = 0, rc = SQLITE_OK;
  assert( index_is_pattern(condition->kind) && index->like_end==NULL );
  if( index_is_regexp(condition->kind) ){
    if( condition->key>=0 ) rc = regexp_check(index, condition, &is_trusted);
  }else{
    /* The list of all functions takes longer than a look-up.  SQLite adds a range to a pattern, as
    ** x >= 'A' to x LIKE 'a%', only for its own functions: an application cannot set their flag.
    ** So such a query of the index itself is compiled, and bloom_index_see_end() looks for the
    ** range.  Not in UTF-16, where SQLite looks at the function for UTF-8, and calls the other
    ** one. */
    if( index->letter_bytes==1 ){
      index->like_end = is_like ? "A" : "a";
      rc = bloom_sql_prepare(index->connection, &none, "SELECT 1 FROM \"%w\".\"%w\" AS x"
                             " WHERE x.\"%w\" %s", index->schema, index->name, index->name,
                             is_like ? "LIKE 'a%'" : "GLOB 'a*'");
      is_trusted = rc==SQLITE_OK && index->like_end==NULL;
      index->like_end = NULL;
      sqlite3_finalize(none);
      if( !bloom_sql_is_fatal(rc) ) rc = SQLITE_OK;
    }
    if( rc==SQLITE_OK && !is_trusted ){
      rc = bloom_index_are_built_in(index, &function, 1, &is_trusted);
    }
  }
  if( is_trusted ) return rc;
  condition->key = -1;
  condition->is_unpassed = 1;
  return rc;
}

/* -- Patterns -------------------------------------------------------------------------------- */

int bloom_index_regexp_read(sqlite3_value *pattern, index_condition_kind kind,
                            bloom_regexp *regexp){
  const int is_text = sqlite3_value_type(pattern)==SQLITE_TEXT;
  sqlite3_value *copy = NULL; /* SQLite matches with the value */
  const int rc = is_text ? bloom_index_value_copy(pattern, &copy) : SQLITE_OK;
  const uint8_t *text = copy ? sqlite3_value_text(copy) : NULL;
  bloom_regexp_read(regexp, text, text ? (size_t)sqlite3_value_bytes(copy) : 0,
                    regexp_flags(kind));
  sqlite3_value_free(copy);
  return rc;
}
