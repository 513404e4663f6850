/*
** The arguments of CREATE VIRTUAL TABLE ... USING bloom_index(...):
**
**   table, column [LIKE [REGEXP] | RANGE] [, ...] [, unmerged]
*/
#include "index_source.h"

#include <string.h>

#include "../errors.h"
#include "../source/sql.h"

static int args_refuse_option(bloom_token name, char **error){
  if( bloom_token_is(name, "bits_per_block") || bloom_token_is(name, "probes") ){
    return bloom_fail_vtab(error, "bloom_index: there is no option %.*s any more: blocks and tokens"
                                  " have the size that the table needs", (int)name.num_chars,
                           name.text);
  }
  return bloom_fail_vtab(error, "bloom_index: there is no option %.*s", (int)name.num_chars,
                         name.text);
}

static int args_read_column(bloom_token name, index_config *config, char **error){
  bloom_token word = bloom_token_after(name);
  const int is_like = bloom_token_is(word, "like"), is_range = bloom_token_is(word, "range");
  index_key *key;
  int is_regexp = 0;
  if( is_like ){
    word = bloom_token_after(word);
    is_regexp = bloom_token_is(word, "regexp");
    if( is_regexp ) word = bloom_token_after(word);
  }
  if( is_range ) word = bloom_token_after(word);
  if( !bloom_token_is_name(name) || word.num_chars ){
    return bloom_fail_vtab(error,
                           "bloom_index: after the table come columns, each with LIKE, LIKE REGEXP "
                           "or RANGE behind it or not, not: %s", name.text);
  }
  if( config->num_keys==INDEX_MAX_KEYS ){
    return bloom_fail_vtab(error, "bloom_index: at most %d columns can be indexed", INDEX_MAX_KEYS);
  }
  key = &config->keys[config->num_keys++];
  *key = (index_key){.is_like = is_like, .is_regexp = is_regexp, .is_range = is_range,
                     .name = bloom_token_unquoted(name), .column = -1};
  return key->name ? SQLITE_OK : SQLITE_NOMEM;
}

/* Returns 1 if an argument is the option, and no column in quotes. */
static int args_is_unmerged(bloom_token first){
  return bloom_token_is(first, "unmerged") && bloom_token_after(first).num_chars==0;
}

int bloom_index_args_read(int num_args, const char *const *texts, int is_new,
                          index_config *config, char **error){
  int i, rc = SQLITE_OK;
  memset(config, 0, sizeof(*config));
  for(i=0; i<num_args && rc==SQLITE_OK; i++){
    const bloom_token first = bloom_token_first(texts[i]);
    if( first.kind=='a' && bloom_token_after(first).kind=='=' ){
      /* One that bloom 1.2 made may have options. */
      if( is_new ) rc = args_refuse_option(first, error);
    }else if( is_new && i==num_args - 1 && config->num_keys>0 && args_is_unmerged(first) ){
      config->is_unmerged = 1;
    }else if( config->source ){
      /* One that is made has a column that is called unmerged, or a table too many to drop. */
      if( config->num_keys<INDEX_MAX_KEYS || is_new || !args_is_unmerged(first) ){
        rc = args_read_column(first, config, error);
      }
    }else if( !bloom_token_is_name(first) || bloom_token_after(first).num_chars ){
      rc = bloom_fail_vtab(error,
                           "bloom_index: argument 1 must be the name of a table, not: %s; write "
                           "bloom_index(table, column, ...)", texts[i]);
    }else{
      config->source = bloom_token_unquoted(first);
      if( config->source==NULL ) rc = SQLITE_NOMEM;
    }
  }
  if( rc==SQLITE_OK && config->num_keys==0 ){
    rc = bloom_fail_vtab(error,
                         "bloom_index: which columns of which table?  bloom_index(table, column, "
                         "column LIKE, column RANGE, ...)");
  }
  return rc;
}
