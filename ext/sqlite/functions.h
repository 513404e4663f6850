/*
** What bloom.c registers: the SQL functions, each in the file of its name.
*/
#ifndef BLOOM_SQLITE_FUNCTIONS_H
#define BLOOM_SQLITE_FUNCTIONS_H

#include "sqlite_api.h"

/* bloom_build(key [, bits_per_key [, capacity]] [, encoding]): aggregate and window function. */
void bloom_build_step(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_build_final(sqlite3_context *context);
void bloom_build_value(sqlite3_context *context);
void bloom_build_inverse(sqlite3_context *context, int num_args, sqlite3_value **args);

/* bloom_empty(capacity [, bits_per_key] [, encoding]) */
void bloom_empty(sqlite3_context *context, int num_args, sqlite3_value **args);

/* bloom_add(filter, key, ...) */
void bloom_add(sqlite3_context *context, int num_args, sqlite3_value **args);

/* bloom_merge(filter): aggregate. */
void bloom_merge_step(sqlite3_context *context, int num_args, sqlite3_value **args);
void bloom_merge_final(sqlite3_context *context);

/* bloom_bits_per_key(false_positive_rate [, num_keys] [, encoding]) */
void bloom_bits_per_key(sqlite3_context *context, int num_args, sqlite3_value **args);

/* bloom_partition(key, num_partitions) */
void bloom_partition(sqlite3_context *context, int num_args, sqlite3_value **args);

/* bloom_may_contain(filter, key) */
void bloom_may_contain(sqlite3_context *context, int num_args, sqlite3_value **args);

/* bloom_open(filter) */
void bloom_open(sqlite3_context *context, int num_args, sqlite3_value **args);

/* bloom_version() */
void bloom_version(sqlite3_context *context, int num_args, sqlite3_value **args);

/* bloom_info(filter): table-valued */
extern const sqlite3_module bloom_info_module;

#endif
