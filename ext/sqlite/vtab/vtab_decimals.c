/*
** How SQLite reads decimals: versions, and processors, read a few as neighbouring REALs.
**
** So an expression like CAST(text AS NUMERIC) can have another value than when its key was
** stored.  The layout has a checksum over how some decimals were read when a REAL was stored
** that is no integer.  Where the SQLite that runs reads one of them otherwise, every key may be
** in the filter.
*/
#include "vtab_int.h"

#include "../../core/bytes.h"

/* More than one way to read them: keys were stored under several SQLites. */
#define SEVERAL_READINGS 1

/* Each is read otherwise by 3.40.1, 3.44.2, 3.52.0 or 3.54.1 than by another of them. */
#define SAMPLES \
  "45.84941454623279, 83099468.66706983, 14137278.531634585, 1421576643.4248842, 613.93417983299463, 3.51970913558553522," \
  "1.74248630363932, 4.45735103306489, 4268700.67862187, 59.8639840294551, 253452.6124221348, 77167613.52333159," \
  "883081.1825153635, 97953764.44999706, 17425900196.8729e27, 204.296799592153e27, 230578088382.298172, 27.2275385480346781," \
  "165739413.388301, 34143917.3971988, 537105.032981286, 62665047.5606036, 649188242.17604e9, 7476629944746054.5"

/* Finds connection->decimals out: more than SEVERAL_READINGS. */
static int read_samples(bloom_connection *connection){
  sqlite3_stmt *row;
  int rc = bloom_sql_prepare(connection, &row, "SELECT " SAMPLES);
  if( rc==SQLITE_OK ) rc = bloom_sql_step(connection, row);
  if( rc==SQLITE_ROW ){
    uint8_t bytes[8*24];
    size_t i;
    for(i=0; i<sizeof(bytes)/8; i++) bloom_store_real_le(bytes + 8*i, sqlite3_column_double(row, (int)i));
    connection->decimals = (uint32_t)bloom_checksum(bytes, sizeof(bytes)) | 2u;
    rc = SQLITE_OK;
  }
  sqlite3_finalize(row);
  return rc;
}

int bloom_vtab_reads_otherwise(bloom_connection *connection, const bloom_vtab_layout *layout, int *is_other){
  int rc = SQLITE_OK;
  *is_other = layout->decimals!=0;
  if( layout->decimals==0 || layout->decimals==SEVERAL_READINGS ) return SQLITE_OK;
  if( connection->decimals==0 && !connection->is_running ) rc = read_samples(connection);
  if( rc==SQLITE_OK ) *is_other = layout->decimals!=connection->decimals;
  return rc==SQLITE_AUTH ? SQLITE_OK : rc; /* kept from it: every key may be in it */
}

int bloom_vtab_set_decimals(bloom_connection *connection, bloom_vtab_layout *layout){
  int rc = connection->decimals ? SQLITE_OK : read_samples(connection);
  if( rc!=SQLITE_OK ) return rc;
  if( layout->decimals==0 ) layout->decimals = connection->decimals;
  if( layout->decimals!=connection->decimals ) layout->decimals = SEVERAL_READINGS;
  return SQLITE_OK;
}

int bloom_vtab_store_decimal(bloom_vtab *vtab){
  bloom_vtab_layout layout = vtab->layout;
  int rc = bloom_vtab_set_decimals(vtab->connection, &layout);
  if( rc!=SQLITE_OK || layout.decimals==vtab->layout.decimals ) return rc;
  /* What is written has to be right, so no hint is believed. */
  rc = bloom_vtab_read_layout(vtab);
  layout = vtab->layout;
  if( rc==SQLITE_OK ) rc = bloom_vtab_set_decimals(vtab->connection, &layout);
  if( rc!=SQLITE_OK || layout.decimals==vtab->layout.decimals ) return rc;
  return bloom_vtab_renumber(vtab, &layout);
}
