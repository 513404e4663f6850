/*
** The triggers of a filter: plain SQL that writes new keys to its journal.
**
**   BEFORE INSERT ON "t" WHEN new."k" IS NOT NULL BEGIN
**     INSERT INTO "f_new"(key, r) VALUES (new."k", random()); END
**   BEFORE UPDATE ON "t" WHEN new."k" IS NOT NULL AND (old."k" COLLATE BINARY IS NOT new."k" OR
**     typeof(old."k") <> typeof(new."k")) BEGIN ...
**
** They do not name the source, but for ON.  What BEFORE sees of one column is final, whatever other
** triggers do.  Of several, a BEFORE UPDATE trigger of the user's may change another than the
** statement sets, so there AFTER UPDATE writes the key once more.
*/
#include "vtab_int.h"

#include <string.h>

typedef enum trigger_kind {
  BEFORE_INSERT, BEFORE_UPDATE, AFTER_UPDATE,
  OLD_AFTER_INSERT, OLD_BEFORE_DELETE, /* of bloom 1.1 */
  NUM_TRIGGER_KINDS
} trigger_kind;

static const struct {
  const char *suffix, *event;
} trigger_kinds[NUM_TRIGGER_KINDS] = {
  {"_before_insert", "BEFORE INSERT"}, {"_before_update", "BEFORE UPDATE"},
  {"_after_update", "AFTER UPDATE"},
  {"_after_insert", "AFTER INSERT"}, {"_before_delete", "BEFORE DELETE"}
};

static int num_kinds(int num_columns){
  return num_columns>1 ? OLD_AFTER_INSERT : AFTER_UPDATE;
}

/* The kind of a trigger by its name; NUM_TRIGGER_KINDS if it is none. */
static int kind_of(const char *name){
  const size_t num_chars = strlen(name);
  int kind;
  for(kind=0; kind<NUM_TRIGGER_KINDS; kind++){
    const size_t end = strlen(trigger_kinds[kind].suffix);
    if( num_chars>=end && sqlite3_stricmp(name + num_chars - end, trigger_kinds[kind].suffix)==0 ){
      break;
    }
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

/* What comes after a trigger's name, to be freed. */
static char *trigger_text(
  const bloom_vtab *vtab, const char *table, const bloom_vtab_args *args, int kind
){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  char *journal = bloom_vtab_journal_text(vtab);
  int i;
  sqlite3_str_appendf(sql, "%s ON \"%w\" WHEN ", trigger_kinds[kind].event, table);
  append_when(sql, args, kind!=BEFORE_INSERT);
  sqlite3_str_appendf(sql, " BEGIN INSERT INTO %s VALUES (", journal ? journal : "");
  for(i=0; i<args->num_columns; i++) sqlite3_str_appendf(sql, "new.\"%w\", ", args->columns[i]);
  sqlite3_str_appendall(sql, "random()); END");
  if( journal ) sqlite3_free(journal);
  else sqlite3_str_reset(sql);
  return sqlite3_str_finish(sql);
}

char *bloom_vtab_trigger_names(const bloom_vtab *vtab){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  int kind;
  for(kind=0; kind<OLD_AFTER_INSERT; kind++){
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
                              trigger_text(vtab, args->table, args, kind));
  }
  return rc;
}

/* -- Reading ------------------------------------------------------------------------------- */

/* Triggers that the user made to write to the journal are not the filter's. */
static int is_own_trigger(const char *name){
  return kind_of(name)<NUM_TRIGGER_KINDS;
}

/* Reads the columns from VALUES (new."a", new."b", random()). */
static int read_columns(const char *sql, int num_columns, bloom_vtab_args *args){
  bloom_token token = bloom_token_first(sql);
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

/* Sets *is_same to 0 unless a trigger is what would be made of it now. */
static int compare_text(
  const bloom_vtab *vtab, const bloom_trigger *trigger, const bloom_vtab_args *args, int *is_same
){
  char *text = trigger_text(vtab, trigger->table, args, kind_of(trigger->name));
  char *sql = text ? sqlite3_mprintf("CREATE TRIGGER \"%w\" %s", trigger->name, text) : NULL;
  *is_same &= sql && strcmp(sql, trigger->sql)==0;
  sqlite3_free(text);
  sqlite3_free(sql);
  return sql ? SQLITE_OK : SQLITE_NOMEM;
}

int bloom_vtab_read_triggers(const bloom_vtab *vtab, bloom_vtab_triggers *triggers){
  bloom_triggers found;
  int rc = bloom_triggers_read_writing_to(vtab->connection, vtab->schema, vtab->name, "_new",
                                          is_own_trigger, &found);
  *triggers = (bloom_vtab_triggers){.args.size = vtab->args.size,
                                    .args.capacity = vtab->args.capacity};
  if( rc==SQLITE_OK && bloom_triggers_are_on_one_table(&found) ){
    unsigned seen = 0;
    int i, is_same = 1;
    rc = read_columns(found.rows[0].sql, vtab->args.num_columns, &triggers->args);
    if( rc==SQLITE_OK ) triggers->args.table = sqlite3_mprintf("%s", found.rows[0].table);
    if( rc==SQLITE_OK && triggers->args.table==NULL ) rc = SQLITE_NOMEM;
    for(i=0; i<found.num_rows && rc==SQLITE_OK; i++){
      rc = compare_text(vtab, &found.rows[i], &triggers->args, &is_same);
      seen |= 1u << kind_of(found.rows[i].name);
      triggers->last = found.rows[i].order;
    }
    triggers->are_all = rc==SQLITE_OK && is_same
      && seen==(1u << num_kinds(vtab->args.num_columns)) - 1;
  }
  bloom_triggers_free(&found);
  return rc==SQLITE_NOTFOUND ? SQLITE_OK : rc;
}

int bloom_vtab_drop_triggers(const bloom_vtab *vtab){
  const int rc = bloom_triggers_drop_writing_to(vtab->connection, vtab->schema, vtab->name, "_new",
                                                is_own_trigger);
  if( rc!=SQLITE_OK ) return rc;
  return bloom_triggers_drop_writing_to(vtab->connection, vtab->schema, vtab->name, "",
                                        is_own_trigger);
}
