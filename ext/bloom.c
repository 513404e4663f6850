/*
** Entry point: one table of the SQL functions, one of the table-valued ones.
** A new function is one file in sqlite/ and one row here.
*/
#include "bloom.h"

#include <stddef.h>

#include "sqlite/functions.h"
#include "sqlite/handle.h"

#ifndef SQLITE_CORE
SQLITE_EXTENSION_INIT1
#endif

/* Deterministic: usable in indexes and hoisted out of loops.  Innocuous: usable
** in views, triggers and CHECKs of databases that are not trusted. */
#define SCALAR_FLAGS (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

/* SQLITE_INNOCUOUS and SQLITE_VTAB_INNOCUOUS came with 3.31.0. */
#define OLDEST_SQLITE_VERSION_NUMBER 3031000
#define OLDEST_SQLITE_VERSION        "3.31.0"

/* Aggregates have step and final, window functions value and inverse as well;
** scalars have function. */
typedef struct function_row {
  const char *name;
  int num_args; /* -1: any number */
  void (*function)(sqlite3_context *, int, sqlite3_value **);
  void (*step)(sqlite3_context *, int, sqlite3_value **);
  void (*final)(sqlite3_context *);
  void (*value)(sqlite3_context *);
  void (*inverse)(sqlite3_context *, int, sqlite3_value **);
  /* What the function has of its own in each connection, if anything. */
  void *(*new_data)(void);
  void (*free_data)(void *);
} function_row;

#define SCALAR(sql_name, count) {.name = #sql_name, .num_args = (count), .function = (sql_name)}
#define SCALAR_WITH(sql_name, count, data) \
  {.name = #sql_name, .num_args = (count), .function = (sql_name), .new_data = data##_new, .free_data = data##_free}
#define AGGREGATE(sql_name, count) \
  {.name = #sql_name, .num_args = (count), .step = sql_name##_step, .final = sql_name##_final}
#define WINDOW(sql_name, count) \
  {.name = #sql_name, .num_args = (count), .step = sql_name##_step, .final = sql_name##_final, \
   .value = sql_name##_value, .inverse = sql_name##_inverse}

static const function_row function_rows[] = {
  WINDOW(bloom_build, 1),
  WINDOW(bloom_build, 2),
  WINDOW(bloom_build, 3),
  WINDOW(bloom_build, 4),
  SCALAR(bloom_empty, 1),
  SCALAR(bloom_empty, 2),
  SCALAR(bloom_empty, 3),
  SCALAR(bloom_add, -1),
  AGGREGATE(bloom_merge, 1),
  SCALAR(bloom_bits_per_key, 1),
  SCALAR(bloom_bits_per_key, 2),
  SCALAR(bloom_bits_per_key, 3),
  SCALAR(bloom_partition, 2),
  SCALAR(bloom_may_contain, 2),
  SCALAR_WITH(bloom_open, 1, bloom_handle_pool),
  SCALAR(bloom_version, 0),
};

static const struct {
  const char *name;
  const sqlite3_module *module;
} module_rows[] = {
  {"bloom_info", &bloom_info_module},
};

static int register_function(sqlite3 *db, const function_row *row){
  void *data = NULL;
  if( row->value ){
    return sqlite3_create_window_function(db, row->name, row->num_args, SCALAR_FLAGS, NULL,
                                          row->step, row->final, row->value, row->inverse, NULL);
  }
  if( row->new_data ){
    data = row->new_data();
    if( data==NULL ) return SQLITE_NOMEM;
  }
  /* Frees data, too, if it fails. */
  return sqlite3_create_function_v2(db, row->name, row->num_args, SCALAR_FLAGS, data,
                                    row->function, row->step, row->final, row->free_data);
}

#define NUM_FUNCTION_ROWS (sizeof(function_rows) / sizeof(function_rows[0]))
#define NUM_MODULE_ROWS   (sizeof(module_rows) / sizeof(module_rows[0]))

/* Registers all rows; if one fails, none, with SQLite's own message: SQLite unloads an
** extension that failed, and what stayed registered would be called where no code is any
** more. */
static int register_all(sqlite3 *db, char **error_message){
  int rc = SQLITE_OK;
  size_t num_functions = 0, num_modules = 0;
  while( rc==SQLITE_OK && num_functions<NUM_FUNCTION_ROWS ){
    rc = register_function(db, &function_rows[num_functions]);
    num_functions += rc==SQLITE_OK;
  }
  while( rc==SQLITE_OK && num_modules<NUM_MODULE_ROWS ){
    rc = sqlite3_create_module_v2(db, module_rows[num_modules].name, module_rows[num_modules].module,
                                  NULL, NULL);
    num_modules += rc==SQLITE_OK;
  }
  if( rc==SQLITE_OK ) return SQLITE_OK;
  if( error_message ) *error_message = sqlite3_mprintf("bloom: %s", sqlite3_errmsg(db));
  while( num_modules-- ) sqlite3_create_module_v2(db, module_rows[num_modules].name, NULL, NULL, NULL);
  while( num_functions-- ){
    sqlite3_create_function_v2(db, function_rows[num_functions].name, function_rows[num_functions].num_args,
                               SCALAR_FLAGS, NULL, NULL, NULL, NULL, NULL);
  }
  return rc;
}

int sqlite3_bloom_init(sqlite3 *db, char **error_message, const struct sqlite3_api_routines *api){
#ifdef SQLITE_CORE
  (void)api;
#else
  SQLITE_EXTENSION_INIT2(api)
#endif
  /* The oldest versions lack the calls that follow: refuse before using one. */
  if( sqlite3_libversion_number()<OLDEST_SQLITE_VERSION_NUMBER ){
    if( error_message ){
      *error_message = sqlite3_mprintf("bloom needs SQLite " OLDEST_SQLITE_VERSION
                                       " or newer, this is %s", sqlite3_libversion());
    }
    return SQLITE_ERROR;
  }
  return register_all(db, error_message);
}
