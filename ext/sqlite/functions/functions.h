/*
** The SQL functions, which bloom.c registers.  bloom_build.c has those that return filters to keep,
** and their size; bloom_filter.c the filter of one statement; bloom_may_contain.c those that test a
** filter for a key, and bloom_tuple(); bloom_info.c what describes a filter; bloom_key.c keys of
** other programs; bloom_sets.c BloomFiles; leveldb_files.c LevelDB's files.  FUNCTIONS.md says what
** each promises.
**
** A function takes its filter by bloom_filter_arg_or_fail(), of handle.h, and its key by those of
** key.h; what reads all bytes of a filter does so through bloom_stoppable_init(), of connection.h.
*/
#ifndef BLOOM_SQLITE_FUNCTIONS_H
#define BLOOM_SQLITE_FUNCTIONS_H

#include "../sqlite_api.h"
#include "../tvf.h"

/* -- Scalars --------------------------------------------------------------------------------- */

/* bloom_key(value, type) is bloom_typed_key(), as bloom_key is a type; with a secret it is
** bloom_secret_key(). */
void bloom_empty(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_add(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_bits_per_key(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_partition(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_typed_key(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_secret_key(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_tuple(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_may_contain(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_open(sqlite3_context *context, int num_args, sqlite3_value **args);

/* -- Aggregates; those with value and inverse are window functions, too ---------------------- */

void bloom_build_step(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_build_final(sqlite3_context *context);
void bloom_build_value(sqlite3_context *context);
void bloom_build_inverse(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_filter_step(sqlite3_context *context, int num_keys, sqlite3_value **keys);
void bloom_filter_final(sqlite3_context *context);
void bloom_filter_value(sqlite3_context *context);
void bloom_filter_inverse(sqlite3_context *context, int num_keys, sqlite3_value **keys);
void bloom_merge_step(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_merge_final(sqlite3_context *context);
void bloom_build_sets_step(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_build_sets_final(sqlite3_context *context);
void bloom_filter_block_build_step(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_filter_block_build_final(sqlite3_context *context);

/* -- Table-valued functions ------------------------------------------------------------------ */

extern const bloom_tvf bloom_info_tvf;
extern const bloom_tvf bloom_filter_block_tvf;
extern const bloom_tvf bloom_ldb_tvf;
extern const bloom_tvf bloom_sets_tvf;

#endif
