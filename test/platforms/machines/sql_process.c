/*
** SQLite in a process of its own, for test/sql/runner/sqllogictest.tcl --process: so the
** SQL tests run on any processor or system that an emulator runs.
**
**   request   OPERATION NUM_BYTES \n, then that many bytes:
**     load      path of an extension, a newline, its entry point or nothing
**     execute   statements
**     query     column types (T, I, R), a newline, statements
**   reply     lines, the last of them ok or error:
**     columns N          once a statement of a query
**     value NUM_BYTES \n the bytes of one value, rendered as its column's type, \n
**     null               a value that is NULL
**     ok
**     error NUM_BYTES \n the message \n
**
** usage: sql_process DATABASE; it ends with its standard input.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
# include <fcntl.h>
# include <io.h>
#endif
#ifdef SQLITE_CORE
# include "../../../ext/bloom.h"
#endif

static void reply_bytes(const char *word, const void *bytes, int num_bytes){
  printf("%s %d\n", word, num_bytes);
  fwrite(bytes, 1, (size_t)num_bytes, stdout);
  putchar('\n');
}

static void reply_error(const char *message){
  reply_bytes("error", message, (int)strlen(message));
}

/* In a connection of its own, whose encoding is UTF-8, as the runner renders
** what comes through Tcl: SQLite's own text of a value, never printf's. */
static sqlite3_stmt *renderers[128];

static int open_renderers(void){
  sqlite3 *db;
  return sqlite3_open(":memory:", &db)
      || sqlite3_prepare_v2(db, "SELECT CAST(?1 AS TEXT)", -1, &renderers['T'], NULL)
      || sqlite3_prepare_v2(db, "SELECT CAST(CAST(?1 AS INTEGER) AS TEXT)", -1, &renderers['I'], NULL)
      || sqlite3_prepare_v2(db, "SELECT printf('%.3f', CAST(?1 AS REAL))", -1, &renderers['R'], NULL);
}

static void reply_value(sqlite3_stmt *statement, int column, char type){
  sqlite3_stmt *renderer = renderers[(unsigned char)type & 127];
  if( sqlite3_column_type(statement, column)==SQLITE_NULL ){
    puts("null");
    return;
  }
  sqlite3_bind_value(renderer, 1, sqlite3_column_value(statement, column));
  if( sqlite3_step(renderer)==SQLITE_ROW ){
    /* The text first: asking for it may change its length. */
    const void *text = sqlite3_column_text(renderer, 0);
    reply_bytes("value", text, sqlite3_column_bytes(renderer, 0));
  }
  sqlite3_reset(renderer);
}

/* types is NULL where no row is wanted. */
static void run(sqlite3 *db, const char *types, const char *sql){
  const size_t num_types = types ? strcspn(types, "\n") : 0;
  while( *sql ){
    sqlite3_stmt *statement;
    int num_columns, i, rc;
    if( sqlite3_prepare_v2(db, sql, -1, &statement, &sql) ){
      reply_error(sqlite3_errmsg(db));
      return;
    }
    if( statement==NULL ) continue; /* a comment, or blanks */
    num_columns = sqlite3_column_count(statement);
    if( types ) printf("columns %d\n", num_columns);
    while( (rc = sqlite3_step(statement))==SQLITE_ROW ){
      if( types==NULL ) continue;
      for(i=0; i<num_columns; i++){
        reply_value(statement, i, (size_t)i<num_types ? types[i] : 'T');
      }
    }
    if( sqlite3_finalize(statement) ){
      reply_error(sqlite3_errmsg(db));
      return;
    }
  }
  puts("ok");
}

static void load(sqlite3 *db, const char *path, const char *entry_point){
  char *message = NULL;
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, (int *)NULL);
  if( sqlite3_load_extension(db, path, *entry_point ? entry_point : NULL, &message) ){
    reply_error(message ? message : "not loaded");
    sqlite3_free(message);
  }else{
    puts("ok");
  }
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, (int *)NULL);
}

int main(int argc, char **argv){
  sqlite3 *db;
  char operation[16];
  long num_bytes;
#ifdef _WIN32
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
#endif
#ifdef SQLITE_CORE
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
#endif
  if( argc!=2 || sqlite3_open(argv[1], &db) || open_renderers() ) return 2;
  while( scanf("%15s %ld", operation, &num_bytes)==2 && getchar()=='\n' && num_bytes>=0 ){
    char *text = malloc((size_t)num_bytes + 1), *second_line;
    if( text==NULL || fread(text, 1, (size_t)num_bytes, stdin)!=(size_t)num_bytes ) return 2;
    text[num_bytes] = 0;
    second_line = strchr(text, '\n');
    if( strcmp(operation, "execute")==0 ){
      run(db, NULL, text);
    }else if( second_line==NULL ){
      return 2;
    }else if( strcmp(operation, "query")==0 ){
      run(db, text, second_line + 1);
    }else if( strcmp(operation, "load")==0 ){
      *second_line = 0;
      load(db, text, second_line + 1);
    }else{
      return 2;
    }
    fflush(stdout);
    free(text);
  }
  /* A statement that something still holds would show here. */
  return sqlite3_close(db)!=SQLITE_OK;
}
