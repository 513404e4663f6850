/*
** bloom: Bloom filters for SQLite, in the formats of LevelDB and Parquet.
**
** A program that links the extension statically (compile ext/ with -DSQLITE_CORE)
** registers it for every connection that it opens from then on with
**
**     sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
**
** or for one connection with sqlite3_bloom_init(db, NULL, NULL).
*/
#ifndef BLOOM_H
#define BLOOM_H

#include <sqlite3.h>

#define BLOOM_VERSION "1.3.0"

#if defined(_WIN32)
# define BLOOM_EXPORT __declspec(dllexport)
#else
# define BLOOM_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3_api_routines;

/*
** Registers every bloom_... function and module on db.  Returns SQLITE_OK, or an error
** code with *error_message (if error_message is not NULL) set to a text that the caller
** frees with sqlite3_free().  After a failure the functions registered until then stay.
** api is what SQLite passes to an extension when it loads it.  It is ignored if the
** extension is linked statically; otherwise NULL returns SQLITE_MISUSE.
*/
BLOOM_EXPORT int sqlite3_bloom_init(
  sqlite3 *db,
  char **error_message,
  const struct sqlite3_api_routines *api
);

#ifdef __cplusplus
}
#endif

#endif
