/*
** REGEXP: is the application's regexp() one that entries serve, and what does a pattern require?
**
** SQLite has no regexp() of its own, so whose it is cannot be known.  That it searches a text for a
** pattern of Perl's kind is what the declaration says, and what samples show at each plan: an
** application may have put another in its place since.
*/
#include "index_texts.h"
#include "index_source.h"

/* -- Samples --------------------------------------------------------------------------------- */

typedef struct regexp_sample {
  const char *text, *pattern;
} regexp_sample;

/* True: it searches, and knows what is no literal. */
static const regexp_sample regexp_true[] = {
  {"xabcx", "abc"}, {"abc", "a.c"}, {"aab", "a+b$"}, {"ac", "^ab?c"}, {"xyz", "abc|xyz"},
  {"abab", "^(ab)*$"}, {"a.c", "a\\.c"}, {"abc", "a[bc]c"},
};

/* False of who swaps the arguments, negates, knows LIKE or words alone, leaves out or folds
** blanks, punctuation, comments, accents, ligatures or widths, finds what is near, or takes NULL
** for text. */
static const regexp_sample regexp_false[] = {
  {"a.c", "abc"}, {"xyz", "abc"}, {"abc", "a_c"}, {"abc", "%b%"}, {"ab", "a b"}, {"a b", "a  b"},
  {"ab", "a-b"}, {"ab", "ab#c"}, {"ab", "ab "}, {"abc", "a\\.c"},
  {"abxd", "abcd"}, {"e", "\xc3\xa9"}, {"\xc3\xa9", "e"}, {"e\xcc\x81", "\xc3\xa9"},
  {"\xef\xbd\x81", "a"}, {"\xc5\x89", "n"}, {"\xc7\xb0", "j"}, {NULL, "abc"}, {NULL, "."},
};

/* True of who ignores case. */
static const regexp_sample regexp_in_any_case[] = {
  {"abc", "ABC"}, {"ABC", "abc"}, {"k", "\xe2\x84\xaa"}, {"\xe2\x84\xaa", "k"},
  {"\xc3\xa9", "\xc3\x89"},
};

/* Counts those that are true. */
static int regexp_count_true(bloom_connection *connection, sqlite3_stmt *statement,
                             const regexp_sample *samples, size_t num_samples, int *num_true){
  size_t i;
  int rc = SQLITE_OK;
  *num_true = 0;
  for(i=0; i<num_samples && rc==SQLITE_OK; i++){
    rc = sqlite3_bind_text(statement, 1, samples[i].text, -1, SQLITE_STATIC);
    if( rc==SQLITE_OK ) rc = sqlite3_bind_text(statement, 2, samples[i].pattern, -1, SQLITE_STATIC);
    if( rc==SQLITE_OK ) rc = bloom_sql_step(connection, statement);
    if( rc==SQLITE_ROW ) *num_true += sqlite3_column_int(statement, 0);
    sqlite3_reset(statement);
    /* Some take no NULL. */
    if( rc==SQLITE_ROW || (samples[i].text==NULL && rc==SQLITE_ERROR) ) rc = SQLITE_OK;
  }
  return rc;
}

int bloom_index_regexp_check(bloom_index *index, index_condition *condition, int *is_trusted){
  /* What looks for literals in rows. */
  const index_function literal_functions[] = {{"instr", 2}, {"lower", 1}, {"typeof", 1}};
  sqlite3_stmt *statement;
  int num_true = 0, num_wrong = 1, num_in_any_case = 0, is_built_in = 0, rc;
  rc = bloom_sql_prepare(index->connection, &statement,
                         "SELECT CASE WHEN ?1 REGEXP ?2 THEN 1 ELSE 0 END");
  if( rc==SQLITE_OK ){
    rc = regexp_count_true(index->connection, statement, regexp_true, BLOOM_COUNT_OF(regexp_true),
                           &num_true);
  }
  if( rc==SQLITE_OK ){
    rc = regexp_count_true(index->connection, statement, regexp_false, BLOOM_COUNT_OF(regexp_false),
                           &num_wrong);
  }
  if( rc==SQLITE_OK ){
    rc = regexp_count_true(index->connection, statement, regexp_in_any_case,
                           BLOOM_COUNT_OF(regexp_in_any_case), &num_in_any_case);
  }
  sqlite3_finalize(statement);
  if( rc==SQLITE_OK ) rc = bloom_index_are_built_in(index, literal_functions, 3, &is_built_in);
  *is_trusted = rc==SQLITE_OK && num_true==(int)BLOOM_COUNT_OF(regexp_true) && num_wrong==0
    && is_built_in;
  if( num_in_any_case>0 ) condition->kind = INDEX_REGEXP_IN_ANY_CASE;
  return bloom_sql_is_fatal(rc) || rc==SQLITE_INTERRUPT ? rc : SQLITE_OK;
}

/* -- Patterns -------------------------------------------------------------------------------- */

int bloom_index_regexp_read(sqlite3_value *pattern, index_condition_kind kind,
                            bloom_regexp *regexp){
  /* A copy, as the value is SQLite's to match with. */
  sqlite3_value *copy = sqlite3_value_type(pattern)==SQLITE_TEXT ? sqlite3_value_dup(pattern)
      : NULL;
  const uint8_t *text = copy ? sqlite3_value_text(copy) : NULL;
  const int is_nomem = sqlite3_value_type(pattern)==SQLITE_TEXT && text==NULL;
  bloom_regexp_read(regexp, text, text ? (size_t)sqlite3_value_bytes(copy) : 0,
                    kind==INDEX_REGEXP_IN_ANY_CASE);
  sqlite3_value_free(copy);
  return is_nomem ? SQLITE_NOMEM : SQLITE_OK;
}

int bloom_index_regexp_try(bloom_index *index, sqlite3_value *pattern){
  sqlite3_stmt *statement;
  int rc = bloom_sql_prepare(index->connection, &statement,
                             "SELECT '' REGEXP ?1 FROM " INDEX_SOURCE " LIMIT 1", index->schema,
                             index->source_name);
  if( rc==SQLITE_OK ) rc = bloom_sql_bind(statement, 1, pattern);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(index->connection, statement);
  return bloom_sql_end(statement, rc);
}

/* Others than ASCII's characters may stand in a text in bytes that are not theirs. */
size_t bloom_index_regexp_literal(const bloom_regexp *regexp, const uint8_t **literal){
  uint64_t in_all = ~(uint64_t)0;
  size_t best = 0;
  uint32_t i, j, first;
  for(i=0; i<regexp->required.num_terms; i++) in_all &= regexp->required.terms[i];
  for(i=0; i<regexp->num_literals; i++){
    const uint32_t end = regexp->literals[i].first + (uint32_t)regexp->literals[i].num_bytes;
    if( !(in_all >> i & 1) ) continue;
    for(j=first=regexp->literals[i].first; j<=end; j++){
      if( j<end && regexp->bytes[j]<0x80 ) continue;
      if( j - first>best ){
        best = j - first;
        *literal = regexp->bytes + first;
      }
      first = j + 1;
    }
  }
  return best;
}
