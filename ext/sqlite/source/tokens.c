/*
** A tokenizer.
*/
#include "tokens.h"

#include <string.h>

#include "../errors.h"
#include "../key.h"

static int is_name_char(char c){
  return (c>='a' && c<='z') || (c>='A' && c<='Z') || (c>='0' && c<='9') || c=='_' || c=='$'
    || (c & 0x80);
}

static const char *skip_blanks_and_comments(const char *text){
  for(;;){
    if( bloom_is_space(*text) ){
      text++;
    }else if( text[0]=='-' && text[1]=='-' ){
      while( *text && *text!='\n' ) text++;
    }else if( text[0]=='/' && text[1]=='*' ){
      const char *end = strstr(text + 2, "*/");
      text = end ? end + 2 : text + strlen(text);
    }else{
      return text;
    }
  }
}

bloom_token bloom_token_first(const char *text){
  bloom_token t = {.num_chars = 0};
  t.text = text = skip_blanks_and_comments(text);
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
    while( text[t.num_chars] ){
      if( text[t.num_chars++]!=end ) continue;
      if( end==']' || text[t.num_chars]!=end ) break;
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

/* The quotes are closed in a token that SQLite took apart itself. */
int bloom_token_is_name(bloom_token token){
  return token.num_chars>0 && (token.kind=='a' || strchr("'\"`[", token.kind)!=NULL);
}

int bloom_token_is(bloom_token token, const char *word){
  return token.kind=='a' && token.num_chars==strlen(word)
    && sqlite3_strnicmp(token.text, word, (int)token.num_chars)==0;
}

bloom_token bloom_token_closing(bloom_token token){
  int depth = 0;
  for(; token.num_chars; token = bloom_token_after(token)){
    depth += (token.kind=='(') - (token.kind==')');
    if( depth==0 ) break;
  }
  return token;
}

int bloom_text_has(const char *text, const char *part){
  const int num_chars = (int)strlen(part);
  for(; *text; text++){
    if( sqlite3_strnicmp(text, part, num_chars)==0 ) return 1;
  }
  return 0;
}
