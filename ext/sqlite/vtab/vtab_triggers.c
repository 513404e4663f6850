/*
** The triggers of a filter: plain SQL that writes new keys to its journal.
**
**   BEFORE INSERT ON "t" WHEN new."k" IS NOT NULL BEGIN
**     INSERT INTO "f_new"(key, r) VALUES (new."k", random()); END
**   BEFORE UPDATE OF "k" ON "t" WHEN new."k" IS NOT NULL AND (old."k" COLLATE BINARY IS NOT new."k"
**     OR typeof(old."k") <> typeof(new."k")) BEGIN ...
**
** OF is for speed alone: each UPDATE that sets k names it, as k is neither the rowid nor generated.
** Triggers of bloom 1.2.0 have no OF, and are as good.
**
** They do not name the source, but for ON.  What BEFORE sees of one column is final, whatever other
** triggers do.  Of several, a BEFORE UPDATE trigger of the user's may change another than the
** statement sets, so there AFTER UPDATE writes the key once more.
*/
#include "vtab_int.h"

#include <string.h>

typedef enum trigger_kind {
  BEFORE_INSERT, BEFORE_UPDATE, AFTER_UPDATE,
  NUM_TRIGGER_KINDS = BLOOM_VTAB_MAX_TRIGGERS
} trigger_kind;

static const struct {
  const char *suffix, *event;
} trigger_kinds[NUM_TRIGGER_KINDS] = {
  {"_before_insert", "BEFORE INSERT"}, {"_before_update", "BEFORE UPDATE"},
  {"_after_update", "AFTER UPDATE"}
};

static int num_kinds(int num_columns){
  return num_columns>1 ? NUM_TRIGGER_KINDS : AFTER_UPDATE;
}

/* Returns the kind of the filter's trigger that has a name; NUM_TRIGGER_KINDS if none has. */
static int kind_of(const bloom_vtab *vtab, const char *name){
  const size_t num_chars = strlen(vtab->name);
  int kind;
  if( strlen(name)<num_chars || sqlite3_strnicmp(name, vtab->name, (int)num_chars)!=0 ){
    return NUM_TRIGGER_KINDS;
  }
  for(kind=0; kind<NUM_TRIGGER_KINDS; kind++){
    if( sqlite3_stricmp(name + num_chars, trigger_kinds[kind].suffix)==0 ) break;
  }
  return kind;
}

/* The condition that there is a key, and of an UPDATE that it is another: 1 is 1.0, but as text it
** is not.  Of several columns as one CASE, since a chain of OR would be too deep for a program that
** limits the depth of expressions to 10. */
static void append_when(sqlite3_str *sql, const bloom_vtab_args *args, int is_update){
  const int is_one = args->num_columns==1;
  int i;
  if( !is_one ) sqlite3_str_appendall(sql, "CASE");
  for(i=0; i<args->num_columns; i++){
    sqlite3_str_appendf(sql, is_one ? "new.\"%w\" IS NOT NULL" : " WHEN new.\"%w\" IS NULL THEN 0",
                        args->columns[i]);
  }
  for(i=0; is_update && i<args->num_columns; i++){
    const char *column = args->columns[i];
    sqlite3_str_appendf(sql, is_one
        ? " AND (old.\"%w\" COLLATE BINARY IS NOT new.\"%w\" OR typeof(old.\"%w\") <>"
          " typeof(new.\"%w\"))"
      : " WHEN old.\"%w\" COLLATE BINARY IS NOT new.\"%w\" THEN 1 WHEN typeof(old.\"%w\") <>"
        " typeof(new.\"%w\") THEN 1",
      column, column, column, column);
  }
  if( !is_one ) sqlite3_str_appendall(sql, is_update ? " ELSE 0 END" : " ELSE 1 END");
}

/* Returns what a trigger does, to be freed: from BEGIN on. */
static char *trigger_action(
  const bloom_vtab *vtab, const char *journal, const bloom_vtab_args *args
){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  char *columns = bloom_vtab_journal_columns(vtab);
  int i;
  sqlite3_str_appendf(sql, "BEGIN INSERT INTO \"%w\"%s VALUES (", journal, columns ? columns : "");
  for(i=0; i<args->num_columns; i++) sqlite3_str_appendf(sql, "new.\"%w\", ", args->columns[i]);
  sqlite3_str_appendall(sql, "random()); END");
  if( columns ) sqlite3_free(columns);
  else sqlite3_str_reset(sql);
  return sqlite3_str_finish(sql);
}

/* Returns a trigger's event, to be freed: BEFORE UPDATE OF "a", "b"; without OF, as of 1.2.0. */
static char *trigger_event(
  const bloom_vtab *vtab, const bloom_vtab_args *args, int kind, int has_columns
){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  int i;
  sqlite3_str_appendall(sql, trigger_kinds[kind].event);
  for(i=0; has_columns && kind!=BEFORE_INSERT && i<args->num_columns; i++){
    sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : " OF ", args->columns[i]);
  }
  return sqlite3_str_finish(sql);
}

/* Returns what comes after a trigger's name, to be freed. */
static char *trigger_text(
  const bloom_vtab *vtab, const char *table, const bloom_vtab_args *args, int kind, int has_columns
){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  char *event = trigger_event(vtab, args, kind, has_columns);
  char *action = trigger_action(vtab, vtab->journal, args);
  sqlite3_str_appendf(sql, "%s ON \"%w\" WHEN ", event ? event : "", table);
  append_when(sql, args, kind!=BEFORE_INSERT);
  sqlite3_str_appendf(sql, " %s", action ? action : "");
  if( event==NULL || action==NULL ) sqlite3_str_reset(sql);
  sqlite3_free(event);
  sqlite3_free(action);
  return sqlite3_str_finish(sql);
}

char *bloom_vtab_trigger_names(const bloom_vtab *vtab){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  int kind;
  for(kind=0; kind<NUM_TRIGGER_KINDS; kind++){
    sqlite3_str_appendf(sql, "'%q%s', ", vtab->name, trigger_kinds[kind].suffix);
  }
  sqlite3_str_appendf(sql, "'%q_guard'", vtab->name);
  return sqlite3_str_finish(sql);
}

int bloom_vtab_create_triggers(
  bloom_vtab *vtab, const char *name, const bloom_vtab_args *args
){
  int kind, rc = SQLITE_OK;
  for(kind=0; kind<num_kinds(args->num_columns) && rc==SQLITE_OK; kind++){
    rc = bloom_trigger_create(vtab->connection, vtab->schema, name, trigger_kinds[kind].suffix,
                              trigger_text(vtab, args->table, args, kind, 1));
  }
  return rc;
}

/* -- Reading ------------------------------------------------------------------------------- */

/* Reads the columns from VALUES (new."a", new."b", random()).  SQLITE_NOTFOUND where there is
** something else. */
static int read_columns(bloom_token token, int num_columns, bloom_vtab_args *args){
  while( token.num_chars && !bloom_token_is(token, "VALUES") ) token = bloom_token_after(token);
  token = bloom_token_after(bloom_token_after(token)); /* behind the parenthesis */
  while( args->num_columns<num_columns ){
    token = bloom_token_after(bloom_token_after(token)); /* new, and the point */
    if( !bloom_token_is_name(token) ) return SQLITE_NOTFOUND;
    args->columns[args->num_columns] = bloom_token_unquoted(token);
    if( args->columns[args->num_columns++]==NULL ) return SQLITE_NOMEM;
    token = bloom_token_after(bloom_token_after(token)); /* the comma */
  }
  return SQLITE_OK;
}

/* Sets *is_own to whether a trigger has the name and the form of one of the filter's, and writes to
** its journal; or, journal is NULL, to any: that of another filter may have got its name. */
static int has_own_form(
  const bloom_vtab *vtab, const char *journal, const char *name, const char *table, const char *sql,
  int *is_own
){
  const int kind = kind_of(vtab, name);
  const bloom_token action = bloom_trigger_action(sql);
  bloom_vtab_args args = {.num_columns = 0};
  char *target = NULL;
  int has_columns, rc;
  *is_own = 0;
  if( kind==NUM_TRIGGER_KINDS || action.num_chars==0 ) return SQLITE_OK;
  rc = read_columns(action, vtab->args.num_columns, &args);
  if( rc==SQLITE_OK && journal==NULL ){
    target = bloom_token_unquoted(bloom_token_after(bloom_token_after(bloom_token_after(action))));
    if( target==NULL ) rc = SQLITE_NOMEM;
  }
  for(has_columns=0; has_columns<2 && rc==SQLITE_OK && !*is_own; has_columns++){
    rc = bloom_trigger_has_form(name, table, sql, trigger_event(vtab, &args, kind, has_columns),
                                trigger_action(vtab, journal ? journal : target, &args), is_own);
  }
  sqlite3_free(target);
  bloom_vtab_args_free(&args);
  return rc==SQLITE_NOTFOUND ? SQLITE_OK : rc;
}

int bloom_vtab_is_own_trigger(
  const void *data, const char *name, const char *table, const char *sql, int *is_own
){
  const bloom_vtab *vtab = data;
  return has_own_form(vtab, vtab->journal, name, table, sql, is_own);
}

/* Says also yes to those that write to another journal. */
static int has_own_name(
  const void *data, const char *name, const char *table, const char *sql, int *is_own
){
  return has_own_form(data, NULL, name, table, sql, is_own);
}

/* Says yes to those of bloom 1.0 and 1.1, which wrote keys to the virtual table itself. */
static int is_of_1_1(
  const void *data, const char *name, const char *table, const char *sql, int *is_own
){
  static const char *const forms[] = {
    "CREATE TRIGGER \"%w_before_insert\" BEFORE INSERT ON \"%w\" ",
    "CREATE TRIGGER \"%w_after_insert\" AFTER INSERT ON \"%w\" ",
    "CREATE TRIGGER \"%w_before_update\" BEFORE UPDATE ON \"%w\" ",
    "CREATE TRIGGER \"%w_after_update\" AFTER UPDATE ON \"%w\" ",
    "CREATE TRIGGER \"%w_before_delete\" BEFORE DELETE ON \"%w\" "
  };
  static const char *const columns[] = {"key", "removed", "unheard"};
  const bloom_vtab *vtab = data;
  const bloom_token action = bloom_trigger_action(sql);
  char *begin = sqlite3_mprintf("BEGIN INSERT INTO \"%w\"(", vtab->name);
  size_t i;
  (void)name;
  *is_own = 0;
  if( begin==NULL ) return SQLITE_NOMEM;
  if( strncmp(action.text, begin, strlen(begin))==0 ){
    const bloom_token column = bloom_token_first(action.text + strlen(begin));
    for(i=0; i<BLOOM_COUNT_OF(columns); i++) *is_own |= bloom_token_is(column, columns[i]);
  }
  sqlite3_free(begin);
  if( !*is_own ) return SQLITE_OK;
  *is_own = 0;
  for(i=0; i<BLOOM_COUNT_OF(forms) && !*is_own; i++){
    begin = sqlite3_mprintf(forms[i], vtab->name, table);
    if( begin==NULL ) return SQLITE_NOMEM;
    *is_own = strncmp(sql, begin, strlen(begin))==0;
    sqlite3_free(begin);
  }
  return SQLITE_OK;
}

/* Sets triggers->are_all to 0 unless a trigger is what would be made of it now, or was by bloom
** 1.2.0, and triggers->are_newest in the second case. */
static int compare_text(
  const bloom_vtab *vtab, const bloom_trigger *trigger, bloom_vtab_triggers *triggers
){
  int has_columns, is_same = 0;
  for(has_columns=0; has_columns<2 && !is_same; has_columns++){
    char *text = trigger_text(vtab, trigger->table, &triggers->args, kind_of(vtab, trigger->name),
                              has_columns);
    char *sql = text ? sqlite3_mprintf("CREATE TRIGGER \"%w\" %s", trigger->name, text) : NULL;
    const int has_memory = sql!=NULL;
    is_same = sql && strcmp(sql, trigger->sql)==0;
    sqlite3_free(text);
    sqlite3_free(sql);
    if( !has_memory ) return SQLITE_NOMEM;
    /* Of an INSERT the two are one. */
    if( is_same && !has_columns && kind_of(vtab, trigger->name)!=BEFORE_INSERT ){
      triggers->are_newest = 0;
    }
  }
  triggers->are_all &= is_same;
  return SQLITE_OK;
}

int bloom_vtab_read_triggers(const bloom_vtab *vtab, bloom_vtab_triggers *triggers){
  bloom_triggers found;
  int rc = bloom_triggers_read_own(vtab->connection, vtab->schema, bloom_vtab_is_own_trigger, vtab,
                                   &found);
  *triggers = (bloom_vtab_triggers){.args.size = vtab->args.size,
                                    .args.capacity = vtab->args.capacity,
                                    .are_newest = 1};
  /* A hostile schema may have a name twice. */
  if( rc==SQLITE_OK && found.num_rows<=BLOOM_VTAB_MAX_TRIGGERS
      && bloom_triggers_are_on_one_table(&found) ){
    unsigned seen = 0;
    int i;
    rc = read_columns(bloom_trigger_action(found.rows[0].sql), vtab->args.num_columns,
                      &triggers->args);
    if( rc==SQLITE_OK ) triggers->args.table = sqlite3_mprintf("%s", found.rows[0].table);
    if( rc==SQLITE_OK && triggers->args.table==NULL ) rc = SQLITE_NOMEM;
    triggers->are_all = 1;
    for(i=0; i<found.num_rows && rc==SQLITE_OK; i++){
      rc = compare_text(vtab, &found.rows[i], triggers);
      seen |= 1u << kind_of(vtab, found.rows[i].name);
      triggers->rows[triggers->num_triggers++] = found.rows[i].order;
    }
    triggers->are_all &= rc==SQLITE_OK && seen==(1u << num_kinds(vtab->args.num_columns)) - 1;
  }
  bloom_triggers_free(&found);
  return rc==SQLITE_NOTFOUND ? SQLITE_OK : rc;
}

int bloom_vtab_drop_triggers(const bloom_vtab *vtab, int is_for_good){
  const int rc = bloom_triggers_drop_own(vtab->connection, vtab->schema, is_for_good ? has_own_name
                                         : bloom_vtab_is_own_trigger, vtab);
  if( rc!=SQLITE_OK || !is_for_good ) return rc;
  return bloom_triggers_drop_own(vtab->connection, vtab->schema, is_of_1_1, vtab);
}
