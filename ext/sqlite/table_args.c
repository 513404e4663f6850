/*
** A tokenizer just good enough to tell names, options and expressions apart.
*/
#include "table_args.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "size_args.h"

/* Room for a number as text. */
#define MAX_NUMBER_CHARS 40

typedef struct token {
  const char *text;
  size_t num_chars; /* 0: the end */
  char kind;        /* 'a' a name or number, its first quote if quoted, else the character itself */
  int is_closed;    /* a quote or comment that ends */
} token;

static int is_space(char c){
  return c==' ' || (c>='\t' && c<='\r');
}

static int is_name_char(char c){
  return (c>='a' && c<='z') || (c>='A' && c<='Z') || (c>='0' && c<='9') || c=='_' || c=='$' || (c & 0x80);
}

/* The text after blanks and comments; *is_closed is unset where a comment does not end. */
static const char *skip_blanks(const char *text, int *is_closed){
  for(;;){
    if( is_space(*text) ){
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

static token next_token(const char *text){
  token t = {text, 0, 0, 1};
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
    const char end = *text=='[' ? ']' : *text;
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

static token token_after(token t){
  return next_token(t.text + t.num_chars);
}

/* A token's text without its quotes; NULL if there is no memory. */
static char *unquoted(token t){
  char *text = sqlite3_malloc64(t.num_chars + 1);
  size_t i, length = 0;
  if( text==NULL ) return NULL;
  if( t.kind=='a' ){
    memcpy(text, t.text, t.num_chars);
    length = t.num_chars;
  }else{
    for(i=1; i+1<t.num_chars; i++){
      text[length++] = t.text[i];
      if( t.kind!='[' && t.text[i]==t.kind ) i++; /* a quote is doubled */
    }
  }
  text[length] = 0;
  return text;
}

static int is_name(token t){
  return t.num_chars>0 && t.is_closed && (t.kind=='a' || strchr("'\"`[", t.kind)!=NULL);
}

static int is_word(token t, const char *word){
  return t.kind=='a' && t.num_chars==strlen(word) && sqlite3_strnicmp(t.text, word, (int)t.num_chars)==0;
}

/* 1 if a token is the TEXT literal word, but for blanks around it. */
static int is_literal(token t, const char *word){
  size_t begin = 1, end = t.num_chars;
  if( t.kind!='\'' && t.kind!='"' ) return 0;
  end--;
  while( begin<end && is_space(t.text[begin]) ) begin++;
  while( end>begin && is_space(t.text[end-1]) ) end--;
  return end-begin==strlen(word) && sqlite3_strnicmp(&t.text[begin], word, (int)(end-begin))==0;
}

static int fail(char **error, char *message){
  *error = message;
  return message ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* What changes by itself: SQLite allows these to an index when it is made, and fails when
** they are called. */
static const char *changing_words[] = {"current_date", "current_time", "current_timestamp"};
static const char *changing_literals[] = {"now", "localtime", "utc"};
static const char *clock_functions[] = {"date", "time", "datetime", "julianday", "unixepoch", "strftime"};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* 1 if t is a date function's name and the clock is what it is given. */
static int asks_the_clock(token t){
  size_t i;
  for(i=0; i<COUNT_OF(clock_functions); i++){
    token open = token_after(t), argument;
    int depth = 0, num_commas = 0;
    if( !is_word(t, clock_functions[i]) || open.kind!='(' ) continue;
    argument = token_after(open);
    if( argument.kind==')' ) return 1;
    if( sqlite3_stricmp(clock_functions[i], "strftime")!=0 ) return 0;
    for(; argument.num_chars && (depth>0 || argument.kind!=')'); argument = token_after(argument)){
      depth += (argument.kind=='(') - (argument.kind==')');
      num_commas += depth==0 && argument.kind==',';
    }
    return num_commas==0;
  }
  return 0;
}

/* SQLITE_OK if text is one expression as far as its parentheses and quotes tell, and none
** whose value changes by itself.  what names it in the message. */
static int check_expression(const char *what, const char *text, char **error){
  token t = next_token(text);
  int depth = 0;
  size_t i;
  if( t.num_chars==0 ) return fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_EMPTY, what));
  for(; t.num_chars; t = token_after(t)){
    depth += (t.kind=='(') - (t.kind==')');
    if( depth<0 || t.kind==';' || !t.is_closed ){
      return fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_NO_EXPRESSION, what, text));
    }
    for(i=0; i<COUNT_OF(changing_words); i++){
      if( is_word(t, changing_words[i]) ) return fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_CHANGING, what, changing_words[i]));
    }
    for(i=0; i<COUNT_OF(changing_literals); i++){
      if( is_literal(t, changing_literals[i]) ){
        return fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_CHANGING, what, changing_literals[i]));
      }
    }
    if( asks_the_clock(t) ) return fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_CHANGING, what, "a date function without arguments"));
  }
  if( depth!=0 || !t.is_closed ) return fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_NO_EXPRESSION, what, text));
  return SQLITE_OK;
}

/* Reads a number that is nothing else: digits, a point, an exponent. */
static int read_number(const char *text, double *number){
  char copy[MAX_NUMBER_CHARS];
  size_t length = 0;
  int num_digits = 0;
  double value = 0;
  int exponent = 0, has_point = 0;
  const char *end;
  while( is_space(*text) ) text++;
  for(; text[length] && length<sizeof(copy)-1; length++) copy[length] = text[length];
  if( text[length] ) return 0;
  while( length>0 && is_space(copy[length-1]) ) length--;
  copy[length] = 0;
  /* Not strtod(): it reads the point as the locale has it. */
  for(end=copy; (*end>='0' && *end<='9') || (*end=='.' && !has_point); end++){
    if( *end=='.' ){
      has_point = 1;
    }else{
      value = 10 * value + (*end - '0');
      exponent -= has_point;
      num_digits++;
    }
  }
  if( num_digits==0 ) return 0;
  if( *end=='e' || *end=='E' ){
    int is_negative, power = 0;
    end++;
    is_negative = *end=='-';
    if( *end=='-' || *end=='+' ) end++;
    if( *end==0 ) return 0;
    for(; *end>='0' && *end<='9'; end++) power = power<1000 ? 10 * power + (*end - '0') : power;
    exponent += is_negative ? -power : power;
  }
  if( *end!=0 ) return 0;
  for(; exponent>0 && value<1e300; exponent--) value *= 10;
  for(; exponent<0 && value>0; exponent++) value /= 10;
  *number = value;
  return 1;
}

static int read_option(token name, token value, bloom_table_args *args, char **error){
  char *text;
  double number;
  int rc = SQLITE_OK;
  const token after = token_after(value);
  if( is_word(name, "where") ){
    /* A quoted condition, or one that stands as it is. */
    if( is_name(value) && value.kind!='a' && after.num_chars==0 && after.is_closed ){
      text = unquoted(value);
    }else{
      text = sqlite3_mprintf("%s", value.text);
    }
    if( text==NULL ) return SQLITE_NOMEM;
    if( args->where ){
      sqlite3_free(text);
      return fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_TWICE, "where"));
    }
    args->where = text;
    return check_expression("where", text, error);
  }
  text = is_name(value) && value.kind!='a' && after.num_chars==0 ? unquoted(value) : sqlite3_mprintf("%s", value.text);
  if( text==NULL ) return SQLITE_NOMEM;
  if( is_word(name, "bits_per_key") ){
    if( args->bits_per_key>0 ){
      rc = fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_TWICE, "bits_per_key"));
    }else if( !read_number(text, &number) || !(number>=1 && number<=100) ){
      rc = fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_BITS_PER_KEY, text));
    }else{
      args->bits_per_key = number;
    }
  }else if( is_word(name, "capacity") ){
    if( args->capacity>0 ){
      rc = fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_TWICE, "capacity"));
    }else if( !read_number(text, &number) || !(number>=1 && number<=1e12) || (double)(sqlite3_int64)number!=number ){
      rc = fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_CAPACITY, text));
    }else{
      args->capacity = (sqlite3_int64)number;
    }
  }else{
    rc = fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_OPTION, (int)name.num_chars, name.text));
  }
  sqlite3_free(text);
  return rc;
}

/* An argument of the form word = value, but not word == value. */
static int is_option(token name){
  const token equals = token_after(name);
  return name.kind=='a' && equals.kind=='=' && token_after(equals).kind!='=';
}

int bloom_table_args_read(
  int num_args,
  const char *const *texts,
  bloom_table_args *args,
  char **error
){
  int i, num_positional = 0, rc = SQLITE_OK;
  memset(args, 0, sizeof(*args));
  for(i=0; i<num_args && rc==SQLITE_OK; i++){
    const token first = next_token(texts[i]);
    if( first.num_chars==0 && num_args==1 ) break; /* USING bloom() */
    if( is_option(first) ){
      rc = read_option(first, token_after(token_after(first)), args, error);
      continue;
    }
    num_positional++;
    if( num_positional==1 ){
      const token after = token_after(first);
      if( !is_name(first) || after.num_chars || !after.is_closed ){
        rc = fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_NAME, texts[i]));
      }else{
        args->table = unquoted(first);
        if( args->table==NULL ) rc = SQLITE_NOMEM;
      }
    }else if( num_positional==2 ){
      args->is_column = is_name(first) && token_after(first).num_chars==0 && token_after(first).is_closed;
      args->key = args->is_column ? unquoted(first) : sqlite3_mprintf("%s", texts[i]);
      if( args->key==NULL ) rc = SQLITE_NOMEM;
      else if( !args->is_column ) rc = check_expression("key", args->key, error);
    }else{
      rc = fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_TOO_MANY, texts[i]));
    }
  }
  if( rc==SQLITE_OK && num_positional==1 ) rc = fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_NO_KEY, args->table));
  if( rc==SQLITE_OK && num_positional==0 && args->where ) rc = fail(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_WHERE));
  if( args->bits_per_key==0 ) args->bits_per_key = BLOOM_DEFAULT_BITS_PER_KEY;
  return rc;
}

void bloom_table_args_free(bloom_table_args *args){
  sqlite3_free(args->table);
  sqlite3_free(args->key);
  sqlite3_free(args->where);
  memset(args, 0, sizeof(*args));
}
