/*
** The triggers of a filter, and how they are read back.
**
** A plain column's text does not name the source:
**
**   BEGIN INSERT INTO "f"(key) VALUES (new."k"); END
**
** BEFORE knows it, but for what SQLite decides later: the rowid, a generated column, the
** DEFAULT that OR REPLACE puts in place of NULL.  There AFTER tells it once more.
**
** An expression, or a column under a condition, is read from the row that was stored:
**
**   BEGIN INSERT INTO "f"(key) SELECT "t"."k" FROM "t" WHERE (condition) AND "t"."id" = new."id"; END
**
** That is what a look-up sees, exactly, but AFTER triggers that are newer fire before it, and
** can keep the row and stop it: vtab_certain.c looks for them.
**
** Of both kinds the WHEN of UPDATE names the columns that are needed, and never UPDATE OF,
** which SET rowid = and generated columns pass by.
*/
#include "vtab_int.h"

#include <string.h>

#include "../errors.h"

static const struct {
  const char *suffix, *event;
} trigger_rows[BLOOM_NUM_TRIGGERS] = {
  [BLOOM_BEFORE_INSERT] = {"_before_insert", "BEFORE INSERT"},
  [BLOOM_AFTER_INSERT] = {"_after_insert", "AFTER INSERT"},
  [BLOOM_BEFORE_UPDATE] = {"_before_update", "BEFORE UPDATE"},
  [BLOOM_AFTER_UPDATE] = {"_after_update", "AFTER UPDATE"},
  [BLOOM_BEFORE_DELETE] = {"_before_delete", "BEFORE DELETE"},
};

const char *bloom_vtab_trigger_suffix(int kind){
  return trigger_rows[kind].suffix;
}

/* The kind of a trigger by its name; BLOOM_NUM_TRIGGERS if it is none. */
static int trigger_kind(const char *name){
  const size_t num_chars = strlen(name);
  int kind;
  for(kind=0; kind<BLOOM_NUM_TRIGGERS; kind++){
    const size_t end = strlen(trigger_rows[kind].suffix);
    if( num_chars>=end && sqlite3_stricmp(name + num_chars - end, trigger_rows[kind].suffix)==0 ) break;
  }
  return kind;
}

int bloom_vtab_read_triggers(const bloom_vtab *vtab, bloom_triggers *triggers){
  char *body_begin = bloom_trigger_body_begin(vtab->name);
  int i, num_rows = 0, rc = SQLITE_NOMEM;
  *triggers = (bloom_triggers){NULL, 0, 0};
  if( body_begin ) rc = bloom_triggers_read(vtab->connection, vtab->schema, body_begin, triggers);
  sqlite3_free(body_begin);
  /* Those that the user made to write to the filter are not the filter's. */
  for(i=0; i<triggers->num_rows && rc==SQLITE_OK; i++){
    bloom_trigger *trigger = &triggers->rows[i];
    if( trigger_kind(trigger->name)<BLOOM_NUM_TRIGGERS && bloom_vtab_is_filters_trigger(trigger->sql) ){
      const bloom_trigger kept = *trigger;
      *trigger = triggers->rows[num_rows];
      triggers->rows[num_rows++] = kept;
    }
  }
  if( rc==SQLITE_OK ){
    while( triggers->num_rows>num_rows ){
      bloom_trigger *last = &triggers->rows[--triggers->num_rows];
      sqlite3_free(last->name);
      sqlite3_free(last->table);
      sqlite3_free(last->sql);
    }
  }
  return rc;
}

unsigned bloom_vtab_trigger_kinds(const bloom_triggers *triggers){
  unsigned kinds = 0;
  int i;
  for(i=0; i<triggers->num_rows; i++){
    const unsigned bit = 1u << trigger_kind(triggers->rows[i].name);
    if( kinds & bit ) return 0;
    kinds |= bit;
  }
  return kinds;
}

/* The token after the trigger's BEGIN INSERT INTO name (key; the end if it is another's. */
static bloom_token trigger_body(const char *sql){
  bloom_token token = bloom_token_first(sql);
  int depth = 0;
  for(; token.num_chars; token=bloom_token_after(token)){
    depth += (token.kind=='(') - (token.kind==')');
    if( depth==0 && bloom_token_is(token, "BEGIN") ) break;
  }
  token = bloom_token_after(token);
  if( !bloom_token_is(token, "INSERT") ) return bloom_token_first("");
  token = bloom_token_after(bloom_token_after(bloom_token_after(token)));
  if( token.kind!='(' ) return bloom_token_first("");
  token = bloom_token_after(token);
  return bloom_token_is(token, "key") || bloom_token_is(token, "key_1") || bloom_token_is(token, "removed") ? token : bloom_token_first("");
}

int bloom_vtab_is_filters_trigger(const char *sql){
  bloom_token token = trigger_body(sql);
  while( token.num_chars && token.kind!=';' ) token = bloom_token_after(token);
  token = bloom_token_after(token);
  return bloom_token_is(token, "END") && bloom_token_after(token).num_chars==0;
}

/* -- Making ----------------------------------------------------------------------------- */

/* 1 if the row's key is not decided before BEFORE triggers run. */
static int is_decided_late(const bloom_source *source, const bloom_source_column *column){
  return column->is_generated || column->default_value || column==source->row_column;
}

/* 1 if a column's name stands in the key or the condition. */
static int is_needed(const bloom_vtab_args *args, const bloom_source_column *column){
  int i;
  for(i=0; i<args->num_parts; i++){
    if( sqlite3_stricmp(args->parts[i], column->name)==0 ) return 1;
  }
  if( args->num_parts ) return args->where && bloom_text_names(args->where, column->name);
  if( args->is_column ? sqlite3_stricmp(args->key, column->name)==0 : bloom_text_names(args->key, column->name) ) return 1;
  return args->where && bloom_text_names(args->where, column->name);
}

/* WHEN one of the columns that are needed is another.  1 is 1.0 as a key, but not to an
** expression or a condition: typeof(k), k || ''. */
static void append_when(sqlite3_str *sql, const bloom_source *source, const bloom_vtab_args *args){
  const int is_plain = args->is_column && args->where==NULL;
  const char *glue = " WHEN ";
  int i;
  for(i=0; i<source->num_columns; i++){
    const char *column = source->columns[i].name;
    if( !is_needed(args, &source->columns[i]) ) continue;
    sqlite3_str_appendf(sql, "%snew.\"%w\" IS NOT old.\"%w\" COLLATE BINARY", glue, column, column);
    glue = " OR ";
    if( is_plain || source->columns[i].kind==BLOOM_COLUMN_TEXT ) continue;
    sqlite3_str_appendf(sql, " OR typeof(new.\"%w\") IS NOT typeof(old.\"%w\")", column, column);
  }
  if( glue[1]=='W' ) sqlite3_str_appendall(sql, " WHEN 0");
}

/* A condition that finds the row of new or old: "t"."id" = new."id". */
static void append_row_condition(sqlite3_str *sql, const bloom_source *source, const char *version){
  int i;
  if( source->row_name ){
    sqlite3_str_appendf(sql, " AND \"%w\".\"%w\" = %s.\"%w\"", source->name, source->row_name, version, source->row_name);
    return;
  }
  for(i=0; i<source->num_columns; i++){
    const char *column = source->columns[i].name;
    if( source->columns[i].key_number==0 ) continue;
    sqlite3_str_appendf(sql, " AND \"%w\".\"%w\" = %s.\"%w\"", source->name, column, version, column);
  }
}

/* The old row under the source's name.  The first half has no rows, but gives the columns their
** affinities and collations, which old."column" has not all of; for an affinity of TEXT from
** 3.44 on the second half must be text too.  LIMIT keeps the two together. */
static void append_old_row(sqlite3_str *sql, const bloom_source *source, const bloom_vtab_args *args){
  int half, i;
  for(half=0; half<2; half++){
    const char *glue = half ? " UNION ALL SELECT " : "(SELECT ";
    for(i=0; i<source->num_columns; i++){
      const char *column = source->columns[i].name;
      if( !is_needed(args, &source->columns[i]) ) continue;
      if( half==0 ) sqlite3_str_appendf(sql, "%s\"%w\".\"%w\" AS \"%w\"", glue, source->name, column, column);
      else sqlite3_str_appendf(sql, "%sold.\"%w\"%s", glue, column, source->columns[i].kind==BLOOM_COLUMN_TEXT ? "||''" : "");
      glue = ", ";
    }
    if( glue[0]!=',' ) sqlite3_str_appendf(sql, "%s1", glue);
    if( half==0 ) sqlite3_str_appendf(sql, " FROM \"%w\" WHERE 0", source->name);
  }
  sqlite3_str_appendf(sql, " LIMIT 1) AS \"%w\"", source->name);
}

/* A tuple's columns of a table, or of old or new: "t"."a", "t"."b". */
static void append_parts(sqlite3_str *sql, const char *table, const bloom_vtab_args *args){
  int i;
  for(i=0; i<args->num_parts; i++) sqlite3_str_appendf(sql, "%s%s.\"%w\"", i ? ", " : "", table, args->parts[i]);
}

static void append_source_parts(sqlite3_str *sql, const bloom_source *source, const bloom_vtab_args *args){
  int i;
  for(i=0; i<args->num_parts; i++) sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"", i ? ", " : "", source->name, args->parts[i]);
}

/* What a key to add is written to: key, or key_1, key_2 ... */
static void append_names(sqlite3_str *sql, const bloom_vtab_args *args){
  int i;
  if( args->num_parts==0 ) sqlite3_str_appendall(sql, "key");
  for(i=1; i<=args->num_parts; i++) sqlite3_str_appendf(sql, "%skey_%d", i>1 ? ", " : "", i);
}

/* The key of a row, a tuple's as one value. */
static void append_whole_key(sqlite3_str *sql, const bloom_source *source, const bloom_vtab_args *args){
  if( args->num_parts ){
    sqlite3_str_appendall(sql, "bloom_tuple(");
    append_source_parts(sql, source, args);
    sqlite3_str_appendall(sql, ")");
  }else if( args->is_column ){
    sqlite3_str_appendf(sql, "\"%w\".\"%w\"", source->name, args->key);
  }else{
    sqlite3_str_appendf(sql, "(%s\n)", args->key);
  }
}

/* FROM source WHERE condition, or from the old row.  Lines end so that a comment does. */
static void append_from(sqlite3_str *sql, const bloom_source *source, const bloom_vtab_args *args, int is_old_row){
  sqlite3_str_appendall(sql, " FROM ");
  if( is_old_row ) append_old_row(sql, source, args);
  else sqlite3_str_appendf(sql, "\"%w\"", source->name);
  sqlite3_str_appendf(sql, " WHERE (%s\n)", args->where ? args->where : "1");
}

/* What the trigger of a plain column says. */
static void append_plain_parts(sqlite3_str *sql, const bloom_vtab_args *args, bloom_vtab_trigger kind){
  if( kind==BLOOM_BEFORE_DELETE ){
    sqlite3_str_appendall(sql, "removed) VALUES (bloom_tuple(");
    append_parts(sql, "old", args);
    sqlite3_str_appendall(sql, "))");
    return;
  }
  append_names(sql, args);
  sqlite3_str_appendall(sql, kind==BLOOM_BEFORE_UPDATE ? ", removed) VALUES (" : ") VALUES (");
  append_parts(sql, "new", args);
  if( kind==BLOOM_BEFORE_UPDATE ){
    sqlite3_str_appendall(sql, ", bloom_tuple(");
    append_parts(sql, "old", args);
    sqlite3_str_appendall(sql, ")");
  }
  sqlite3_str_appendall(sql, ")");
}

/* The same of one column. */
static void append_plain(sqlite3_str *sql, const char *key, bloom_vtab_trigger kind){
  if( kind==BLOOM_BEFORE_UPDATE ) sqlite3_str_appendf(sql, "key, removed) VALUES (new.\"%w\", old.\"%w\")", key, key);
  else if( kind==BLOOM_BEFORE_DELETE ) sqlite3_str_appendf(sql, "removed) VALUES (old.\"%w\")", key);
  else sqlite3_str_appendf(sql, "key) VALUES (new.\"%w\")", key);
}

/* What the others say.  The key that an UPDATE removed only counts, so the old row will do, in
** which a BLOB of a TEXT column is a text. */
static void append_stored(
  sqlite3_str *sql, const bloom_source *source, const bloom_vtab_args *args, bloom_vtab_trigger kind
){
  int i = 0;
  if( kind==BLOOM_BEFORE_DELETE ){
    sqlite3_str_appendall(sql, "removed) SELECT ");
    append_whole_key(sql, source, args);
    append_from(sql, source, args, 0);
    append_row_condition(sql, source, "old");
    return;
  }
  append_names(sql, args);
  if( kind!=BLOOM_AFTER_UPDATE ){
    sqlite3_str_appendall(sql, ") SELECT ");
    if( args->num_parts ) append_source_parts(sql, source, args);
    else append_whole_key(sql, source, args);
    append_from(sql, source, args, 0);
    append_row_condition(sql, source, "new");
    return;
  }
  sqlite3_str_appendall(sql, ", removed) VALUES (");
  do{
    sqlite3_str_appendall(sql, "(SELECT ");
    if( args->num_parts ) sqlite3_str_appendf(sql, "\"%w\".\"%w\"", source->name, args->parts[i]);
    else append_whole_key(sql, source, args);
    append_from(sql, source, args, 0);
    append_row_condition(sql, source, "new");
    sqlite3_str_appendall(sql, "), ");
  }while( ++i<args->num_parts );
  sqlite3_str_appendall(sql, "(SELECT ");
  append_whole_key(sql, source, args);
  append_from(sql, source, args, 1);
  sqlite3_str_appendall(sql, "))");
}

static int create_trigger(
  bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, bloom_vtab_trigger kind
){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  sqlite3_str_appendf(sql, "CREATE TRIGGER \"%w\".\"%w%s\" %s ON \"%w\"", vtab->schema, vtab->name,
                      trigger_rows[kind].suffix, trigger_rows[kind].event, source->name);
  if( kind==BLOOM_BEFORE_UPDATE || kind==BLOOM_AFTER_UPDATE ) append_when(sql, source, args);
  sqlite3_str_appendf(sql, " BEGIN INSERT INTO \"%w\"(", vtab->name);
  if( args->num_parts && args->where==NULL ) append_plain_parts(sql, args, kind);
  else if( args->is_column && args->where==NULL ) append_plain(sql, args->key, kind);
  else append_stored(sql, source, args, kind);
  sqlite3_str_appendall(sql, "; END");
  return bloom_sql_run_text(vtab->connection, sqlite3_str_finish(sql));
}

/* The rowid by a name that no column has: VACUUM may change it, and a column may take the name. */
static int refuse_rowid(const bloom_source *source, const char *text, char **error){
  bloom_token token = bloom_token_first(text ? text : "");
  for(; token.num_chars; token=bloom_token_after(token)){
    char *name = bloom_token_unquoted(token);
    const int is_rowid = name && token.kind!='\'' && bloom_source_is_rowid_name(name) && !bloom_source_has(source, name);
    sqlite3_free(name);
    if( name==NULL ) return SQLITE_NOMEM;
    if( is_rowid ){
      return bloom_fail_vtab(error, "bloom: %s names the rowid, which a trigger cannot do; name the INTEGER PRIMARY "
                                    "KEY column", text);
    }
  }
  return SQLITE_OK;
}

/* Finds a key's column, by its own name or as the rowid; *name is then as the schema has it. */
static int find_key_column(
  const bloom_source *source, char **name, const bloom_source_column **column, char **error
){
  const bloom_source_column *found = bloom_source_find(source, *name);
  char *key;
  if( found==NULL && bloom_source_is_rowid_name(*name) && source->row_name ){
    return bloom_fail_vtab(error, "bloom: table %s has no INTEGER PRIMARY KEY, and VACUUM may change its rowids",
                                  source->name);
  }
  if( found==NULL ) return bloom_fail_vtab(error, "bloom: there is no column %s in table %s", *name, source->name);
  key = sqlite3_mprintf("%s", found->name);
  if( key==NULL ) return SQLITE_NOMEM;
  sqlite3_free(*name);
  *name = key;
  *column = found;
  return SQLITE_OK;
}

int bloom_vtab_find_rules(const bloom_source *source, bloom_vtab_args *args, bloom_vtab_layout *layout, char **error){
  const int is_plain = bloom_vtab_has_columns(args) && args->where==NULL;
  const int num_columns = args->num_parts ? args->num_parts : 1;
  const bloom_source_column *column = NULL;
  int i, is_late = 0, rc = SQLITE_OK;
  layout->rules[0] = (bloom_equality){BLOOM_COLUMN_EXPRESSION, BLOOM_COLLATION_BINARY};
  for(i=0; i<num_columns && rc==SQLITE_OK && bloom_vtab_has_columns(args); i++){
    rc = find_key_column(source, args->num_parts ? &args->parts[i] : &args->key, &column, error);
    if( rc!=SQLITE_OK ) return rc;
    is_late |= is_decided_late(source, column);
    rc = bloom_source_equality(source, column, &layout->rules[i], error);
  }
  if( rc!=SQLITE_OK ) return rc;
  if( !is_plain && source->row_name==NULL && source->num_keys==0 ){
    return bloom_fail_vtab(error, "bloom: columns of table %s take all names of the rowid, so no trigger can find its "
                                  "row", source->name);
  }
  layout->num_columns = num_columns;
  layout->triggers = 1u << BLOOM_AFTER_UPDATE | 1u << BLOOM_BEFORE_DELETE;
  if( is_plain ) layout->triggers |= 1u << BLOOM_BEFORE_INSERT | 1u << BLOOM_BEFORE_UPDATE;
  if( !is_plain || is_late ) layout->triggers |= 1u << BLOOM_AFTER_INSERT;
  return SQLITE_OK;
}

/* Refuses an expression that `=` compares by more than its bytes.  As the first half of a
** compound SELECT it gives its collation to a text. */
static int refuse_coarse_collation(const bloom_source *source, const char *expression, char **error){
  sqlite3_int64 is_coarse = 0;
  int rc = bloom_sql_integer(source->connection, &is_coarse,
    "SELECT value = 'A' OR value = 'a ' OR value = char(225) FROM"
    " (SELECT (%s\n) AS value FROM \"%w\".\"%w\" WHERE 0 UNION ALL SELECT 'a')", expression, source->schema, source->name);
  if( rc!=SQLITE_OK ) return bloom_source_failure(source->connection->db, rc, error);
  return is_coarse ? bloom_fail_vtab(error, "bloom: %s has a collation other than BINARY, and a filter over an "
                                            "expression compares bytes; name the column alone, or write lower(...) for "
                                            "NOCASE, rtrim(...) for RTRIM", expression) : SQLITE_OK;
}

static void append_index_parts(sqlite3_str *sql, const bloom_vtab_args *args){
  int i;
  for(i=0; i<args->num_parts; i++) sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : "", args->parts[i]);
}

int bloom_vtab_check_args(const bloom_source *source, bloom_vtab_args *args, bloom_vtab_layout *layout, char **error){
  const int is_expression = !bloom_vtab_has_columns(args);
  sqlite3_str *sql;
  char *key;
  int rc = bloom_vtab_find_rules(source, args, layout, error);
  if( rc==SQLITE_OK && is_expression ) rc = bloom_text_check_expression("key", args->key, error);
  if( rc==SQLITE_OK && is_expression ) rc = refuse_rowid(source, args->key, error);
  if( rc==SQLITE_OK && args->where ) rc = bloom_text_check_expression("where", args->where, error);
  if( rc==SQLITE_OK ) rc = refuse_rowid(source, args->where, error);
  if( rc!=SQLITE_OK ) return rc;
  sql = sqlite3_str_new(source->connection->db);
  if( args->num_parts ) append_index_parts(sql, args);
  else sqlite3_str_appendf(sql, args->is_column ? "\"%w\"" : "(%s\n)", args->key);
  key = sqlite3_str_finish(sql);
  if( key==NULL ) return SQLITE_NOMEM;
  rc = bloom_source_check_index(source, key, args->where, error);
  if( rc==SQLITE_OK && is_expression ) rc = refuse_coarse_collation(source, args->key, error);
  sqlite3_free(key);
  return rc;
}

int bloom_vtab_triggers_find_rows(const bloom_source *source, const bloom_triggers *triggers){
  sqlite3_str *sql;
  char *condition;
  int is_found = 1;
  if( source->row_name==NULL || source->row_column || triggers->num_rows==0 ) return 1;
  sql = sqlite3_str_new(source->connection->db);
  sqlite3_str_appendf(sql, " = old.\"%w\"", source->row_name);
  condition = sqlite3_str_finish(sql);
  if( condition ) is_found = strstr(triggers->rows[triggers->num_rows-1].sql, condition)!=NULL;
  sqlite3_free(condition);
  return is_found;
}

int bloom_vtab_create_triggers(bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, unsigned kinds){
  int kind, rc = SQLITE_OK;
  for(kind=0; kind<BLOOM_NUM_TRIGGERS && rc==SQLITE_OK; kind++){
    if( kinds >> kind & 1u ) rc = create_trigger(vtab, source, args, (bloom_vtab_trigger)kind);
  }
  return rc;
}

int bloom_vtab_prepare_keys(
  bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, int is_count, sqlite3_stmt **row
){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  int i;
  sqlite3_str_appendall(sql, is_count ? "SELECT count(" : "SELECT ");
  if( args->num_parts && is_count ){
    for(i=0; i<args->num_parts; i++) sqlite3_str_appendf(sql, "%s\"%w\".\"%w\" NOTNULL", i ? " AND " : "", source->name, args->parts[i]);
    sqlite3_str_appendall(sql, " OR NULL");
  }else if( args->num_parts ){
    append_source_parts(sql, source, args);
  }else{
    append_whole_key(sql, source, args);
  }
  sqlite3_str_appendf(sql, "%s FROM \"%w\".\"%w\" WHERE (%s\n)", is_count ? ")" : "", source->schema, source->name,
                      args->where ? args->where : "1");
  return bloom_sql_prepare_text(vtab->connection, row, sqlite3_str_finish(sql));
}

/* -- Reading back ----------------------------------------------------------------------- */

/* The text within parentheses that begin with open, but for the line's end that was put after
** it; to be freed. */
static char *text_within(bloom_token open){
  const char *end = bloom_token_closing(open).text;
  return sqlite3_mprintf("%.*s", (int)(end - open.text) - 1 - (end[-1]=='\n'), open.text + 1);
}

/* Reads bloom_tuple(t.a, t.b); *token is the closing parenthesis then. */
static int read_tuple(bloom_token *token, bloom_vtab_args *args){
  bloom_token each = bloom_token_after(*token);
  while( each.kind==(args->num_parts ? ',' : '(') ){
    each = bloom_token_after(bloom_token_after(bloom_token_after(each)));
    if( !bloom_token_is_name(each) || args->num_parts==BLOOM_VTAB_MAX_COLUMNS ) return SQLITE_NOTFOUND;
    args->parts[args->num_parts] = bloom_token_unquoted(each);
    if( args->parts[args->num_parts++]==NULL ) return SQLITE_NOMEM;
    each = bloom_token_after(each);
  }
  *token = each;
  return each.kind==')' && args->num_parts>1 ? SQLITE_OK : SQLITE_NOTFOUND;
}

/* Reads a column under a condition, or an expression: SELECT key FROM table WHERE (condition). */
static int read_selected(bloom_token token, int is_column, bloom_vtab_args *args){
  char *where;
  if( bloom_token_is(token, "bloom_tuple") ){
    int rc = read_tuple(&token, args);
    if( rc!=SQLITE_OK ) return rc;
  }else if( is_column ){
    token = bloom_token_after(bloom_token_after(token)); /* "t". */
    args->key = bloom_token_unquoted(token);
  }else if( token.kind=='(' ){
    args->key = text_within(token);
    token = bloom_token_closing(token);
  }else{
    return SQLITE_NOTFOUND;
  }
  if( args->key==NULL && args->num_parts==0 ) return SQLITE_NOMEM;
  token = bloom_token_after(token);
  if( !bloom_token_is(token, "FROM") ) return SQLITE_NOTFOUND;
  token = bloom_token_after(bloom_token_after(token));
  if( !bloom_token_is(token, "WHERE") ) return SQLITE_NOTFOUND;
  token = bloom_token_after(token);
  if( token.kind!='(' ) return SQLITE_NOTFOUND;
  where = text_within(token);
  if( where==NULL ) return SQLITE_NOMEM;
  if( strcmp(where, "1")!=0 ) args->where = where;
  else sqlite3_free(where);
  return SQLITE_OK;
}

int bloom_vtab_args_of_triggers(const bloom_vtab *vtab, const bloom_triggers *triggers, bloom_vtab_args *args){
  const char *sql = NULL;
  bloom_token token;
  int i;
  *args = (bloom_vtab_args){.is_column = vtab->args.is_column, .size = vtab->args.size, .capacity = vtab->args.capacity};
  if( !bloom_triggers_are_on_one_table(triggers) ) return SQLITE_NOTFOUND;
  for(i=0; i<triggers->num_rows; i++){
    if( trigger_kind(triggers->rows[i].name)==BLOOM_BEFORE_DELETE ) sql = triggers->rows[i].sql;
  }
  if( sql==NULL ) return SQLITE_NOTFOUND;
  args->table = sqlite3_mprintf("%s", triggers->rows[0].table);
  if( args->table==NULL ) return SQLITE_NOMEM;
  token = bloom_token_after(bloom_token_after(trigger_body(sql))); /* removed ) */
  if( bloom_token_is(token, "SELECT") ){
    const int rc = read_selected(bloom_token_after(token), args->is_column, args);
    return rc==SQLITE_OK && args->num_parts!=vtab->args.num_parts ? SQLITE_NOTFOUND : rc;
  }
  if( vtab->args.num_parts ){
    /* VALUES ( bloom_tuple ( */
    const bloom_token tuple = bloom_token_after(bloom_token_after(token));
    int rc;
    token = tuple;
    rc = bloom_token_is(tuple, "bloom_tuple") ? read_tuple(&token, args) : SQLITE_NOTFOUND;
    return rc==SQLITE_OK && args->num_parts!=vtab->args.num_parts ? SQLITE_NOTFOUND : rc;
  }
  /* VALUES ( old . "k" ) */
  for(i=0; i<4; i++) token = bloom_token_after(token);
  if( !args->is_column || !bloom_token_is_name(token) ) return SQLITE_NOTFOUND;
  args->key = bloom_token_unquoted(token);
  return args->key ? SQLITE_OK : SQLITE_NOMEM;
}
