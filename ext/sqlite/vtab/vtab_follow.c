/*
** The triggers of a filter, and how they are read back.
**
** A plain column's text does not name the source:
**
**   BEGIN INSERT INTO "f"(key) VALUES ("new"."k"); END
**
** BEFORE knows it, but for what SQLite decides later: the rowid, a generated column, the
** DEFAULT that OR REPLACE puts in place of NULL.  There AFTER tells it once more.
**
** An expression, or a column under a condition, is read from the row that was stored:
**
**   BEGIN INSERT INTO "f"(key) SELECT "t"."k" FROM "t" WHERE (condition) AND "t"."id" = new."id"; END
**
** That is what a look-up sees, exactly.  AFTER triggers that are newer can stop it: vtab_unheard.c.
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
  if( bloom_token_is(token, "key") || bloom_token_is(token, "key_1") || bloom_token_is(token, "removed") ) return token;
  return bloom_token_is(token, "unheard") ? token : bloom_token_first("");
}

int bloom_vtab_is_filters_trigger(const char *sql){
  bloom_token token = trigger_body(sql);
  while( token.num_chars && token.kind!=';' ) token = bloom_token_after(token);
  token = bloom_token_after(token);
  return bloom_token_is(token, "END") && bloom_token_after(token).num_chars==0;
}

/* Those that the user made to write to the filter are not the filter's. */
static int is_own_trigger(const char *name, const char *sql){
  return trigger_kind(name)<BLOOM_NUM_TRIGGERS && bloom_vtab_is_filters_trigger(sql);
}

int bloom_vtab_read_triggers(const bloom_vtab *vtab, bloom_triggers *triggers){
  char *body_begin = bloom_trigger_body_begin(vtab->name);
  int rc = SQLITE_NOMEM;
  *triggers = (bloom_triggers){NULL, 0, 0};
  if( body_begin ) rc = bloom_triggers_read(vtab->connection, vtab->schema, NULL, body_begin, is_own_trigger, triggers);
  sqlite3_free(body_begin);
  return rc;
}

/* -- Making ----------------------------------------------------------------------------- */

/* 1 if a column's name stands in the key or the condition. */
static int is_needed(const bloom_vtab_args *args, const bloom_source_column *column){
  int i;
  for(i=0; i<args->num_columns; i++){
    if( sqlite3_stricmp(args->columns[i], column->name)==0 ) return 1;
  }
  return (args->key && bloom_text_names(args->key, column->name)) || (args->where && bloom_text_names(args->where, column->name));
}

/* 1 if one that is needed is generated: to BEFORE it may look as it did, and be another afterwards. */
static int needs_generated(const bloom_source *source, const bloom_vtab_args *args){
  int i;
  for(i=0; i<source->num_columns; i++){
    if( source->columns[i].is_generated && is_needed(args, &source->columns[i]) ) return 1;
  }
  return 0;
}

/* The columns that are needed, as they are before or after.  1 is 1.0 as a key, but not to an
** expression or a condition, nor as a text in a tuple: typeof(k), k || ''. */
static void append_version(sqlite3_str *sql, const bloom_source *source, const bloom_vtab_args *args, const char *version){
  const int is_plain = args->num_columns==1 && args->where==NULL;
  const char *glue = "(";
  int i;
  for(i=0; i<source->num_columns; i++){
    const char *column = source->columns[i].name;
    if( !is_needed(args, &source->columns[i]) ) continue;
    sqlite3_str_appendf(sql, "%s%s.\"%w\" COLLATE BINARY", glue, version, column);
    glue = ", ";
    if( is_plain || source->columns[i].kind==BLOOM_COLUMN_TEXT ) continue;
    sqlite3_str_appendf(sql, ", typeof(%s.\"%w\")", version, column);
  }
  sqlite3_str_appendall(sql, glue[0]=='(' ? "(0)" : ")");
}

void bloom_vtab_append_row_condition(sqlite3_str *sql, const bloom_source *source, const char *version){
  int i;
  if( source->row_name ){
    sqlite3_str_appendf(sql, " AND \"%w\".\"%w\" = %s.\"%w\"", source->name, source->row_name, version, source->row_name);
    return;
  }
  for(i=0; i<source->num_columns; i++){
    const char *column = source->columns[i].name;
    if( source->columns[i].key_number==0 ) continue;
    sqlite3_str_appendf(sql, " AND \"%w\".\"%w\" = %s.\"%w\"%s", source->name, column, version, column,
                        source->columns[i].has_other_collation ? " COLLATE BINARY" : "");
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

/* The key's columns, of a table, or of old or new: "t"."a", "t"."b"; an expression in their place. */
static void append_key_parts(sqlite3_str *sql, const char *table, const bloom_vtab_args *args){
  int i;
  for(i=0; i<args->num_columns; i++) sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"", i ? ", " : "", table, args->columns[i]);
  if( args->key ) sqlite3_str_appendf(sql, "(%s\n)", args->key);
}

/* The same, a tuple's as one value. */
static void append_key(sqlite3_str *sql, const char *table, const bloom_vtab_args *args){
  if( args->num_columns>1 ) sqlite3_str_appendall(sql, "bloom_tuple(");
  append_key_parts(sql, table, args);
  if( args->num_columns>1 ) sqlite3_str_appendall(sql, ")");
}

/* FROM source WHERE condition, or from the old row.  Lines end so that a comment does. */
static void append_from(sqlite3_str *sql, const bloom_source *source, const bloom_vtab_args *args, int is_old_row){
  sqlite3_str_appendall(sql, " FROM ");
  if( is_old_row ) append_old_row(sql, source, args);
  else sqlite3_str_appendf(sql, "\"%w\"", source->name);
  sqlite3_str_appendf(sql, " WHERE (%s\n)", args->where ? args->where : "1");
}

/* What is written of new and old, where the source need not be read; without the parenthesis at its end. */
static void append_plain(sqlite3_str *sql, const bloom_vtab_args *args, int has_added, int has_removed){
  sqlite3_str_appendall(sql, "VALUES (");
  if( has_added ) append_key_parts(sql, "new", args);
  if( has_added && has_removed ) sqlite3_str_appendall(sql, ", ");
  if( has_removed ) append_key(sql, "old", args);
}

/* The same of the row that is stored.  The key that an UPDATE removed only counts, so the old row will
** do, in which a BLOB of a TEXT column is a text. */
static void append_stored(sqlite3_str *sql, const bloom_source *source, const bloom_vtab_args *args, int has_added, int has_removed){
  int i = 0;
  if( !has_added || !has_removed ){
    sqlite3_str_appendall(sql, "SELECT ");
    if( has_removed ) append_key(sql, source->name, args);
    else append_key_parts(sql, source->name, args);
    append_from(sql, source, args, 0);
    bloom_vtab_append_row_condition(sql, source, has_removed ? "old" : "new");
    return;
  }
  sqlite3_str_appendall(sql, "VALUES (");
  do{
    sqlite3_str_appendall(sql, "(SELECT ");
    if( args->key ) append_key_parts(sql, source->name, args);
    else sqlite3_str_appendf(sql, "\"%w\".\"%w\"", source->name, args->columns[i]);
    append_from(sql, source, args, 0);
    bloom_vtab_append_row_condition(sql, source, "new");
    sqlite3_str_appendall(sql, "), ");
  }while( ++i<args->num_columns );
  sqlite3_str_appendall(sql, "(SELECT ");
  append_key(sql, source->name, args);
  append_from(sql, source, args, 1);
  sqlite3_str_appendall(sql, "))");
}

/* The vtab's columns that a trigger writes. */
static void append_targets(sqlite3_str *sql, const bloom_vtab_args *args, int has_added, int has_removed, int is_late){
  int i;
  if( has_added && args->num_columns<2 ) sqlite3_str_appendall(sql, "key");
  for(i=1; has_added && args->num_columns>1 && i<=args->num_columns; i++) sqlite3_str_appendf(sql, "%skey_%d", i>1 ? ", " : "", i);
  sqlite3_str_appendf(sql, "%s%s) ", !has_removed ? "" : has_added ? ", removed" : "removed", is_late ? ", unheard" : "");
}

static char *trigger_text(const bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, unsigned kinds, int kind){
  const int is_plain = args->num_columns>0 && args->where==NULL;
  const int is_before = kind==BLOOM_BEFORE_INSERT || kind==BLOOM_BEFORE_UPDATE;
  const int is_late = is_plain && is_before && kinds >> BLOOM_AFTER_INSERT & 1u;
  const int is_blind = kind==BLOOM_BEFORE_UPDATE && needs_generated(source, args);
  const int has_added = kind!=BLOOM_BEFORE_DELETE;
  const int has_removed = !has_added || kind==(is_plain ? BLOOM_BEFORE_UPDATE : BLOOM_AFTER_UPDATE);
  const char *glue = " WHEN ";
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  sqlite3_str_appendf(sql, "%s ON \"%w\"", trigger_rows[kind].event, source->name);
  if( kind==BLOOM_AFTER_UPDATE || (kind==BLOOM_BEFORE_UPDATE && (is_plain || !is_blind)) ){
    sqlite3_str_appendall(sql, glue);
    append_version(sql, source, args, "new");
    sqlite3_str_appendall(sql, " IS NOT ");
    append_version(sql, source, args, "old");
    glue = is_plain ? " OR " : " AND ";
  }
  if( is_before && (!is_plain || is_blind) ){
    sqlite3_str_appendall(sql, glue);
    bloom_vtab_append_unheard(sql, vtab);
  }
  sqlite3_str_appendf(sql, " BEGIN INSERT INTO \"%w\"(", vtab->name);
  if( is_before && !is_plain ){
    sqlite3_str_appendall(sql, "unheard) VALUES (1); END");
    return sqlite3_str_finish(sql);
  }
  append_targets(sql, args, has_added, has_removed, is_late);
  if( is_plain ) append_plain(sql, args, has_added, has_removed);
  else append_stored(sql, source, args, has_added, has_removed);
  if( is_late ) bloom_vtab_append_late_watch(sql, vtab, source, args, kind==BLOOM_BEFORE_INSERT);
  sqlite3_str_appendf(sql, "%s; END", is_plain ? ")" : "");
  return sqlite3_str_finish(sql);
}

int bloom_vtab_create_triggers(bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, unsigned kinds){
  int kind, rc = SQLITE_OK;
  for(kind=0; kind<BLOOM_NUM_TRIGGERS && rc==SQLITE_OK; kind++){
    if( !(kinds >> kind & 1u) ) continue;
    rc = bloom_trigger_create(vtab->connection, vtab->schema, vtab->name, trigger_rows[kind].suffix, trigger_text(vtab, source, args, kinds, kind));
  }
  return rc;
}

int bloom_vtab_prepare_keys(bloom_vtab *vtab, const bloom_source *source, const bloom_vtab_args *args, int is_count, sqlite3_stmt **row){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  sqlite3_str_appendall(sql, is_count ? "SELECT count(" : "SELECT ");
  if( is_count ) append_key(sql, source->name, args);
  else append_key_parts(sql, source->name, args);
  sqlite3_str_appendf(sql, "%s FROM \"%w\".\"%w\" WHERE (%s\n)", is_count ? ")" : "", source->schema, source->name, args->where ? args->where : "1");
  return bloom_sql_prepare_text(vtab->connection, row, sqlite3_str_finish(sql));
}

/* -- Reading back ----------------------------------------------------------------------- */

/* The text within parentheses that begin with open, but for the line's end that was put after
** it; to be freed. */
static char *text_within(bloom_token open){
  const char *end = bloom_token_closing(open).text;
  return sqlite3_mprintf("%.*s", (int)(end - open.text) - 1 - (end[-1]=='\n'), open.text + 1);
}

/* Reads "t"."k", bloom_tuple("t"."a", "t"."b") or (expression), as the filter has it; *token is then
** what comes after it. */
static int read_key_back(bloom_token *token, int num_columns, bloom_vtab_args *args){
  if( num_columns==0 ){
    if( token->kind!='(' ) return SQLITE_NOTFOUND;
    args->key = text_within(*token);
    *token = bloom_token_after(bloom_token_closing(*token));
    return args->key ? SQLITE_OK : SQLITE_NOMEM;
  }
  if( num_columns>1 ){
    if( !bloom_token_is(*token, "bloom_tuple") ) return SQLITE_NOTFOUND;
    *token = bloom_token_after(bloom_token_after(*token));
  }
  while( args->num_columns<num_columns ){
    *token = bloom_token_after(bloom_token_after(*token));
    if( !bloom_token_is_name(*token) ) return SQLITE_NOTFOUND;
    args->columns[args->num_columns] = bloom_token_unquoted(*token);
    if( args->columns[args->num_columns++]==NULL ) return SQLITE_NOMEM;
    *token = bloom_token_after(*token);
    if( num_columns==1 ) break;
    if( token->kind!=(args->num_columns<num_columns ? ',' : ')') ) return SQLITE_NOTFOUND;
    *token = bloom_token_after(*token);
  }
  return SQLITE_OK;
}

/* Reads FROM table WHERE (condition). */
static int read_condition(bloom_token token, bloom_vtab_args *args){
  char *where;
  if( !bloom_token_is(token, "FROM") ) return SQLITE_NOTFOUND;
  token = bloom_token_after(bloom_token_after(token));
  if( !bloom_token_is(token, "WHERE") ) return SQLITE_NOTFOUND;
  token = bloom_token_after(token);
  if( token.kind!='(' ) return SQLITE_NOTFOUND;
  where = text_within(token);
  if( where==NULL ) return SQLITE_NOMEM;
  if( args->num_columns || strcmp(where, "1")!=0 ) args->where = where;
  else sqlite3_free(where);
  return SQLITE_OK;
}

int bloom_vtab_args_of_triggers(const bloom_vtab *vtab, const bloom_triggers *triggers, bloom_vtab_args *args){
  const char *sql = NULL;
  bloom_token token;
  int i, is_stored, rc;
  *args = (bloom_vtab_args){.size = vtab->args.size, .capacity = vtab->args.capacity};
  if( !bloom_triggers_are_on_one_table(triggers) ) return SQLITE_NOTFOUND;
  for(i=0; i<triggers->num_rows; i++){
    if( trigger_kind(triggers->rows[i].name)==BLOOM_BEFORE_DELETE ) sql = triggers->rows[i].sql;
  }
  if( sql==NULL ) return SQLITE_NOTFOUND;
  args->table = sqlite3_mprintf("%s", triggers->rows[0].table);
  if( args->table==NULL ) return SQLITE_NOMEM;
  /* removed) SELECT key FROM ..., or removed) VALUES (key) */
  token = bloom_token_after(bloom_token_after(trigger_body(sql)));
  is_stored = bloom_token_is(token, "SELECT");
  token = bloom_token_after(token);
  if( !is_stored ) token = bloom_token_after(token);
  rc = read_key_back(&token, vtab->args.num_columns, args);
  return rc==SQLITE_OK && is_stored ? read_condition(token, args) : rc;
}
