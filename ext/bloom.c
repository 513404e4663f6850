/*
** The entry point: one list of the SQL functions, one of the table-valued functions and the virtual
** tables.  BUILDING.md says what a new one needs.
*/
#ifndef _GNU_SOURCE
# define _GNU_SOURCE /* Dl_info, RTLD_DEFAULT; NOLINT: the name is the C library's */
#endif
#include "bloom.h"

#include <stddef.h>

#ifndef SQLITE_CORE
# ifdef _WIN32
#  include <windows.h>
# else
#  include <dlfcn.h>
# endif
#endif

#include "core/debug.h"
#include "sqlite/connection.h"
#include "sqlite/functions/functions.h"
#include "sqlite/index/index.h"
#include "sqlite/vtab/vtab.h"

#ifndef SQLITE_CORE
SQLITE_EXTENSION_INIT1
#endif

/* Deterministic: usable in indexes and hoisted out of loops.  Innocuous: usable
** in views, triggers and CHECKs of databases that are not trusted. */
#define SCALAR_FLAGS (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

/* SQLITE_INNOCUOUS and SQLITE_VTAB_INNOCUOUS came with 3.31.0. */
#define OLDEST_SQLITE_VERSION_NUMBER 3031000
#define OLDEST_SQLITE_VERSION        "3.31.0"

/* Scalars have function; aggregates step and final; window functions value and inverse, too.  Their
** data is that of the connection (sqlite/connection.h). */
typedef struct function_row {
  const char *name;
  int min_args, max_args; /* -1: any number */
  void (*function)(sqlite3_context *, int, sqlite3_value **);
  void (*step)(sqlite3_context *, int, sqlite3_value **);
  void (*final)(sqlite3_context *);
  void (*value)(sqlite3_context *);
  void (*inverse)(sqlite3_context *, int, sqlite3_value **);
} function_row;

#define SCALAR(sql_name, min, max) \
  {.name = #sql_name, .min_args = (min), .max_args = (max), .function = (sql_name)}
#define AGGREGATE(sql_name, min, max) \
  {.name = #sql_name, .min_args = (min), .max_args = (max), .step = sql_name##_step, \
   .final = sql_name##_final}

static void bloom_version(sqlite3_context *context, int num_args, sqlite3_value **args){
  (void)num_args;
  (void)args;
  sqlite3_result_text(context, BLOOM_VERSION, -1, SQLITE_STATIC);
}

static const function_row function_rows[] = {
  {.name = "bloom_build", .min_args = 1, .max_args = 4, .step = bloom_build_step,
   .final = bloom_build_final, .value = bloom_build_value, .inverse = bloom_build_inverse},
  SCALAR(bloom_empty, 1, 3),
  SCALAR(bloom_add, -1, -1),
  AGGREGATE(bloom_merge, 1, 1),
  SCALAR(bloom_bits_per_key, 1, 3),
  SCALAR(bloom_partition, 2, 2),
  {.name = "bloom_key", .min_args = 2, .max_args = 2, .function = bloom_typed_key},
  {.name = "bloom_key", .min_args = 3, .max_args = 3, .function = bloom_secret_key},
  SCALAR(bloom_tuple, -1, -1),
  {.name = "bloom_filter", .min_args = -1, .max_args = -1, .step = bloom_filter_step,
   .final = bloom_filter_final, .value = bloom_filter_value, .inverse = bloom_filter_inverse},
  SCALAR(bloom_may_contain, -1, -1),
  SCALAR(bloom_open, 1, 1),
  AGGREGATE(bloom_filter_block_build, 2, 3),
  AGGREGATE(bloom_build_sets, 2, 4),
  SCALAR(bloom_version, 0, 0),
};

static const struct {
  const char *name;
  const sqlite3_module *module;
  const bloom_tvf *function; /* of a table-valued function; NULL: its data is the connection's */
} module_rows[] = {
  {.name = "bloom_info", .module = &bloom_tvf_module, .function = &bloom_info_tvf},
  {.name = "bloom_filter_block", .module = &bloom_tvf_module, .function = &bloom_filter_block_tvf},
  {.name = "bloom_ldb", .module = &bloom_tvf_module, .function = &bloom_ldb_tvf},
  {.name = "bloom_sets", .module = &bloom_tvf_module, .function = &bloom_sets_tvf},
  {.name = "bloom", .module = &bloom_vtab_module.module},
  {.name = "bloom_index", .module = &bloom_index_module.module},
  {.name = "bloom_index_list", .module = &bloom_tvf_module, .function = &bloom_index_list_tvf},
  {.name = "bloom_index_info", .module = &bloom_tvf_module, .function = &bloom_index_info_tvf},
};

/* Registers all rows, up to the first that fails.  Rows registered until then stay: SQLite removes
** no function while a statement runs, and a row may have replaced an earlier function. */
static int register_all(sqlite3 *db){
  size_t i;
  int num_args, rc = SQLITE_OK;
  /* Each call of SQLite's frees its data, too, if it fails. */
  for(i=0; i<BLOOM_COUNT_OF(function_rows); i++){
    const function_row *row = &function_rows[i];
    assert( (row->function==NULL)==(row->step && row->final) );
    assert( row->min_args<=row->max_args && (row->value==NULL)==(row->inverse==NULL) );
    for(num_args=row->min_args; rc==SQLITE_OK && num_args<=row->max_args; num_args++){
      void *data = bloom_connection_get(db);
      if( data==NULL ) return SQLITE_NOMEM;
      rc = row->value
          ? sqlite3_create_window_function(db, row->name, num_args, SCALAR_FLAGS, data, row->step,
                                           row->final, row->value, row->inverse,
                                           bloom_connection_release)
          : sqlite3_create_function_v2(db, row->name, num_args, SCALAR_FLAGS, data, row->function,
                                       row->step, row->final, bloom_connection_release);
    }
  }
  for(i=0; rc==SQLITE_OK && i<BLOOM_COUNT_OF(module_rows); i++){
    /* SQLite's interface takes no const data, but it only passes the data on. */
    union { const bloom_tvf *function; void *data; } given = {module_rows[i].function};
    const int is_table = given.function==NULL;
    if( is_table ) given.data = bloom_connection_get(db); /* the functions have it */
    assert( given.data );
    rc = sqlite3_create_module_v2(db, module_rows[i].name, module_rows[i].module, given.data,
                                  is_table ? bloom_connection_release : NULL);
  }
  return rc;
}

/* Keeps the library in memory until the process ends: SQLite would unload it if
** sqlite3_bloom_init() failed, also with functions registered.  Returns 0 if it cannot be kept. */
#if defined(SQLITE_CORE)
/* Nothing was loaded. */
#elif defined(_WIN32)
static int stay_loaded(void){
  HMODULE library;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                            (LPCWSTR)function_rows, &library);
}
#else
static int stay_loaded(void){
  /* On older systems dladdr() is in a library that bloom is not linked with. */
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  int (*find_library)(const void *, Dl_info *) = NULL;
  Dl_info library;
  if( vfs && vfs->xDlOpen && vfs->xDlSym ){
    find_library = (int (*)(const void *, Dl_info *))vfs->xDlSym(vfs, RTLD_DEFAULT, "dladdr");
  }
  if( find_library==NULL ) return 1; /* there is no way to keep it, and perhaps no need */
  /* This reference is never closed. */
  return find_library(function_rows, &library) && vfs->xDlOpen(vfs, library.dli_fname);
}
#endif

/* Sets the error message of sqlite3_bloom_init() and returns rc. */
static int fail_init(int rc, char **error_message, const char *cause){
  if( error_message ){
    *error_message = sqlite3_mprintf("bloom: %s", cause);
    if( *error_message==NULL ) *error_message = sqlite3_mprintf("bloom: out of memory");
  }
  return rc;
}

int sqlite3_bloom_init(sqlite3 *db, char **error_message, const struct sqlite3_api_routines *api){
  int rc;
#ifdef SQLITE_CORE
  (void)api;
#else
  if( api==NULL ) return SQLITE_MISUSE; /* called by a program, not by SQLite: no call would work */
  SQLITE_EXTENSION_INIT2(api)
#endif
  /* Older versions lack calls that follow, so check this first. */
  if( sqlite3_libversion_number()<OLDEST_SQLITE_VERSION_NUMBER ){
    if( error_message ){
      *error_message = sqlite3_mprintf("bloom needs SQLite " OLDEST_SQLITE_VERSION
                                       " or newer, this is %s", sqlite3_libversion());
    }
    return SQLITE_ERROR;
  }
#ifndef SQLITE_CORE
  if( !stay_loaded() ){
    return fail_init(SQLITE_ERROR, error_message,
                     "the library cannot be kept in memory; linked with a program it needs "
                     "-DSQLITE_CORE");
  }
#endif
  rc = register_all(db);
  if( rc==SQLITE_OK ) return SQLITE_OK;
  /* If the failure was SQLite's own, its message says more than the code. */
  return fail_init(rc, error_message,
                   sqlite3_errcode(db)==rc ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
}
