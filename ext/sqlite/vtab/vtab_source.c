/*
** The triggers of a filter, plain SQL that writes new keys to its journal; the rules of its key;
** and whether the schema still has all that makes answers certain.
**
**   BEFORE INSERT ON "t" WHEN new."k" IS NOT NULL BEGIN
**     INSERT INTO "f_new"(key, r) VALUES (new."k", (random() << 24) | (SELECT r >> 24 & 16777215
**     FROM "f_new" ORDER BY rowid DESC LIMIT 1)); END
**   BEFORE UPDATE OF "k" ON "t" WHEN new."k" IS NOT NULL AND (old."k" COLLATE BINARY IS NOT new."k"
**     OR typeof(old."k") <> typeof(new."k")) BEGIN ...
**
** OF is for speed alone: each UPDATE that sets k names it, as k is neither the rowid nor generated.
** Triggers of bloom 1.2.0 have no OF, and random() alone.  The value of one column that BEFORE sees
** is final, whatever other triggers do.  For a key of several columns, a BEFORE UPDATE trigger of
** the user's may change one that the statement does not set, so AFTER UPDATE writes the key again.
**
** Answers are certain while the triggers are there, on one table and before the guard, the key's
** columns are what they were, and nothing else is on the journal.  The guard is a trigger on the
** journal that never fires.  SQLite compiles all statements anew when the schema changed, so
** xBestIndex checks this, once for each version of the schema; xFilter does where xBestIndex could
** not.
*/
#include "vtab_int.h"

#include <string.h>

#include "../../core/hash.h"

/* -- The text of triggers ------------------------------------------------------------------- */

typedef enum trigger_kind {
  BEFORE_INSERT, BEFORE_UPDATE, AFTER_UPDATE, NUM_TRIGGER_KINDS
} trigger_kind;

static const bloom_trigger_kind filter_triggers[NUM_TRIGGER_KINDS] = {
  {"_before_insert", "BEFORE INSERT"}, {"_before_update", "BEFORE UPDATE"},
  {"_after_update", "AFTER UPDATE"}
};

/* The forms of a trigger's text: of bloom 1.2.0; while 'merge=N' repairs the filter, when UPDATE
** triggers write each row's key; and as made now. */
enum { OF_1_2_0, OF_EACH_UPDATE, WITH_CHAIN, NUM_FORMS };

/* Returns how many of the kinds a filter has, the first ones: AFTER_UPDATE, the last one, is for
** keys of several columns. */
static int num_kinds(int num_columns){
  return num_columns>1 ? NUM_TRIGGER_KINDS : AFTER_UPDATE;
}

/* Returns the text that a trigger has in sqlite_schema, to be freed. */
static char *trigger_sql(const bloom_vtab *vtab, const char *name, const bloom_vtab_args *args,
                         int kind, int form){
  const int is_one = args->num_columns==1;
  const int is_any_key = kind==BEFORE_INSERT || form==OF_EACH_UPDATE;
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  int i;
  /* A trigger of the user's may have the name of a kind that the filter has not. */
  assert( args->table && args->num_columns>0 && kind>=0 && kind<NUM_TRIGGER_KINDS );
  sqlite3_str_appendf(sql, "CREATE TRIGGER \"%w\" %s", name, filter_triggers[kind].event);
  for(i=0; form==WITH_CHAIN && kind!=BEFORE_INSERT && i<args->num_columns; i++){
    sqlite3_str_appendf(sql, "%s\"%w\"", i ? ", " : " OF ", args->columns[i]);
  }
  /* The row has a key, and an UPDATE gives it another one.  typeof() is compared as well: 1 = 1.0,
  ** but their texts differ.  Several columns take one CASE, since a program may limit the depth of
  ** expressions to 10, and a chain of OR is deeper. */
  sqlite3_str_appendf(sql, " ON \"%w\" WHEN %s", args->table, is_one ? "" : "CASE");
  for(i=0; i<args->num_columns; i++){
    sqlite3_str_appendf(sql, is_one ? "new.\"%w\" IS NOT NULL" : " WHEN new.\"%w\" IS NULL THEN 0",
                        args->columns[i]);
  }
  for(i=0; !is_any_key && i<args->num_columns; i++){
    const char *column = args->columns[i];
    sqlite3_str_appendf(sql, is_one
        ? " AND (old.\"%w\" COLLATE BINARY IS NOT new.\"%w\" OR typeof(old.\"%w\") <>"
          " typeof(new.\"%w\"))"
      : " WHEN old.\"%w\" COLLATE BINARY IS NOT new.\"%w\" THEN 1 WHEN typeof(old.\"%w\") <>"
        " typeof(new.\"%w\") THEN 1",
      column, column, column, column);
  }
  if( !is_one ) sqlite3_str_appendf(sql, " ELSE %d END", is_any_key);
  sqlite3_str_appendf(sql, " BEGIN INSERT INTO \"%w_new\"%s VALUES (", vtab->name,
                      vtab->journal_columns);
  for(i=0; i<args->num_columns; i++) sqlite3_str_appendf(sql, "new.\"%w\", ", args->columns[i]);
  if( form!=OF_1_2_0 ){
    sqlite3_str_appendf(sql, "(random() << 24) | (SELECT r >> 24 & 16777215 FROM \"%w_new\""
                             " ORDER BY rowid DESC LIMIT 1)); END", vtab->name);
  }else{
    sqlite3_str_appendall(sql, "random()); END");
  }
  return sqlite3_str_finish(sql);
}

/* -- Reading ------------------------------------------------------------------------------- */

static int is_own_table(const void *data, const char *suffix, const char *columns){
  const bloom_vtab *vtab = data;
  return sqlite3_stricmp(suffix, "_new")==0 && strcmp(columns, vtab->journal_columns)==0;
}

bloom_follower bloom_vtab_follower(bloom_vtab *vtab){
  return (bloom_follower){vtab->connection, "bloom", vtab->schema, vtab->name, &vtab->base.zErrMsg,
                          "_new", "_new", filter_triggers,
                          vtab->args.table ? NUM_TRIGGER_KINDS : 0, is_own_table, vtab};
}

/* Sets *triggers by the filter's own triggers, which are on one table. */
static int read_own_triggers(const bloom_vtab *vtab, const bloom_triggers *own,
                             bloom_vtab_triggers *triggers){
  bloom_vtab_args *args = &triggers->args;
  /* The columns are those in VALUES (new."a", new."b", random()). */
  bloom_token token = bloom_token_find(bloom_trigger_action(own->rows[0].sql), "VALUES");
  unsigned seen = 0;
  int i, are_known = 1;
  assert( own->num_rows>0 && args->num_columns==0 );
  while( args->num_columns<vtab->args.num_columns ){
    token = bloom_token_after_new(token);
    if( !bloom_token_is_name(token) ) return SQLITE_OK; /* it is another text */
    args->columns[args->num_columns] = bloom_token_unquoted(token);
    if( args->columns[args->num_columns++]==NULL ) return SQLITE_NOMEM;
  }
  args->table = sqlite3_mprintf("%s", own->rows[0].table);
  if( args->table==NULL ) return SQLITE_NOMEM;
  triggers->are_newest = triggers->are_of_each_update = 1;
  for(i=0; i<own->num_rows; i++){
    const bloom_trigger *trigger = &own->rows[i];
    int form = NUM_FORMS, is_same = 0;
    while( !is_same && --form>=0 ){
      char *text = trigger_sql(vtab, trigger->name, args, trigger->kind, form);
      if( text==NULL ) return SQLITE_NOMEM;
      is_same = strcmp(text, trigger->sql)==0;
      sqlite3_free(text);
    }
    are_known &= is_same;
    triggers->are_newest &= form==WITH_CHAIN;
    if( trigger->kind!=BEFORE_INSERT ) triggers->are_of_each_update &= form==OF_EACH_UPDATE;
    seen |= 1u << trigger->kind;
  }
  are_known &= seen==(1u << num_kinds(vtab->args.num_columns)) - 1;
  triggers->doubt = are_known ? BLOOM_VTAB_CERTAIN : BLOOM_VTAB_NO_TRIGGERS;
  return SQLITE_OK;
}

int bloom_vtab_read_triggers(bloom_vtab *vtab, bloom_vtab_triggers *triggers){
  bloom_follow found;
  int rc = bloom_follow_read(bloom_vtab_follower(vtab), &found);
  *triggers = (bloom_vtab_triggers){.doubt = BLOOM_VTAB_NO_SOURCE, .is_seen = found.is_seen};
  if( rc==SQLITE_OK && found.are_on_one_table ){
    rc = read_own_triggers(vtab, &found.own, triggers);
  }
  if( !triggers->doubt ){
    if( found.num_tables==0 ) triggers->doubt = BLOOM_VTAB_NO_JOURNAL;
    else if( !found.has_guard ) triggers->doubt = BLOOM_VTAB_NO_GUARD;
    else if( found.is_made_again ) triggers->doubt = BLOOM_VTAB_OLD_GUARD;
    if( found.has_other_triggers || found.has_other_objects ){
      triggers->doubt = found.num_tables==0 ? BLOOM_VTAB_OTHER_JOURNAL : BLOOM_VTAB_HAS_OTHERS;
    }
  }
  bloom_follow_free(&found);
  assert( triggers->doubt || (rc==SQLITE_OK && triggers->args.table) );
  return rc;
}

int bloom_vtab_create_triggers(bloom_vtab *vtab, const bloom_vtab_args *args, int is_healing){
  const bloom_follower follower = bloom_vtab_follower(vtab);
  int kind, rc = bloom_follow_drop(follower, 0);
  for(kind=0; kind<num_kinds(args->num_columns) && rc==SQLITE_OK; kind++){
    char *name = sqlite3_mprintf("%s%s", vtab->name, filter_triggers[kind].suffix);
    rc = name ? bloom_trigger_create(follower, trigger_sql(vtab, name, args, kind, is_healing
                                                           ? OF_EACH_UPDATE : WITH_CHAIN))
      : SQLITE_NOMEM;
    sqlite3_free(name);
  }
  return rc==SQLITE_OK ? bloom_trigger_create(follower, bloom_guard_text(follower)) : rc;
}

/* -- Columns ----------------------------------------------------------------------------- */

void bloom_vtab_args_free(bloom_vtab_args *args){
  int i;
  for(i=0; i<args->num_columns; i++) sqlite3_free(args->columns[i]);
  sqlite3_free(args->table);
  sqlite3_free(args->default_value);
  sqlite3_free(args->id);
  sqlite3_free(args->refusal);
  memset(args, 0, sizeof(*args));
}

/* Replaces *name, to be freed, by a copy of other. */
static int replace_name(char **name, const char *other){
  char *copy = sqlite3_mprintf("%s", other);
  if( copy==NULL ) return SQLITE_NOMEM;
  sqlite3_free(*name);
  *name = copy;
  return SQLITE_OK;
}

/* Reads a column of the key: its name as the schema has it, its rule of `=`, its DEFAULT.  Fails
** where triggers do not see its values as they are stored. */
static int read_key_column(bloom_vtab *vtab, const bloom_source *source, bloom_vtab_args *args,
                           int i, bloom_vtab_layout *layout){
  bloom_equality *rule = &layout->rules.columns[i];
  const bloom_source_column *column;
  const char *name = args->columns[i], *text, *what = NULL;
  int number = bloom_source_find(source, name), has_default = 0, rc;
  if( number<0 && bloom_source_is_rowid_name(name) ){
    number = source->id_column;
    if( number<0 ) return BLOOM_VTAB_FAIL(vtab, "bloom: a filter has no rowids: SQLite may choose"
                                                " one after triggers have run, and VACUUM may"
                                                " change it");
  }
  if( number<0 ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: there is no column %s in table %s", name, source->name);
  }
  assert( number<source->num_columns );
  column = &source->list[number];
  text = column->default_value;
  if( number==source->id_column ){
    what = "is the rowid, which SQLite may choose after triggers have run, and which is looked up"
           " fast";
  }else if( column->is_generated ){
    what = "is generated, and may change after triggers have run";
  }else{
    sqlite3_stmt *row;
    rc = bloom_source_prepare_default(vtab->connection, text, &row);
    has_default = row!=NULL;
    sqlite3_finalize(row);
    if( rc==SQLITE_NOTFOUND ){
      what = "has a DEFAULT that is no constant, which OR REPLACE may store after triggers have"
             " run";
    }else if( has_default && args->num_columns>1 ){
      what = "has a DEFAULT, which OR REPLACE may store after triggers have run, and cannot be in a"
             " key of several columns";
    }else if( rc!=SQLITE_OK ){
      return rc;
    }
  }
  if( what ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: column %s of table %s %s; use bloom_build(), or a filter"
                                 " of your own and triggers: CREATE VIRTUAL TABLE f USING bloom();"
                                 " CREATE TRIGGER f_insert AFTER INSERT ON %s BEGIN INSERT INTO"
                                 " f(key) VALUES (new.%s); END; and the same AFTER UPDATE",
                           column->name, source->name, what, source->name, column->name);
  }
  rule->kind = column->kind;
  if( !bloom_collation_named(column->collation, &rule->collation) ){
    return BLOOM_VTAB_FAIL(vtab, "bloom: column %s of table %s has collation %s, and a filter"
                                 " cannot know which values it takes for equal; it knows BINARY,"
                                 " NOCASE and RTRIM", column->name, source->name,
                           column->collation);
  }
  rc = replace_name(&args->columns[i], column->name);
  if( rc!=SQLITE_OK || !has_default ) return rc;
  assert( args->num_columns==1 );
  layout->default_checksum = bloom_xxh64((const uint8_t *)text, strlen(text));
  return replace_name(&args->default_value, text);
}

int bloom_vtab_read_source(bloom_vtab *vtab, bloom_vtab_args *args, bloom_vtab_layout *layout){
  const bloom_vtab_args *made = &vtab->args;
  bloom_source source;
  sqlite3_int64 has_namesake = 0;
  int i, rc = bloom_source_read(bloom_vtab_follower(vtab), args->table, 1, &source);
  if( rc==SQLITE_OK ) rc = replace_name(&args->table, source.name);
  sqlite3_free(args->default_value);
  sqlite3_free(args->id);
  args->default_value = args->id = NULL;
  if( rc==SQLITE_OK && source.id_column>=0 ) rc = replace_name(&args->id, source.id_name);
  layout->default_checksum = 0;
  layout->rules.num_columns = args->num_columns;
  for(i=0; i<args->num_columns && rc==SQLITE_OK; i++){
    rc = read_key_column(vtab, &source, args, i, layout);
  }
  if( rc==SQLITE_OK && sqlite3_stricmp(args->table, made->table)!=0 ){
    /* Calls no SQL function: where an authorizer denies one, SQLite returns SQLITE_ERROR, as it
    ** does where a table is gone. */
    rc = bloom_sql_integer(vtab->connection, &has_namesake, "SELECT EXISTS(SELECT 1"
                           " FROM \"%w\".sqlite_master WHERE type IN ('table', 'view')"
                           " AND name = %Q COLLATE NOCASE)", vtab->schema, made->table);
  }
  for(i=0; i<args->num_columns && rc==SQLITE_OK; i++){
    has_namesake |= sqlite3_stricmp(args->columns[i], made->columns[i])!=0
      && bloom_source_find(&source, made->columns[i])>=0;
  }
  args->has_namesake = has_namesake!=0;
  bloom_source_free(&source);
  return bloom_vtab_failure(vtab, rc);
}

int bloom_vtab_has_same_key(const bloom_vtab_layout *a, const bloom_vtab_layout *b){
  assert( a->rules.num_columns==b->rules.num_columns );
  return a->default_checksum==b->default_checksum
    && memcmp(a->rules.columns, b->rules.columns,
              (size_t)a->rules.num_columns * sizeof(a->rules.columns[0]))==0;
}

char *bloom_vtab_keys_sql(const bloom_vtab *vtab, const bloom_vtab_args *args, int is_count){
  sqlite3_str *sql = sqlite3_str_new(vtab->connection->db);
  const int is_one = args->num_columns==1;
  int i;
  assert( args->table && args->num_columns>0 );
  if( is_count ) sqlite3_str_appendall(sql, "SELECT count(*)");
  for(i=0; !is_count && i<args->num_columns; i++){
    sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"", i ? ", " : "SELECT ", args->table,
                        args->columns[i]);
  }
  sqlite3_str_appendf(sql, " FROM \"%w\".\"%w\"", vtab->schema, args->table);
  /* Not a chain of AND: a program may limit the depth of expressions to 10. */
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

/* Sets vtab->schema_doubt, which is about the filter's own schema. */
static int find_schema_doubt(bloom_vtab *vtab){
  bloom_vtab_layout now = vtab->layout;
  bloom_vtab_triggers triggers;
  bloom_vtab_doubt doubt;
  int rc = bloom_vtab_read_triggers(vtab, &triggers);
  assert( vtab->has_layout );
  doubt = triggers.doubt;
  if( rc==SQLITE_OK && !doubt ){
    rc = bloom_vtab_read_source(vtab, &triggers.args, &now);
    if( rc==SQLITE_ERROR ){
      bloom_forget_message(&vtab->base);
      doubt = BLOOM_VTAB_NO_COLUMN;
      rc = SQLITE_OK;
    }else if( !bloom_vtab_has_same_key(&now, &vtab->layout) ){
      doubt = BLOOM_VTAB_OTHER_COLUMN;
    }else if( triggers.args.has_namesake ){
      doubt = BLOOM_VTAB_HAS_NAMESAKE;
    }
  }
  if( doubt && doubt!=BLOOM_VTAB_HAS_NAMESAKE && !triggers.is_seen ){
    doubt = BLOOM_VTAB_DENIED_SCHEMA;
  }
  bloom_vtab_args_free(&triggers.args);
  if( rc==SQLITE_OK ) vtab->schema_doubt = doubt;
  return rc;
}

/* Returns how often the statement that reads the journal was compiled: SQLite compiles it again
** after each change of the schema. */
static int journal_num_compiled(const bloom_vtab *vtab){
  sqlite3_stmt *rows = vtab->unmerged.statement;
  return rows ? 1 + sqlite3_stmt_status(rows, SQLITE_STMTSTATUS_REPREPARE, 0) : 0;
}

/* Sets vtab->doubt, if a schema has changed since the last check, and vtab->is_uncommitted.  Where
** only TEMP's schema has changed, checks that alone: TEMP tables come and go more often. */
static int check_schema(bloom_vtab *vtab){
  bloom_connection *connection = vtab->connection;
  sqlite3_int64 version = 0, temp_version = 0, is_uncommitted = 0, has_trigger = 0;
  int is_same, rc;
  if( vtab->args.table==NULL ) return SQLITE_OK;
  if( connection->is_running ){ /* it cannot be read now */
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
  is_same = vtab->is_checked && vtab->checked_version==version
    && !bloom_database_may_be_swapped(connection->db, vtab->schema);
  if( rc==SQLITE_OK && !(is_same && vtab->checked_temp_version==temp_version) ){
    vtab->is_checked = 0;
    if( !is_same ) rc = bloom_vtab_read_layout(vtab);
    if( rc==SQLITE_OK && !is_same ) rc = find_schema_doubt(vtab);
    vtab->doubt = vtab->schema_doubt;
    if( rc==SQLITE_OK && !vtab->doubt && sqlite3_stricmp(vtab->schema, "temp")!=0 ){
      /* TEMP may have a trigger on the journal, or on a table of that name in TEMP; a guard there,
      ** of another filter, does not count. */
      char *guard_text = bloom_guard_text(bloom_vtab_follower(vtab));
      rc = guard_text ? bloom_sql_integer(connection, &has_trigger, "SELECT EXISTS(SELECT 1 FROM"
        " sqlite_temp_master WHERE CASE type WHEN 'trigger' THEN sql <> %Q END AND tbl_name ="
        " '%q_new' COLLATE NOCASE)", guard_text, vtab->name) : SQLITE_NOMEM;
      sqlite3_free(guard_text);
      if( has_trigger ) vtab->doubt = BLOOM_VTAB_HAS_TEMP_TRIGGER;
    }
    vtab->checked_version = version;
    vtab->checked_temp_version = temp_version;
  }
  vtab->is_checked = vtab->is_current = rc==SQLITE_OK;
  vtab->checked_compiled = journal_num_compiled(vtab);
  if( rc==SQLITE_OK ) return rc;
  vtab->doubt = (rc & 0xff)==SQLITE_AUTH ? BLOOM_VTAB_DENIED_SCHEMA : BLOOM_VTAB_UNREADABLE_SCHEMA;
  return bloom_vtab_failure(vtab, rc);
}

int bloom_vtab_open(bloom_vtab *vtab, bloom_vtab_need need){
  const int is_look_up = need==BLOOM_VTAB_LOOK_UP;
  int rc;
  /* While a reader is open, its file keeps its name. */
  if( !is_look_up || vtab->reader==NULL ){
    rc = bloom_database_locate(bloom_vtab_follower(vtab), vtab->file, &vtab->schema);
    if( rc!=SQLITE_OK ){
      vtab->is_checked = vtab->has_layout = 0;
      bloom_vtab_close_reader(vtab);
      bloom_vtab_close_journal(vtab); /* its statement has the old name */
      return bloom_vtab_failure(vtab, rc);
    }
  }
  if( need==BLOOM_VTAB_PLACE ) return SQLITE_OK;
  if( is_look_up && vtab->is_checked && vtab->is_current
      && vtab->checked_compiled==journal_num_compiled(vtab)
      && (vtab->reader || !bloom_database_may_be_swapped(vtab->connection->db, vtab->schema)) ){
    return SQLITE_OK;
  }
  rc = check_schema(vtab);
  if( rc!=SQLITE_AUTH || !is_look_up ) return rc;
  bloom_forget_message(&vtab->base);
  return SQLITE_OK;
}

/* What a note says of a doubt, behind "because". */
static const char *const doubt_texts[] = {
  [BLOOM_VTAB_UNREADABLE_SCHEMA] = "the schema cannot be read now",
  [BLOOM_VTAB_DENIED_SCHEMA] = ("an authorizer of this connection denies what tells that its"
    " triggers are there: SQLITE_PRAGMA of schema_version, read_uncommitted and table_xinfo, or"
    " SQLITE_READ"),
  [BLOOM_VTAB_UNCOMMITTED] = "PRAGMA read_uncommitted is on",
  [BLOOM_VTAB_HAS_TEMP_TRIGGER] = ("a TEMP trigger of this connection is on its journal: drop that"
    " trigger"),
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
  [BLOOM_VTAB_HEALING] = "'merge=N' has not repaired it to the end",
  [BLOOM_VTAB_OF_1_2_0] = "bloom 1.2.0 made it, of more than three columns"
};

char *bloom_vtab_say_doubt(const bloom_vtab *vtab, bloom_vtab_doubt doubt){
  const int is_namesake = doubt==BLOOM_VTAB_HAS_NAMESAKE;
  char *words;
  assert( doubt<BLOOM_COUNT_OF(doubt_texts) && doubt_texts[doubt] );
  words = sqlite3_mprintf(BLOOM_VTAB_SAYS_MAYBE " because %s", doubt_texts[doubt]);
  if( doubt<BLOOM_VTAB_NO_SOURCE ) return words;
  /* 'merge' rather than 'rebuild': it makes no more anew than it has to. */
  if( doubt>BLOOM_VTAB_HAS_NAMESAKE ){
    return bloom_command_say(words, vtab->name, "merge", "repairs it");
  }
  words = bloom_command_say(words, vtab->name, "rebuild", is_namesake ? "takes that one"
                            : "repairs it, if its table is still called ");
  return words ? sqlite3_mprintf("%z%s; else drop it and create it again", words,
                                 is_namesake ? "" : vtab->args.table) : NULL;
}
