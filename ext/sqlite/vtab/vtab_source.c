/*
** The triggers of a filter, plain SQL that writes new keys to its journal; the rules of its key;
** and whether the schema still is as it has to be.
**
**   BEFORE INSERT ON "t" WHEN new."k" IS NOT NULL BEGIN
**     INSERT INTO "f_new"(key, r) VALUES (new."k", (random() << 24) | (SELECT r >> 24 & 16777215
**     FROM "f_new" ORDER BY rowid DESC LIMIT 1)); END
**   BEFORE UPDATE OF "k" ON "t" WHEN new."k" IS NOT NULL AND (old."k" COLLATE BINARY IS NOT new."k"
**     OR typeof(old."k") <> typeof(new."k")) BEGIN ...
**
** OF is for speed alone: each UPDATE that sets k names it, as k is neither the rowid nor generated.
** Triggers of bloom 1.2.0 have no OF, and random() alone.  What BEFORE sees of one column is final,
** whatever other triggers do.  Of several, a BEFORE UPDATE trigger of the user's may change another
** than the statement sets, so there AFTER UPDATE writes the key once more.
**
** Answers are certain while the triggers are there, on one table and before the guard, the key's
** columns are what they were, and nothing else stands on the journal.  The guard is a trigger on
** the journal that never fires.  SQLite compiles every statement anew when the schema changed, so
** xBestIndex looks, once for each version of it; xFilter does where xBestIndex could not.
*/
#include "vtab_int.h"

#include <string.h>

/* -- The text of triggers ------------------------------------------------------------------- */

typedef enum trigger_kind {
  BEFORE_INSERT, BEFORE_UPDATE, AFTER_UPDATE, NUM_TRIGGER_KINDS
} trigger_kind;

static const char *const trigger_suffixes[NUM_TRIGGER_KINDS] = {
  "_before_insert", "_before_update", "_after_update"
};
static const char *const trigger_events[NUM_TRIGGER_KINDS] = {
  "BEFORE INSERT", "BEFORE UPDATE", "AFTER UPDATE"
};

/* The forms that their texts have had, each with its number. */
enum { OF_1_2_0, WITH_CHAIN, NUM_FORMS };

static int num_kinds(int num_columns){
  return num_columns>1 ? NUM_TRIGGER_KINDS : AFTER_UPDATE;
}

/* Returns the kind of the filter's trigger that has a name; NUM_TRIGGER_KINDS if none has. */
static int kind_of(const bloom_vtab *vtab, const char *name){
  return bloom_trigger_number(vtab->name, name, trigger_suffixes, NUM_TRIGGER_KINDS);
}

/* Appends the condition that there is a key, and of an UPDATE that it is another: 1 is 1.0, but as
** text it is not.  Of several columns as one CASE, since a chain of OR would be too deep for a
** program that limits the depth of expressions to 10. */
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
  const bloom_vtab *vtab, const char *journal, const bloom_vtab_args *args, int form
){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  int i;
  sqlite3_str_appendf(sql, "BEGIN INSERT INTO \"%w\"%s VALUES (", journal, vtab->journal_columns);
  for(i=0; i<args->num_columns; i++) sqlite3_str_appendf(sql, "new.\"%w\", ", args->columns[i]);
  if( form==WITH_CHAIN ){
    sqlite3_str_appendf(sql, "(random() << 24) | (SELECT r >> 24 & 16777215 FROM \"%w\""
                             " ORDER BY rowid DESC LIMIT 1)); END", journal);
  }else{
    sqlite3_str_appendall(sql, "random()); END");
  }
  return sqlite3_str_finish(sql);
}

/* Returns a trigger's event, to be freed: BEFORE UPDATE OF "a", "b". */
static char *trigger_event(
  const bloom_vtab *vtab, const bloom_vtab_args *args, int kind, int form
){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  int i;
  sqlite3_str_appendall(sql, trigger_events[kind]);
  for(i=0; form==WITH_CHAIN && kind!=BEFORE_INSERT && i<args->num_columns; i++){
    sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : " OF ", args->columns[i]);
  }
  return sqlite3_str_finish(sql);
}

/* Returns what comes after a trigger's name, to be freed. */
static char *trigger_text(
  const bloom_vtab *vtab, const char *table, const bloom_vtab_args *args, int kind, int form
){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  char *event = trigger_event(vtab, args, kind, form);
  char *action = trigger_action(vtab, vtab->journal, args, form);
  sqlite3_str_appendf(sql, "%s ON \"%w\" WHEN ", event ? event : "", table);
  append_when(sql, args, kind!=BEFORE_INSERT);
  sqlite3_str_appendf(sql, " %s", action ? action : "");
  if( event==NULL || action==NULL ) sqlite3_str_reset(sql);
  sqlite3_free(event);
  sqlite3_free(action);
  return sqlite3_str_finish(sql);
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
  int form, rc;
  *is_own = 0;
  if( kind==NUM_TRIGGER_KINDS || action.num_chars==0 ) return SQLITE_OK;
  rc = read_columns(action, vtab->args.num_columns, &args);
  if( rc==SQLITE_OK && journal==NULL ){
    target = bloom_token_unquoted(bloom_token_after(bloom_token_after(bloom_token_after(action))));
    if( target==NULL ) rc = SQLITE_NOMEM;
  }
  for(form=0; form<NUM_FORMS && rc==SQLITE_OK && !*is_own; form++){
    rc = bloom_trigger_has_form(name, table, sql, trigger_event(vtab, &args, kind, form),
                                trigger_action(vtab, journal ? journal : target, &args, form),
                                is_own);
  }
  sqlite3_free(target);
  bloom_vtab_args_free(&args);
  return rc==SQLITE_NOTFOUND ? SQLITE_OK : rc;
}

static int is_own_trigger(
  const void *data, const char *name, const char *table, const char *sql, int *is_own
){
  const bloom_vtab *vtab = data;
  return has_own_form(vtab, vtab->journal, name, table, sql, is_own);
}

/* Sets *is_own to 1 also for those that write to another journal; and for those of bloom 1.0 and
** 1.1, which wrote keys to the virtual table itself: a user's trigger of such a name that does can
** only fail. */
static int has_own_name(
  const void *data, const char *name, const char *table, const char *sql, int *is_own
){
  const bloom_vtab *vtab = data;
  const size_t num_chars = strlen(vtab->name);
  char *begin = sqlite3_mprintf("BEGIN INSERT INTO \"%w\"(", vtab->name);
  const int rc = begin ? has_own_form(vtab, NULL, name, table, sql, is_own) : SQLITE_NOMEM;
  const char *action = bloom_trigger_action(sql).text;
  if( rc==SQLITE_OK && !*is_own && strncmp(name, vtab->name, num_chars)==0 && name[num_chars]=='_'
      && strncmp(action, begin, strlen(begin))==0 ){
    const bloom_token column = bloom_token_first(action + strlen(begin));
    *is_own = bloom_token_is(column, "key") || bloom_token_is(column, "removed")
      || bloom_token_is(column, "unheard");
  }
  sqlite3_free(begin);
  return rc;
}

/* Sets triggers->are_all to 0 unless a trigger has a text that bloom gives it or gave it, and
** triggers->are_newest unless that is the newest. */
static int compare_text(
  const bloom_vtab *vtab, const bloom_trigger *trigger, bloom_vtab_triggers *triggers
){
  int form = NUM_FORMS, is_same = 0;
  assert(kind_of(vtab, trigger->name)<NUM_TRIGGER_KINDS);
  while( form>0 && !is_same ){
    char *text = trigger_text(vtab, trigger->table, &triggers->args, kind_of(vtab, trigger->name),
                              --form);
    char *sql = text ? sqlite3_mprintf("CREATE TRIGGER \"%w\" %s", trigger->name, text) : NULL;
    const int has_memory = sql!=NULL;
    is_same = sql && strcmp(sql, trigger->sql)==0;
    sqlite3_free(text);
    sqlite3_free(sql);
    if( !has_memory ) return SQLITE_NOMEM;
  }
  triggers->are_newest &= form==WITH_CHAIN;
  triggers->are_all &= is_same;
  return SQLITE_OK;
}

bloom_follower bloom_vtab_follower(const bloom_vtab *vtab){
  return (bloom_follower){vtab->connection, "bloom", vtab->schema, vtab->name, "_new", "_new",
                          is_own_trigger, vtab};
}

int bloom_vtab_read_triggers(
  const bloom_vtab *vtab, bloom_schema_mark *mark, bloom_vtab_triggers *triggers
){
  const bloom_follower follower = bloom_vtab_follower(vtab);
  bloom_follow found;
  int rc = bloom_follow_read(&follower, mark, &found);
  *triggers = (bloom_vtab_triggers){.args.size = vtab->args.size,
                                    .args.capacity = vtab->args.capacity,
                                    .are_newest = 1, .is_made_again = found.is_made_again,
                                    .has_others = found.has_others, .guard = found.guard};
  if( rc==SQLITE_OK && found.are_on_one_table ){
    const bloom_trigger *first = &found.own.rows[0];
    unsigned seen = 0;
    int i;
    rc = read_columns(bloom_trigger_action(first->sql), vtab->args.num_columns, &triggers->args);
    if( rc==SQLITE_OK ) triggers->args.table = sqlite3_mprintf("%s", first->table);
    if( rc==SQLITE_OK && triggers->args.table==NULL ) rc = SQLITE_NOMEM;
    triggers->are_all = 1;
    for(i=0; i<found.own.num_rows && rc==SQLITE_OK; i++){
      rc = compare_text(vtab, &found.own.rows[i], triggers);
      seen |= 1u << kind_of(vtab, found.own.rows[i].name);
    }
    triggers->are_all &= rc==SQLITE_OK && seen==(1u << num_kinds(vtab->args.num_columns)) - 1;
  }
  bloom_follow_free(&found);
  return rc==SQLITE_NOTFOUND ? SQLITE_OK : rc;
}

int bloom_vtab_create_triggers(const bloom_vtab *vtab, const bloom_vtab_args *args){
  const bloom_follower follower = bloom_vtab_follower(vtab);
  int kind, rc = bloom_vtab_drop_triggers(vtab, 0);
  for(kind=0; kind<num_kinds(args->num_columns) && rc==SQLITE_OK; kind++){
    rc = bloom_trigger_create(&follower, trigger_suffixes[kind],
                              trigger_text(vtab, args->table, args, kind, WITH_CHAIN));
  }
  return rc==SQLITE_OK ? bloom_guard_create(&follower) : rc;
}

int bloom_vtab_drop_triggers(const bloom_vtab *vtab, int is_for_good){
  const bloom_follower follower = bloom_vtab_follower(vtab);
  return bloom_follow_drop(&follower, is_for_good ? has_own_name : is_own_trigger);
}

/* -- Columns ----------------------------------------------------------------------------- */

void bloom_vtab_args_free(bloom_vtab_args *args){
  int i;
  for(i=0; i<args->num_columns; i++) sqlite3_free(args->columns[i]);
  sqlite3_free(args->table);
  sqlite3_free(args->default_value);
  sqlite3_free(args->refusal);
  memset(args, 0, sizeof(*args));
}

/* Fails with what makes a column one that triggers do not see as it is stored. */
static int refuse_column(
  bloom_vtab *vtab, const bloom_source *source, const bloom_source_column *column, const char *what
){
  return bloom_vtab_fail(vtab, "bloom: column %s of table %s %s; use bloom_build(), or a filter of"
                               " your own and triggers: CREATE VIRTUAL TABLE f USING bloom();"
                               " CREATE TRIGGER f_insert AFTER INSERT ON %s BEGIN INSERT INTO"
                               " f(key) VALUES (new.%s); END; and the same AFTER UPDATE",
                         column->name, source->name, what, source->name, column->name);
}

/* Makes *name, to be freed, another one. */
static int replace_name(char **name, const char *other){
  char *copy = sqlite3_mprintf("%s", other);
  if( copy==NULL ) return SQLITE_NOMEM;
  sqlite3_free(*name);
  *name = copy;
  return SQLITE_OK;
}

/* Finds a key's column; *name is then as the schema has it. */
static int find_key_column(
  bloom_vtab *vtab, const bloom_source *source, char **name, const bloom_source_column **column
){
  int number = bloom_source_find(source, *name);
  const bloom_source_column *found;
  if( number<0 && bloom_source_is_rowid_name(*name) ){
    number = source->id_column;
    if( number<0 ) return bloom_vtab_fail(vtab, "bloom: a filter has no rowids: SQLite may choose"
                                                " one after triggers have run, and VACUUM may"
                                                " change it");
  }
  if( number<0 ){
    return bloom_vtab_fail(vtab, "bloom: there is no column %s in table %s", *name, source->name);
  }
  found = *column = &source->list[number];
  if( number==source->id_column ){
    return refuse_column(vtab, source, found, "is the rowid, which SQLite may choose after triggers"
                                              " have run, and which is looked up fast");
  }
  if( found->is_generated ){
    return refuse_column(vtab, source, found, "is generated, and may change after triggers have"
                                              " run");
  }
  return replace_name(name, found->name);
}

/* Sets the column's rule of `=`. */
static int find_equality(
  bloom_vtab *vtab, const bloom_source *source, const bloom_source_column *column,
  bloom_equality *rule
){
  rule->kind = column->kind;
  if( bloom_collation_named(column->collation, &rule->collation) ) return SQLITE_OK;
  return bloom_vtab_fail(vtab, "bloom: column %s of table %s has collation %s, and a filter cannot"
                               " know which values it takes for equal; it knows BINARY, NOCASE and"
                               " RTRIM", column->name, source->name, column->collation);
}

/* Fails where the DEFAULT cannot be foreseen, and notes what it is. */
static int check_default(
  bloom_vtab *vtab, const bloom_source *source, const bloom_source_column *column,
  bloom_vtab_args *args, bloom_vtab_layout *layout
){
  const char *text = column->default_value;
  sqlite3_stmt *row;
  int rc = bloom_source_prepare_default(vtab->connection, text, &row);
  const int has_value = row!=NULL;
  sqlite3_finalize(row);
  if( rc==SQLITE_NOTFOUND ){
    return refuse_column(vtab, source, column, "has a DEFAULT that is no constant, which OR REPLACE"
                                               " may store after triggers have run");
  }
  if( rc!=SQLITE_OK || !has_value ) return rc;
  if( args->num_columns>1 ){
    return refuse_column(vtab, source, column, "has a DEFAULT, which OR REPLACE may store after"
                                               " triggers have run, and cannot be in a key of"
                                               " several columns");
  }
  layout->default_checksum = bloom_checksum(text, strlen(text));
  return replace_name(&args->default_value, text);
}

/* Sets args->has_namesake. */
static int find_namesakes(bloom_vtab *vtab, const bloom_source *source, bloom_vtab_args *args){
  const bloom_vtab_args *made = &vtab->args;
  sqlite3_int64 has_table = 0;
  int i, rc = SQLITE_OK;
  args->has_namesake = 0;
  for(i=0; i<args->num_columns; i++){
    args->has_namesake |= sqlite3_stricmp(args->columns[i], made->columns[i])!=0
      && bloom_source_find(source, made->columns[i])>=0;
  }
  if( sqlite3_stricmp(args->table, made->table)!=0 ){
    /* Without a function: one that an authorizer denies is an error as of a table that is gone. */
    rc = bloom_sql_integer(vtab->connection, &has_table, "SELECT EXISTS(SELECT 1"
                           " FROM \"%w\".sqlite_master WHERE type IN ('table', 'view')"
                           " AND name = %Q COLLATE NOCASE)", vtab->schema, made->table);
  }
  args->has_namesake |= has_table!=0;
  return rc;
}

int bloom_vtab_read_source(bloom_vtab *vtab, bloom_vtab_args *args, bloom_vtab_layout *layout){
  bloom_source source;
  const bloom_source_place place = {vtab->connection, "bloom", vtab->schema};
  int i, rc = bloom_source_read(place, args->table, 1, &source, &vtab->base.zErrMsg);
  if( rc==SQLITE_OK ) rc = replace_name(&args->table, source.name);
  args->source_row = source.row;
  sqlite3_free(args->default_value);
  args->default_value = NULL;
  layout->default_checksum = 0;
  layout->rules.num_columns = args->num_columns;
  layout->rules.has_cells = args->num_columns>BLOOM_MAX_SURE_COLUMNS;
  for(i=0; i<args->num_columns && rc==SQLITE_OK; i++){
    const bloom_source_column *column = NULL;
    rc = find_key_column(vtab, &source, &args->columns[i], &column);
    if( rc!=SQLITE_OK ) break;
    rc = find_equality(vtab, &source, column, &layout->rules.columns[i]);
    if( rc==SQLITE_OK ) rc = check_default(vtab, &source, column, args, layout);
  }
  if( rc==SQLITE_OK ) rc = find_namesakes(vtab, &source, args);
  bloom_source_free(&source);
  return bloom_vtab_failure(vtab, rc);
}

char *bloom_vtab_keys_sql(const bloom_vtab *vtab, const bloom_vtab_args *args, int is_count){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  const int is_one = args->num_columns==1;
  int i;
  assert(args->table && args->num_columns>0);
  if( is_count ) sqlite3_str_appendall(sql, "SELECT count(*)");
  for(i=0; !is_count && i<args->num_columns; i++){
    sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"", i ? ", " : "SELECT ", args->table,
                        args->columns[i]);
  }
  sqlite3_str_appendf(sql, " FROM \"%w\".\"%w\"", vtab->schema, args->table);
  /* No chain of AND: a program may limit the depth of expressions to 10. */
  sqlite3_str_appendall(sql, is_one ? " WHERE" : " WHERE CASE");
  for(i=0; i<args->num_columns; i++){
    sqlite3_str_appendf(sql, is_one ? " \"%w\".\"%w\" IS NOT NULL"
                                    : " WHEN \"%w\".\"%w\" IS NULL THEN 0", args->table,
                        args->columns[i]);
  }
  if( !is_one ) sqlite3_str_appendall(sql, " ELSE 1 END");
  return sqlite3_str_finish(sql);
}

/* -- Doubt ---------------------------------------------------------------------------------- */

/* Reads what stands on the journal: *journal is its place, 0 if it is gone. */
static int check_journal(
  bloom_vtab *vtab, const bloom_vtab_triggers *triggers, sqlite3_int64 *journal,
  bloom_vtab_doubt *doubt
){
  sqlite3_stmt *row;
  const int rc = bloom_sql_row(vtab->connection, &row,
    "SELECT total(type = 'table' AND sql = %Q), count(*), max(CASE type WHEN 'table' THEN rowid"
    " END) FROM \"%w\".sqlite_master WHERE type <> 'trigger' AND tbl_name = %Q COLLATE NOCASE",
    vtab->journal_text, vtab->schema, vtab->journal);
  *journal = 0;
  if( rc==SQLITE_ROW ){
    const int has_table = sqlite3_column_int(row, 0);
    const int has_others = triggers->has_others || sqlite3_column_int64(row, 1)>has_table;
    *journal = sqlite3_column_int64(row, 2);
    if( !has_table ) *doubt = has_others ? BLOOM_VTAB_OTHER_JOURNAL : BLOOM_VTAB_NO_JOURNAL;
    else if( has_others ) *doubt = BLOOM_VTAB_HAS_OTHERS;
    else if( triggers->guard==0 ) *doubt = BLOOM_VTAB_NO_GUARD;
  }
  return bloom_sql_end(row, rc);
}

/* Sets *doubt if a trigger of TEMP stands on the journal.  There may be the guard of a filter with
** the same name. */
static int check_temp(bloom_vtab *vtab, bloom_vtab_doubt *doubt){
  const bloom_follower follower = bloom_vtab_follower(vtab);
  char *guard_text = bloom_guard_text(&follower);
  sqlite3_int64 has_trigger = 0;
  const int rc = guard_text ? bloom_sql_integer(vtab->connection, &has_trigger, "SELECT EXISTS("
    "SELECT 1 FROM sqlite_temp_master WHERE CASE type WHEN 'trigger' THEN sql <> %Q END"
    " AND tbl_name = %Q COLLATE NOCASE)", guard_text, vtab->journal) : SQLITE_NOMEM;
  sqlite3_free(guard_text);
  if( has_trigger ) *doubt = BLOOM_VTAB_HAS_TEMP_TRIGGER;
  return rc;
}

/* Sets *doubt unless the key's columns are what they were. */
static int check_columns(bloom_vtab *vtab, bloom_vtab_args *args, bloom_vtab_doubt *doubt){
  const bloom_key_rules *rules = &vtab->layout.rules;
  bloom_vtab_layout now = vtab->layout;
  const int rc = bloom_vtab_read_source(vtab, args, &now);
  if( rc==SQLITE_ERROR ){
    bloom_vtab_forget_message(vtab);
    *doubt = BLOOM_VTAB_NO_COLUMN;
    return SQLITE_OK;
  }
  if( rc==SQLITE_OK && (memcmp(now.rules.columns, rules->columns,
                               (size_t)rules->num_columns * sizeof(rules->columns[0]))!=0
                        || now.default_checksum!=vtab->layout.default_checksum) ){
    *doubt = BLOOM_VTAB_OTHER_COLUMN;
  }
  return rc;
}

/* Sets *doubt to what the schema says, that of TEMP left out. */
static int find_doubt(bloom_vtab *vtab, bloom_vtab_doubt *doubt){
  const bloom_follower follower = bloom_vtab_follower(vtab);
  bloom_vtab_triggers triggers = {.guard = 0};
  sqlite3_int64 journal = 0, is_seen;
  int rc = bloom_schema_mark_begin(vtab->connection, vtab->schema, &vtab->mark);
  assert(vtab->has_layout);
  *doubt = BLOOM_VTAB_CERTAIN;
  if( rc==SQLITE_OK ) rc = bloom_vtab_read_triggers(vtab, &vtab->mark, &triggers);
  if( rc==SQLITE_OK ) rc = check_journal(vtab, &triggers, &journal, doubt);
  if( triggers.args.table==NULL ) *doubt = BLOOM_VTAB_NO_SOURCE;
  else if( !triggers.are_all ) *doubt = BLOOM_VTAB_NO_TRIGGERS;
  else if( !*doubt && triggers.is_made_again ) *doubt = BLOOM_VTAB_OLD_GUARD;
  if( rc==SQLITE_OK && !*doubt ) rc = check_columns(vtab, &triggers.args, doubt);
  if( rc==SQLITE_OK && !*doubt && triggers.args.has_namesake ) *doubt = BLOOM_VTAB_HAS_NAMESAKE;
  if( rc==SQLITE_OK && *doubt && *doubt!=BLOOM_VTAB_HAS_NAMESAKE ){
    rc = bloom_follow_is_seen(&follower, &is_seen);
    if( !is_seen ) *doubt = BLOOM_VTAB_DENIED_SCHEMA;
  }
  /* A source that was renamed has no mark: other changes than of these rows matter to it. */
  if( rc==SQLITE_OK && !*doubt && sqlite3_stricmp(triggers.args.table, vtab->args.table)==0 ){
    bloom_schema_mark_add(&vtab->mark, triggers.args.source_row);
    bloom_schema_mark_add(&vtab->mark, journal);
    rc = bloom_schema_mark_end(vtab->connection, vtab->schema, &vtab->mark);
  }
  bloom_vtab_args_free(&triggers.args);
  return rc;
}

/* Looks at what is of another version than when it was looked at last: temporary tables come and go
** more often than others. */
static int check_versions(bloom_vtab *vtab, sqlite3_int64 version, sqlite3_int64 temp_version){
  const int is_temp = sqlite3_stricmp(vtab->schema, "temp")==0;
  const int was_checked = vtab->is_checked
    && !bloom_database_may_be_swapped(vtab->connection->db, vtab->schema);
  bloom_vtab_doubt doubt = vtab->schema_doubt;
  int is_same = was_checked && vtab->checked_version==version, rc = SQLITE_OK;
  if( is_same && vtab->checked_temp_version==temp_version ) return SQLITE_OK;
  vtab->is_checked = 0;
  if( !is_same ) rc = bloom_vtab_read_layout(vtab);
  if( rc==SQLITE_OK && was_checked && !is_same && !doubt ){
    rc = bloom_schema_mark_holds(vtab->connection, vtab->schema, &vtab->mark,
                                 version - vtab->checked_version, 1, vtab->journal, &is_same);
  }
  if( rc==SQLITE_OK && !is_same ){
    rc = find_doubt(vtab, &doubt);
    if( rc==SQLITE_OK ) vtab->schema_doubt = doubt;
  }
  if( rc==SQLITE_OK && !doubt && !is_temp ) rc = check_temp(vtab, &doubt);
  vtab->is_checked = rc==SQLITE_OK;
  vtab->doubt = doubt;
  vtab->checked_version = version;
  vtab->checked_temp_version = temp_version;
  return rc;
}

/* Sets vtab->doubt, if the schema is another since. */
static int check_schema(bloom_vtab *vtab){
  bloom_connection *connection = vtab->connection;
  sqlite3_int64 version = 0, temp_version = 0, is_uncommitted = 0;
  int rc;
  if( vtab->args.table==NULL ) return SQLITE_OK;
  if( connection->is_running ){ /* not now: it may be in it */
    vtab->is_checked = 0;
    vtab->doubt = BLOOM_VTAB_UNREADABLE_SCHEMA;
    return SQLITE_OK;
  }
  rc = bloom_sql_integer(connection, &version, "PRAGMA \"%w\".schema_version", vtab->schema);
  if( rc==SQLITE_OK ){
    rc = bloom_sql_integer(connection, &temp_version, "PRAGMA temp.schema_version");
  }
  if( rc==SQLITE_OK ){
    rc = bloom_sql_integer(connection, &is_uncommitted, "PRAGMA read_uncommitted");
  }
  vtab->is_uncommitted = is_uncommitted!=0;
  if( rc==SQLITE_OK ) rc = check_versions(vtab, version, temp_version);
  vtab->is_current = rc==SQLITE_OK;
  vtab->checked_compiled = bloom_vtab_num_compiled(vtab);
  if( rc==SQLITE_OK ) return rc;
  vtab->is_checked = 0;
  vtab->doubt = (rc & 0xff)==SQLITE_AUTH ? BLOOM_VTAB_DENIED_SCHEMA : BLOOM_VTAB_UNREADABLE_SCHEMA;
  return bloom_vtab_failure(vtab, rc);
}

int bloom_vtab_open(bloom_vtab *vtab, bloom_vtab_need need){
  const int is_look_up = need==BLOOM_VTAB_LOOK_UP;
  int rc;
  /* While its statement runs, the file that the reader is on keeps its name. */
  if( !is_look_up || vtab->reader==NULL ){
    rc = bloom_database_locate(vtab->connection, "bloom", vtab->name, vtab->file, &vtab->schema,
                               &vtab->base.zErrMsg);
    if( rc!=SQLITE_OK ){
      vtab->is_checked = vtab->has_layout = 0;
      bloom_vtab_close_reader(vtab);
      bloom_vtab_close_journal(vtab); /* its statement has the old name */
      return bloom_vtab_failure(vtab, rc);
    }
  }
  if( need==BLOOM_VTAB_PLACE ) return SQLITE_OK;
  if( is_look_up && vtab->is_checked && vtab->is_current
      && (vtab->reader || !bloom_database_may_be_swapped(vtab->connection->db, vtab->schema)) ){
    return SQLITE_OK;
  }
  rc = check_schema(vtab);
  if( rc!=SQLITE_AUTH || !is_look_up ) return rc;
  bloom_vtab_forget_message(vtab);
  return SQLITE_OK;
}

/* What a note says of a doubt. */
static const char *const doubt_texts[] = {
  [BLOOM_VTAB_UNREADABLE_SCHEMA] = "the schema cannot be read now",
  [BLOOM_VTAB_DENIED_SCHEMA] = "an authorizer of this connection denies what tells that its"
    " triggers are there: SQLITE_PRAGMA of schema_version, read_uncommitted, table_list and"
    " table_xinfo, or SQLITE_READ",
  [BLOOM_VTAB_UNCOMMITTED] = "PRAGMA read_uncommitted is on",
  [BLOOM_VTAB_HAS_TEMP_TRIGGER] = "a TEMP trigger of this connection is on its journal: drop that"
    " trigger",
  [BLOOM_VTAB_NO_SOURCE] = "triggers of its own are gone, or their table is",
  [BLOOM_VTAB_HAS_NAMESAKE] = "its table or column was renamed, and another has the name now",
  [BLOOM_VTAB_NO_TRIGGERS] = "triggers of its own are gone, or their table is",
  [BLOOM_VTAB_OLD_GUARD] = "its table was made again, or triggers of its own were",
  [BLOOM_VTAB_NO_GUARD] = "its guard trigger is gone",
  [BLOOM_VTAB_NO_JOURNAL] = "its journal is gone",
  [BLOOM_VTAB_OTHER_JOURNAL] = "its journal is another table, which has to go first",
  [BLOOM_VTAB_HAS_OTHERS] = "its journal has a trigger, or an index, which has to go first",
  [BLOOM_VTAB_NO_COLUMN] = "its column or its table is another now",
  [BLOOM_VTAB_OTHER_COLUMN] = "its column changed its type, collation or DEFAULT",
  [BLOOM_VTAB_BROKEN_JOURNAL] = "its journal does not have the rows that its triggers wrote",
  [BLOOM_VTAB_OVERFLOW] = "bloom 1.2.0 made it, and a key has too many numbers"
};

char *bloom_vtab_say_doubt(const bloom_vtab *vtab, bloom_vtab_doubt doubt){
  const char *name = vtab->quoted_name, *why = doubt_texts[doubt];
  assert(doubt>BLOOM_VTAB_CERTAIN);
  if( doubt<BLOOM_VTAB_NO_SOURCE ) return sqlite3_mprintf(BLOOM_VTAB_SAYS_MAYBE " because %s", why);
  /* Where 'merge' repairs it, that makes no more anew than it has to. */
  if( doubt>BLOOM_VTAB_HAS_NAMESAKE ){
    return sqlite3_mprintf(BLOOM_VTAB_SAYS_MAYBE " because %s; INSERT INTO %s(%s) VALUES ('merge')"
                           " repairs it", why, name, name);
  }
  return sqlite3_mprintf(BLOOM_VTAB_SAYS_MAYBE " because %s; INSERT INTO %s(%s) VALUES ('rebuild')"
                         " %s%s; else drop it and create it again", why, name, name,
                         doubt==BLOOM_VTAB_HAS_NAMESAKE ? "takes that one"
                           : "repairs it, if its table is still called ",
                         doubt==BLOOM_VTAB_HAS_NAMESAKE ? "" : vtab->args.table);
}
