/*
** A tokenizer just good enough to tell names, options and expressions apart.
*/
#include "vtab_args.h"

#include <stdlib.h>
#include <string.h>

#include "../errors.h"
#include "../size_args.h"

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

static token token_after(token t){
  return next_token(t.text + t.num_chars);
}

/* A token's text without its quotes; NULL if there is no memory. */
static char *unquoted(token t){
  char *text = sqlite3_malloc64(t.num_chars + 1);
  size_t length = 0;
  if( text==NULL ) return NULL;
  if( t.kind=='a' ){
    memcpy(text, t.text, t.num_chars);
    length = t.num_chars;
  }else{
    size_t i;
    for(i=1; i+1<t.num_chars; i++){
      text[length++] = t.text[i];
      if( t.kind!='[' && t.text[i]==t.kind ) i++; /* a quote is doubled */
    }
  }
  text[length] = 0;
  return text;
}

/* 1 if a token is a name.  One that SQLite took apart itself: its quotes are closed. */
static int is_name(token t){
  return t.num_chars>0 && (t.kind=='a' || strchr("'\"`[", t.kind)!=NULL);
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
  if( t.num_chars==0 ) return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_EMPTY, what));
  for(; t.num_chars; t = token_after(t)){
    depth += (t.kind=='(') - (t.kind==')');
    if( depth<0 || t.kind==';' || !t.is_closed ){
      return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_NO_EXPRESSION, what, text));
    }
    for(i=0; i<COUNT_OF(changing_words); i++){
      if( is_word(t, changing_words[i]) ) return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_CHANGING, what, changing_words[i]));
    }
    for(i=0; i<COUNT_OF(changing_literals); i++){
      if( is_literal(t, changing_literals[i]) ){
        return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_CHANGING, what, changing_literals[i]));
      }
    }
    if( asks_the_clock(t) ) return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_CHANGING, what, "a date function without arguments"));
  }
  if( depth!=0 || !t.is_closed ) return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_NO_EXPRESSION, what, text));
  return SQLITE_OK;
}

static int is_decimal_digit(char c){
  return c>='0' && c<='9';
}

/* Adds the exponent at text to *exponent, as far as it matters.  Gives what is behind it;
** NULL if there is nothing. */
static const char *add_exponent(const char *text, int *exponent){
  const int is_negative = *text=='-';
  int power = 0;
  if( *text=='-' || *text=='+' ) text++;
  if( *text==0 ) return NULL;
  for(; is_decimal_digit(*text); text++) power = power<1000 ? 10 * power + (*text - '0') : power;
  *exponent += is_negative ? -power : power;
  return text;
}

/* Reads a number without blanks.  Not strtod(): it reads the point as the locale has it. */
static int read_bare_number(const char *text, double *number){
  int num_digits = 0, exponent = 0, has_point = 0;
  double value = 0;
  for(; is_decimal_digit(*text) || (*text=='.' && !has_point); text++){
    if( *text=='.' ){
      has_point = 1;
    }else{
      value = 10 * value + (*text - '0');
      exponent -= has_point;
      num_digits++;
    }
  }
  if( num_digits==0 ) return 0;
  if( *text=='e' || *text=='E' ) text = add_exponent(text + 1, &exponent);
  if( text==NULL || *text!=0 ) return 0;
  for(; exponent>0 && value<1e300; exponent--) value *= 10;
  for(; exponent<0 && value>0; exponent++) value /= 10;
  *number = value;
  return 1;
}

/* Reads a number that is nothing else: digits, a point, an exponent. */
static int read_number(const char *text, double *number){
  char copy[MAX_NUMBER_CHARS] = {0};
  size_t length = 0;
  while( is_space(*text) ) text++;
  for(; length<sizeof(copy)-1 && text[length]; length++) copy[length] = text[length];
  if( text[length] ) return 0;
  while( length>0 && is_space(copy[length-1]) ) length--;
  copy[length] = 0;
  return read_bare_number(copy, number);
}

/* What an option says: a quoted text, or what stands there as it is.  NULL if there is no
** memory. */
static char *option_text(token value){
  const int is_quoted = is_name(value) && value.kind!='a' && token_after(value).num_chars==0;
  return is_quoted ? unquoted(value) : sqlite3_mprintf("%s", value.text);
}

static int read_bits_per_key_option(const char *text, bloom_table_args *args, char **error){
  double number;
  if( args->bits_per_key>0 ) return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_TWICE, "bits_per_key"));
  if( !read_number(text, &number) || !(number>=1 && number<=100) ){
    return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_BITS_PER_KEY, text));
  }
  args->bits_per_key = number;
  return SQLITE_OK;
}

static int read_capacity_option(const char *text, bloom_table_args *args, char **error){
  double number;
  if( args->capacity>0 ) return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_TWICE, "capacity"));
  if( !read_number(text, &number) || !(number>=1 && number<=1e12) || (double)(sqlite3_int64)number!=number ){
    return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_CAPACITY, text));
  }
  args->capacity = (sqlite3_int64)number;
  return SQLITE_OK;
}

static int read_option(token name, token value, bloom_table_args *args, char **error){
  char *text = option_text(value);
  int rc;
  if( text==NULL ) return SQLITE_NOMEM;
  if( is_word(name, "where") && args->where==NULL ){
    args->where = text;
    return check_expression("where", text, error);
  }
  if( is_word(name, "where") ){
    rc = bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_TWICE, "where"));
  }else if( is_word(name, "bits_per_key") ){
    rc = read_bits_per_key_option(text, args, error);
  }else if( is_word(name, "capacity") ){
    rc = read_capacity_option(text, args, error);
  }else{
    rc = bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_OPTION, (int)name.num_chars, name.text));
  }
  sqlite3_free(text);
  return rc;
}

/* The argument that is the table. */
static int read_table_name(const char *text, token first, bloom_table_args *args, char **error){
  if( !is_name(first) || token_after(first).num_chars ){
    return bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_NAME, text));
  }
  args->table = unquoted(first);
  return args->table ? SQLITE_OK : SQLITE_NOMEM;
}

/* The argument that is a column or an expression. */
static int read_key(const char *text, token first, bloom_table_args *args, char **error){
  args->is_column = is_name(first) && token_after(first).num_chars==0;
  args->key = args->is_column ? unquoted(first) : sqlite3_mprintf("%s", text);
  if( args->key==NULL ) return SQLITE_NOMEM;
  return args->is_column ? SQLITE_OK : check_expression("key", args->key, error);
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
    if( is_option(first) ){
      rc = read_option(first, token_after(token_after(first)), args, error);
      continue;
    }
    switch( ++num_positional ){
      case 1:  rc = read_table_name(texts[i], first, args, error); break;
      case 2:  rc = read_key(texts[i], first, args, error); break;
      default: rc = bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_TOO_MANY, texts[i])); break;
    }
  }
  if( rc==SQLITE_OK && num_positional==1 ) rc = bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_NO_KEY, args->table));
  if( rc==SQLITE_OK && num_positional==0 && args->where ) rc = bloom_say(error, sqlite3_mprintf(BLOOM_ERROR_TABLE_WHERE));
  if( args->bits_per_key==0 ) args->bits_per_key = BLOOM_DEFAULT_BITS_PER_KEY;
  return rc;
}

void bloom_table_args_free(bloom_table_args *args){
  sqlite3_free(args->table);
  sqlite3_free(args->key);
  sqlite3_free(args->where);
  memset(args, 0, sizeof(*args));
}
