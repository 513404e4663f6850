/*
** SQL text as tokens, just well enough to read the arguments of CREATE VIRTUAL TABLE and a
** column's DEFAULT.
*/
#ifndef BLOOM_SQLITE_SOURCE_TOKENS_H
#define BLOOM_SQLITE_SOURCE_TOKENS_H

#include <stddef.h>

#include "../sqlite_api.h"

typedef struct bloom_token {
  const char *text;
  size_t num_chars; /* 0: the end */
  char kind;        /* 'a' a name or number, its first quote if quoted, else the character itself */
} bloom_token;

bloom_token bloom_token_first(const char *text);
bloom_token bloom_token_after(bloom_token token);

/* The ) that closes token, which is a (; the end if there is none. */
bloom_token bloom_token_closing(bloom_token token);

/* 1 if a token is this word, whatever its case, and not quoted. */
int bloom_token_is(bloom_token token, const char *word);

/* 1 if a token is a name, or a number, in whatever quotes. */
int bloom_token_is_name(bloom_token token);

/* A token's text without its quotes, to be freed; NULL if there is no memory. */
char *bloom_token_unquoted(bloom_token token);

/* 1 if text has part in it, whatever its case.  Not by SQL, whose functions an application may
** have replaced. */
int bloom_text_has(const char *text, const char *part);

#endif
