/*
** The list of the connections that bloom is loaded into.
*/
#include "connection.h"

#include "../core/debug.h"
#include "handle.h"

/* Under SQLite's own mutex for applications. */
static bloom_connection *connections;

/* A SQLite without threads has no mutexes, and not even their functions: they must neither
** be called where bloom is loaded, nor be named where it is linked. */
#if defined(SQLITE_CORE) && defined(SQLITE_THREADSAFE) && !SQLITE_THREADSAFE
static void lock_connections(void){}
static void unlock_connections(void){}
static int try_lock(sqlite3 *db){ return db!=NULL; }
static void unlock(sqlite3 *db){ (void)db; }
#else
static void lock_connections(void){
  if( sqlite3_threadsafe() ) sqlite3_mutex_enter(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
}
static void unlock_connections(void){
  if( sqlite3_threadsafe() ) sqlite3_mutex_leave(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
}
static int try_lock(sqlite3 *db){
  return !sqlite3_threadsafe() || sqlite3_mutex_try(sqlite3_db_mutex(db))==SQLITE_OK;
}
static void unlock(sqlite3 *db){
  if( sqlite3_threadsafe() ) sqlite3_mutex_leave(sqlite3_db_mutex(db));
}
#endif

bloom_connection *bloom_connection_get(sqlite3 *db){
  bloom_connection *connection;
  lock_connections();
  for(connection=connections; connection && connection->db!=db; connection=connection->next){}
  if( connection==NULL ){
    connection = sqlite3_malloc64(sizeof(*connection));
    if( connection ){
      *connection = (bloom_connection){.db = db, .next = connections};
      connections = connection;
    }
  }
  if( connection ) connection->num_users++;
  unlock_connections();
  return connection;
}

void bloom_connection_hold(bloom_connection *connection){
  lock_connections();
  assert( connection->num_users>0 );
  connection->num_users++;
  unlock_connections();
}

void bloom_connection_release(void *data){
  bloom_connection *connection = data, **link = &connections;
  int is_last;
  lock_connections();
  assert( connection->num_users>0 );
  is_last = --connection->num_users==0;
  if( is_last ){
    while( *link!=connection ) link = &(*link)->next;
    *link = connection->next;
  }
  unlock_connections();
  if( !is_last ) return;
  while( connection->kept ){
    bloom_handle *handle = connection->kept;
    connection->kept = handle->next;
    sqlite3_free(handle);
  }
  sqlite3_free(connection);
}

int bloom_connection_is_checking(const bloom_connection *connection){
  sqlite3_stmt *statement = NULL;
  if( !try_lock(connection->db) ) return 0; /* another thread's */
  while( (statement = sqlite3_next_stmt(connection->db, statement))!=NULL ){
    if( sqlite3_stmt_busy(statement)
        && sqlite3_strlike("%\\_check%", sqlite3_sql(statement), '\\')==0 ){
      break;
    }
  }
  unlock(connection->db);
  return statement!=NULL;
}

/* -- Damage ---------------------------------------------------------------------------------- */

void bloom_connection_note_damage(bloom_connection *connection, uint64_t number){
  connection->damaged[connection->num_damaged++ % BLOOM_MAX_DAMAGED] = number;
}

int bloom_connection_knows_damage(const bloom_connection *connection, uint64_t number){
  int i = 0;
  while( i<BLOOM_MAX_DAMAGED && connection->damaged[i]!=number ) i++;
  return i<BLOOM_MAX_DAMAGED;
}

/* -- Interrupts ------------------------------------------------------------------------------ */

static int stoppable_is_interrupted(void *data){
  bloom_stoppable *stoppable = data;
  if( !stoppable->is_stopped ) stoppable->is_stopped = bloom_db_is_interrupted(stoppable->db);
  return stoppable->is_stopped;
}

void bloom_stoppable_init(bloom_stoppable *stoppable, sqlite3 *db, const bloom_filter *filter){
  assert( db && filter->encoding );
  *stoppable = (bloom_stoppable){*filter, {stoppable_is_interrupted, stoppable}, db, 0};
  stoppable->filter.interrupt = &stoppable->interrupt;
}
