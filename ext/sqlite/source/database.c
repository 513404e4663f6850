/*
** Finds the database that an object of a virtual table means.
*/
#include "database.h"

#include <string.h>

void *bloom_database_file(sqlite3 *db, const char *schema){
  sqlite3_file *file = NULL;
  return sqlite3_file_control(db, schema, SQLITE_FCNTL_FILE_POINTER, &file)==SQLITE_OK
    ? file : NULL;
}

int bloom_database_may_be_swapped(sqlite3 *db, const char *schema){
  sqlite3_vfs *vfs = NULL;
  /* sqlite3_deserialize() puts another file in place, and SQLite compiles nothing anew. */
  sqlite3_file_control(db, schema, SQLITE_FCNTL_VFS_POINTER, &vfs);
  return vfs==NULL || strcmp(vfs->zName, "memdb")==0;
}

/* Names of databases, each NULL or to be freed. */
typedef struct found_names {
  char *name;    /* that a file is open by */
  char *swapped; /* one of others that sqlite3_deserialize() may have put a file under */
  int num_swapped;
} found_names;

static int find_names(bloom_connection *connection, const void *file, found_names *found){
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(connection, &row, "PRAGMA database_list");
  *found = (found_names){.name = NULL};
  while( rc==SQLITE_OK && (rc = bloom_sql_step(connection, row))==SQLITE_ROW ){
    char *schema, **place = NULL;
    rc = bloom_sql_copy_text(row, 1, &schema);
    if( rc!=SQLITE_OK ) continue;
    if( bloom_database_file(connection->db, schema)==file ){
      place = &found->name;
    }else if( bloom_database_may_be_swapped(connection->db, schema) ){
      place = &found->swapped;
      found->num_swapped++;
    }
    if( place && *place==NULL ) *place = schema;
    else sqlite3_free(schema);
  }
  return bloom_sql_end(row, rc);
}

/* Gives *schema a name out of *found. */
static void take_name(char **schema, char **found){
  sqlite3_free(*schema);
  *schema = *found;
  *found = NULL;
}

int bloom_database_locate(
  bloom_connection *connection, char **schema, const void *file, bloom_database_state *state,
  int *is_changed
){
  const void *file_now = bloom_database_file(connection->db, *schema);
  found_names found;
  int rc;
  *is_changed = *state!=BLOOM_DATABASE_SAME || file_now!=file;
  if( !*is_changed ) return SQLITE_OK;
  rc = find_names(connection, file, &found);
  if( rc!=SQLITE_OK ){
    /* Nothing is known. */
  }else if( found.name && found.num_swapped==0 ){
    *state = BLOOM_DATABASE_SAME;
    take_name(schema, &found.name);
  }else if( found.name ){
    /* A new statement means the file, and one from before sqlite3_deserialize() another. */
    *state = BLOOM_DATABASE_UNSURE;
    rc = SQLITE_NOTFOUND;
  }else if( *state==BLOOM_DATABASE_UNSURE && found.num_swapped==1 ){
    take_name(schema, &found.swapped);
  }else if( *state!=BLOOM_DATABASE_UNSURE && file_now
            && bloom_database_may_be_swapped(connection->db, *schema) ){
    /* All statements are from before sqlite3_deserialize(). */
    *is_changed = *state!=BLOOM_DATABASE_REPLACED;
    *state = BLOOM_DATABASE_REPLACED;
  }else{
    rc = SQLITE_NOTFOUND;
  }
  sqlite3_free(found.name);
  sqlite3_free(found.swapped);
  return rc;
}
