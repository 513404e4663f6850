/*
** Finds the database that an object of a virtual table means.
*/
#include "database.h"

#include <string.h>

void *bloom_database_file(sqlite3 *db, const char *schema){
  sqlite3_file *file = NULL;
  return sqlite3_file_control(db, schema, SQLITE_FCNTL_FILE_POINTER, &file)==SQLITE_OK ? file : NULL;
}

/* *schema is the name that a file is open by, to be freed; NULL: by none. */
static int find_schema(bloom_connection *connection, const void *file, char **schema){
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(connection, &row, "PRAGMA database_list");
  *schema = NULL;
  while( rc==SQLITE_OK && *schema==NULL && (rc = bloom_sql_step(connection, row))==SQLITE_ROW ){
    rc = bloom_sql_copy_text(row, 1, schema);
    if( rc==SQLITE_OK && *schema && bloom_database_file(connection->db, *schema)!=file ){
      sqlite3_free(*schema);
      *schema = NULL;
    }
  }
  sqlite3_finalize(row);
  return rc==SQLITE_DONE ? SQLITE_OK : rc;
}

int bloom_database_may_be_swapped(sqlite3 *db, const char *schema){
  sqlite3_vfs *vfs = NULL;
  /* sqlite3_deserialize() puts another file in place, and SQLite compiles nothing anew. */
  if( sqlite3_file_control(db, schema, SQLITE_FCNTL_VFS_POINTER, &vfs)!=SQLITE_OK ) return 1;
  return vfs==NULL || vfs->zName==NULL || strcmp(vfs->zName, "memdb")==0;
}

int bloom_database_locate(bloom_connection *connection, char **schema, void **file, int *is_changed){
  void *file_now = bloom_database_file(connection->db, *schema);
  char *found;
  int rc;
  *is_changed = file_now!=*file;
  if( !*is_changed ) return SQLITE_OK;
  rc = find_schema(connection, *file, &found);
  if( rc!=SQLITE_OK ) return rc;
  /* A statement from before sqlite3_deserialize() means the file that is there now. */
  if( file_now && bloom_database_may_be_swapped(connection->db, *schema) ){
    if( found==NULL ){
      *file = file_now;
      return SQLITE_OK;
    }
    /* Or it is one that means the file from before, which is attached by another name. */
    sqlite3_free(found);
    found = NULL;
  }
  if( found==NULL ) return SQLITE_NOTFOUND;
  sqlite3_free(*schema);
  *schema = found;
  return SQLITE_OK;
}
