/*
** The list of the connections that bloom is loaded into.
*/
#include "connection.h"

/* Under SQLite's own mutex for applications, which is NULL where there are no threads. */
static bloom_connection *connections;

static sqlite3_mutex *connections_mutex(void){
  return sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
}

static bloom_connection *new_connection(sqlite3 *db){
  bloom_connection *connection = sqlite3_malloc64(sizeof(*connection));
  if( connection==NULL ) return NULL;
  *connection = (bloom_connection){.db = db, .pool = bloom_handle_pool_new()};
  if( connection->pool ) return connection;
  sqlite3_free(connection);
  return NULL;
}

bloom_connection *bloom_connection_get(sqlite3 *db){
  bloom_connection *connection;
  sqlite3_mutex_enter(connections_mutex());
  for(connection=connections; connection && connection->db!=db; connection=connection->next){}
  if( connection==NULL ){
    connection = new_connection(db);
    if( connection ){
      connection->next = connections;
      connections = connection;
    }
  }
  if( connection ) connection->num_users++;
  sqlite3_mutex_leave(connections_mutex());
  return connection;
}

void bloom_connection_release(void *data){
  bloom_connection *connection = data, **link = &connections;
  int is_last;
  sqlite3_mutex_enter(connections_mutex());
  is_last = --connection->num_users==0;
  if( is_last ){
    while( *link!=connection ) link = &(*link)->next;
    *link = connection->next;
  }
  sqlite3_mutex_leave(connections_mutex());
  if( !is_last ) return;
  bloom_handle_pool_free(connection->pool);
  sqlite3_free(connection);
}
