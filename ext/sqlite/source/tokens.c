/*
** A tokenizer, and what an expression must not have.
*/
#include "tokens.h"

#include <string.h>

#include "../errors.h"
#include "../key.h"

/* what it is, the text; what it is, what it has */
#define NO_EXPRESSION "bloom: %s must be one expression, not: %s"
#define CHANGING      "bloom: %s must always return the same for a row, so it cannot have %s"

static int is_name_char(char c){
  return (c>='a' && c<='z') || (c>='A' && c<='Z') || (c>='0' && c<='9') || c=='_' || c=='$' || (c & 0x80);
}

/* The text after blanks and comments; *is_closed is unset where a comment does not end. */
static const char *skip_blanks(const char *text, int *is_closed){
  for(;;){
    if( bloom_is_space(*text) ){
      text++;
    }else if( text[0]=='-' && text[1]=='-' ){
      while( *text && *text!='\n' ) text++;
    }else if( text[0]=='/' && text[1]=='*' ){
      const char *end = strstr(text + 2, "*/");
      if( end==NULL ){
        *is_closed = 0;
        return text + strlen(text);
      }
      text = end + 2;
    }else{
      return text;
    }
  }
}

bloom_token bloom_token_first(const char *text){
  bloom_token t = {text, 0, 0, 1};
  t.text = text = skip_blanks(text, &t.is_closed);
  t.kind = *text;
  if( *text==0 ) return t;
  if( is_name_char(*text) ){
    t.kind = 'a';
    while( is_name_char(text[t.num_chars]) ) t.num_chars++;
    return t;
  }
  t.num_chars = 1;
  if( strchr("'\"`[", *text) ){
    char end = *text;
    if( end=='[' ) end = ']';
    for(;;){
      if( text[t.num_chars]==0 ){
        t.is_closed = 0;
        return t;
      }
      if( text[t.num_chars++]!=end ) continue;
      if( end==']' || text[t.num_chars]!=end ) return t;
      t.num_chars++;
    }
  }
  return t;
}

bloom_token bloom_token_after(bloom_token token){
  return bloom_token_first(token.text + token.num_chars);
}

char *bloom_token_unquoted(bloom_token token){
  char *text = sqlite3_malloc64(token.num_chars + 1);
  size_t length = 0;
  if( text==NULL ) return NULL;
  if( token.kind=='a' ){
    memcpy(text, token.text, token.num_chars);
    length = token.num_chars;
  }else{
    size_t i;
    for(i=1; i+1<token.num_chars; i++){
      text[length++] = token.text[i];
      if( token.kind!='[' && token.text[i]==token.kind ) i++; /* a quote is doubled */
    }
  }
  text[length] = 0;
  return text;
}

/* Of one that SQLite took apart itself the quotes are closed. */
int bloom_token_is_name(bloom_token token){
  return token.num_chars>0 && (token.kind=='a' || strchr("'\"`[", token.kind)!=NULL);
}

int bloom_token_is(bloom_token token, const char *word){
  return token.kind=='a' && token.num_chars==strlen(word) && sqlite3_strnicmp(token.text, word, (int)token.num_chars)==0;
}

/* 1 if a token is the TEXT literal word, but for blanks around it. */
static int is_literal(bloom_token token, const char *word){
  size_t begin = 1, end = token.num_chars;
  if( token.kind!='\'' && token.kind!='"' ) return 0;
  end--;
  while( begin<end && bloom_is_space(token.text[begin]) ) begin++;
  while( end>begin && bloom_is_space(token.text[end-1]) ) end--;
  return end-begin==strlen(word) && sqlite3_strnicmp(&token.text[begin], word, (int)(end-begin))==0;
}

bloom_token bloom_token_closing(bloom_token token){
  int depth = 0;
  for(; token.num_chars; token = bloom_token_after(token)){
    depth += (token.kind=='(') - (token.kind==')');
    if( depth==0 ) break;
  }
  return token;
}

int bloom_token_names(bloom_token token, const char *name){
  const size_t num_chars = strlen(name);
  size_t i = 1, n = 0;
  if( token.kind=='a' ) return bloom_token_is(token, name);
  if( !bloom_token_is_name(token) || token.kind=='\'' ) return 0;
  for(; i+1<token.num_chars && n<num_chars; i++, n++){
    if( sqlite3_strnicmp(&token.text[i], &name[n], 1)!=0 ) return 0;
    if( token.kind!='[' && token.text[i]==token.kind ) i++; /* a quote is doubled */
  }
  return n==num_chars && i+1==token.num_chars;
}

int bloom_text_has(const char *text, const char *part){
  const int num_chars = (int)strlen(part);
  for(; *text; text++){
    if( sqlite3_strnicmp(text, part, num_chars)==0 ) return 1;
  }
  return 0;
}

int bloom_text_names(const char *text, const char *name){
  bloom_token token;
  for(token=bloom_token_first(text); token.num_chars; token=bloom_token_after(token)){
    if( bloom_token_names(token, name) ) return 1;
  }
  return 0;
}

/* What changes by itself: SQLite allows these to an index when it is made, and fails when
** they are called. */
static const char *changing_words[] = {"current_date", "current_time", "current_timestamp"};
static const char *changing_literals[] = {"now", "localtime", "utc"};
static const char *clock_functions[] = {"date", "time", "datetime", "julianday", "unixepoch", "strftime"};

/* 1 if t is a date function's name and the clock is what it is given. */
static int asks_the_clock(bloom_token t){
  size_t i;
  for(i=0; i<BLOOM_COUNT_OF(clock_functions); i++){
    bloom_token open = bloom_token_after(t), argument;
    int num_commas = 0;
    if( !bloom_token_is(t, clock_functions[i]) || open.kind!='(' ) continue;
    argument = bloom_token_after(open);
    if( argument.kind==')' ) return 1;
    if( sqlite3_stricmp(clock_functions[i], "strftime")!=0 ) return 0;
    for(; argument.num_chars && argument.kind!=')'; argument = bloom_token_after(argument)){
      if( argument.kind=='(' ) argument = bloom_token_closing(argument);
      num_commas += argument.kind==',';
    }
    return num_commas==0;
  }
  return 0;
}

/* 1 if t begins database.table.column, which SQLite does not find in every trigger. */
static int names_database(bloom_token t){
  const bloom_token dot = bloom_token_after(t), table = bloom_token_after(dot);
  return bloom_token_is_name(t) && dot.kind=='.' && bloom_token_is_name(table) && bloom_token_after(table).kind=='.';
}

int bloom_text_check_expression(const char *what, const char *text, char **error){
  bloom_token t = bloom_token_first(text);
  int depth = 0;
  size_t i;
  if( t.num_chars==0 ) return bloom_fail_vtab(error, "bloom: %s is empty", what);
  for(; t.num_chars; t = bloom_token_after(t)){
    depth += (t.kind=='(') - (t.kind==')');
    if( depth<0 || t.kind==';' || !t.is_closed ){
      return bloom_fail_vtab(error, NO_EXPRESSION, what, text);
    }
    for(i=0; i<BLOOM_COUNT_OF(changing_words); i++){
      if( bloom_token_is(t, changing_words[i]) ) return bloom_fail_vtab(error, CHANGING, what, changing_words[i]);
    }
    for(i=0; i<BLOOM_COUNT_OF(changing_literals); i++){
      if( is_literal(t, changing_literals[i]) ){
        return bloom_fail_vtab(error, CHANGING, what, changing_literals[i]);
      }
    }
    if( names_database(t) ){
      return bloom_fail_vtab(error, "bloom: %s must name columns without the database: %s", what, text);
    }
    if( asks_the_clock(t) ) return bloom_fail_vtab(error, CHANGING, what, "a date function without arguments");
  }
  if( depth!=0 || !t.is_closed ) return bloom_fail_vtab(error, NO_EXPRESSION, what, text);
  return SQLITE_OK;
}
