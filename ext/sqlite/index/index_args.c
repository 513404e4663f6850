/*
** The arguments of CREATE VIRTUAL TABLE ... USING bloom_index(...):
**
**   table, column [LIKE [REGEXP] | RANGE] [, ...] [, probes = number]
*/
#include "index_source.h"

#include <string.h>

#include "../../core/signature/signature.h"
#include "../errors.h"
#include "../source/tokens.h"

/* Reads a number of digits alone, at most 9; else 0. */
static uint32_t args_number(bloom_token token){
  uint32_t number = 0;
  size_t i;
  if( token.kind!='a' || token.num_chars>9 || bloom_token_after(token).num_chars ) return 0;
  for(i=0; i<token.num_chars; i++){
    if( token.text[i]<'0' || token.text[i]>'9' ) return 0;
    number = 10*number + (uint32_t)(token.text[i] - '0');
  }
  return number;
}

static int args_read_option(bloom_token name, index_config *config, char **error){
  const bloom_token value = bloom_token_after(bloom_token_after(name));
  const uint32_t number = args_number(value);
  if( bloom_token_is(name, "bits_per_block") ){
    return bloom_fail_vtab(error,
                           "bloom_index: there is no option bits_per_block any more: blocks have "
                           "the size that fills pages");
  }
  if( bloom_token_is(name, "probes") ){
    if( config->num_probes ) return bloom_fail_vtab(error,
                                                  "bloom_index: option probes is given twice");
    if( number<1 || number>BLOOM_SIGNATURE_MAX_PROBES ){
      return bloom_fail_vtab(error, "bloom_index: probes must be an integer in 1..%d, not %s",
                             BLOOM_SIGNATURE_MAX_PROBES, value.text);
    }
    config->num_probes = number;
    return SQLITE_OK;
  }
  return bloom_fail_vtab(error, "bloom_index: there is no option %.*s; the option is probes",
                         (int)name.num_chars, name.text);
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

int bloom_index_args_read(int num_args, const char *const *texts, index_config *config,
                          char **error){
  int i, rc = SQLITE_OK;
  memset(config, 0, sizeof(*config));
  for(i=0; i<num_args && rc==SQLITE_OK; i++){
    const bloom_token first = bloom_token_first(texts[i]);
    if( first.kind=='a' && bloom_token_after(first).kind=='=' ){
      rc = args_read_option(first, config, error);
    }else if( config->source ){
      rc = args_read_column(first, config, error);
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
