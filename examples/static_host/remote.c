/*
** A file on a web server, for SQLite to read: a VFS without a way to write, whose reads
** become the page's range requests (worker.js).  SQLite is told that the file cannot change,
** so it takes no locks and looks for no journal; that it does not is for worker.js to see to.
*/
#include <emscripten.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

#include "bloom.h"

sqlite3 *remote_open(void);

/* The size of the file in bytes.  Reading returns 0, or another number for SQLite's "disk I/O error". */
EM_JS(double, remote_size, (void), { return Module["remote"].size; })
EM_JS(int, remote_read, (void *out, int num_bytes, double offset), {
  return Module["remote"].read(HEAPU8.subarray(out, out + num_bytes), offset);
})

static int file_close(sqlite3_file *file){
  (void)file;
  return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *out, int num_bytes, sqlite3_int64 offset){
  const sqlite3_int64 left = (sqlite3_int64)remote_size() - offset;
  const int num_there = left<=0 ? 0 : left<num_bytes ? (int)left : num_bytes;
  (void)file;
  if( num_there>0 && remote_read(out, num_there, (double)offset)!=0 ) return SQLITE_IOERR_READ;
  if( num_there==num_bytes ) return SQLITE_OK;
  memset((char *)out + num_there, 0, (size_t)(num_bytes - num_there));
  return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *file, const void *bytes, int num_bytes, sqlite3_int64 offset){
  (void)file; (void)bytes; (void)num_bytes; (void)offset;
  return SQLITE_READONLY;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size){
  (void)file; (void)size;
  return SQLITE_READONLY;
}

static int file_sync(sqlite3_file *file, int flags){
  (void)file; (void)flags;
  return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size){
  (void)file;
  *size = (sqlite3_int64)remote_size();
  return SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level){
  (void)file; (void)level;
  return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *file, int *is_reserved){
  (void)file;
  *is_reserved = 0;
  return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int what, void *argument){
  (void)file; (void)what; (void)argument;
  return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *file){
  (void)file;
  return 4096;
}

static int file_characteristics(sqlite3_file *file){
  (void)file;
  return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
  .iVersion = 1, .xClose = file_close, .xRead = file_read, .xWrite = file_write,
  .xTruncate = file_truncate, .xSync = file_sync, .xFileSize = file_size, .xLock = file_lock,
  .xUnlock = file_lock, .xCheckReservedLock = file_is_reserved, .xFileControl = file_control,
  .xSectorSize = file_sector_size, .xDeviceCharacteristics = file_characteristics
};

/* Temporary files are in memory (SQLITE_TEMP_STORE=3): there is the one file. */
static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags){
  (void)vfs; (void)name;
  file->pMethods = NULL;
  if( (flags & SQLITE_OPEN_MAIN_DB)==0 ) return SQLITE_CANTOPEN;
  file->pMethods = &methods;
  if( out_flags ) *out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
  return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync){
  (void)vfs; (void)name; (void)sync;
  return SQLITE_READONLY;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *is_there){
  (void)vfs; (void)name; (void)flags;
  *is_there = 0; /* no journal, no log of WAL */
  return SQLITE_OK;
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int num_bytes, char *out){
  (void)vfs;
  sqlite3_snprintf(num_bytes, out, "%s", name);
  return SQLITE_OK;
}

/* SQLite's own VFS has the clock and random numbers. */
static sqlite3_vfs *own(sqlite3_vfs *vfs){
  return vfs->pAppData;
}

static int vfs_randomness(sqlite3_vfs *vfs, int num_bytes, char *out){
  return own(vfs)->xRandomness(own(vfs), num_bytes, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds){
  return own(vfs)->xSleep(own(vfs), microseconds);
}

static int vfs_time(sqlite3_vfs *vfs, double *day){
  return own(vfs)->xCurrentTime(own(vfs), day);
}

static sqlite3_vfs remote_vfs = {
  .iVersion = 1, .szOsFile = sizeof(sqlite3_file), .mxPathname = 512, .zName = "remote",
  .xOpen = vfs_open, .xDelete = vfs_delete, .xAccess = vfs_access, .xFullPathname = vfs_full_name,
  .xRandomness = vfs_randomness, .xSleep = vfs_sleep, .xCurrentTime = vfs_time
};

/* The file that Module.remote reads; NULL if it cannot be opened. */
EMSCRIPTEN_KEEPALIVE sqlite3 *remote_open(void){
  sqlite3 *db;
  if( remote_vfs.pAppData==NULL ) remote_vfs.pAppData = sqlite3_vfs_find(NULL);
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
  if( sqlite3_vfs_register(&remote_vfs, 0)!=SQLITE_OK ) return NULL;
  if( sqlite3_open_v2("remote", &db, SQLITE_OPEN_READONLY, "remote")!=SQLITE_OK ){
    sqlite3_close(db);
    return NULL;
  }
  return db;
}
