/*
** bloom in C, loaded or linked.  Run it in the folder of bloom.so:
**     cc -o c_api c_api.c -lsqlite3 && ./c_api
** Linked statically it needs bloom.c and bloom.h instead, which `make amalgamation` writes:
**     cc -O3 -DSQLITE_CORE -o c_api c_api.c bloom.c -lsqlite3 && ./c_api
*/
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef SQLITE_CORE
#include "bloom.h"
#endif

static sqlite3 *db;

static void fail(const char *message){
  fprintf(stderr, "%s\n", message);
  exit(1);
}

static void check(int rc){
  if( rc!=SQLITE_OK ) fail(sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(const char *sql){
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
  return statement;
}

/* Whether there is one more row. */
static int step(sqlite3_stmt *statement){
  int rc = sqlite3_step(statement);
  if( rc!=SQLITE_ROW && rc!=SQLITE_DONE ) fail(sqlite3_errmsg(db));
  return rc==SQLITE_ROW;
}

static void open_with_bloom(void){
#ifdef SQLITE_CORE
  /* From here on every connection that is opened has bloom's functions. */
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
  if( sqlite3_open(":memory:", &db)!=SQLITE_OK ) fail(sqlite3_errmsg(db));
#else
  char *message = NULL;
  if( sqlite3_open(":memory:", &db)!=SQLITE_OK ) fail(sqlite3_errmsg(db));
  check(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL));
  if( sqlite3_load_extension(db, "./bloom", NULL, &message)!=SQLITE_OK ) fail(message);
#endif
}

int main(void){
  const sqlite3_int64 keys[] = {1, 77, 1234567890123456789};
  sqlite3_stmt *row, *stored;
  const unsigned char *filter;
  int num_bytes, i;

  open_with_bloom();
  row = prepare("SELECT sqlite_version(), bloom_version()");
  if( step(row) ) printf("SQLite %s, bloom %s\n", sqlite3_column_text(row, 0), sqlite3_column_text(row, 1));
  sqlite3_finalize(row);

  /* Build a filter of the customers, and store it. */
  check(sqlite3_exec(db,
      "CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT);"
      "INSERT INTO customers VALUES (1, 'DE'), (2, 'FR'), (1234567890123456789, 'DE');"
      "CREATE TABLE sales(customer_id INTEGER, amount INTEGER);"
      "INSERT INTO sales VALUES (1, 10), (2, 20), (77, 30), (1234567890123456789, 40);"
      "CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);"
      "INSERT INTO filters SELECT 'customers', bloom_build(id) FROM customers;", NULL, NULL, NULL));

  /* The statement keeps the filter's bytes until it is finalized, so SQLITE_STATIC saves a copy. */
  stored = prepare("SELECT filter FROM filters WHERE name = 'customers'");
  if( !step(stored) ) fail("there is no filter");
  filter = sqlite3_column_blob(stored, 0);
  num_bytes = sqlite3_column_bytes(stored, 0);
  printf("filter: %d bytes, ", num_bytes);
  for(i=0; i<num_bytes; i++) printf("%02x", filter[i]);
  puts("");
  row = prepare("SELECT bloom_may_contain(?, ?)");
  check(sqlite3_bind_blob(row, 1, filter, num_bytes, SQLITE_STATIC));
  for(i=0; i<3; i++){
    check(sqlite3_bind_int64(row, 2, keys[i]));
    if( step(row) ) printf("%lld: %s\n", keys[i], sqlite3_column_int(row, 0) ? "maybe" : "no");
    sqlite3_reset(row);
  }
  sqlite3_finalize(row);
  sqlite3_finalize(stored);

  /* In a join bloom_open() reads the stored filter once for all rows. */
  row = prepare(
      "SELECT customer_id, amount FROM sales JOIN customers ON id = customer_id"
      " WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)"
      " ORDER BY amount");
  while( step(row) ) printf("customer %lld: %d\n", sqlite3_column_int64(row, 0), sqlite3_column_int(row, 1));
  sqlite3_finalize(row);
  row = prepare(
      "SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)),"
      "       count(*) FROM sales");
  if( step(row) ) printf("%d of %d sales pass the filter\n", sqlite3_column_int(row, 0), sqlite3_column_int(row, 1));
  sqlite3_finalize(row);

  row = prepare("SELECT encoding, num_bytes, estimated_keys, measured_fpr FROM filters, bloom_info(filter)");
  if( step(row) ){
    printf("%s, %d bytes, %.1f keys, %.2f %% false positives\n", sqlite3_column_text(row, 0),
           sqlite3_column_int(row, 1), sqlite3_column_double(row, 2), 100 * sqlite3_column_double(row, 3));
  }
  sqlite3_finalize(row);

  row = prepare("SELECT bloom_may_contain('customers', 1)");
  if( sqlite3_step(row)!=SQLITE_ROW ) printf("error: %s\n", sqlite3_errmsg(db));
  sqlite3_finalize(row);
  return sqlite3_close(db)!=SQLITE_OK;
}
