/*
** Reading and writing records.
*/
#include "record.h"

#include <string.h>

#include "../../core/bytes.h"
#include "../../core/debug.h"
#include "../../core/hash.h"

#define CHECKSUM_BYTES 8

bloom_record bloom_record_open(const uint8_t *bytes, size_t num_bytes){
  bloom_record opened = {.next = bytes, .end = bytes, .rc = SQLITE_CORRUPT_VTAB};
  if( num_bytes<CHECKSUM_BYTES ) return opened;
  opened.checksum = bloom_load64_le(bytes + num_bytes - CHECKSUM_BYTES);
  if( opened.checksum!=bloom_xxh64(bytes, num_bytes - CHECKSUM_BYTES) ) return opened;
  opened.end += num_bytes - CHECKSUM_BYTES;
  opened.rc = SQLITE_OK;
  return opened;
}

bloom_record bloom_record_new(void){
  return (bloom_record){.out = sqlite3_str_new(NULL)};
}

int bloom_record_finish(bloom_record *record, char **bytes, int *num_bytes){
  record->checksum = bloom_xxh64((const uint8_t *)sqlite3_str_value(record->out),
                                 (size_t)sqlite3_str_length(record->out));
  bloom_record_u64(record, &record->checksum);
  if( record->rc==SQLITE_OK ) record->rc = sqlite3_str_errcode(record->out);
  *num_bytes = sqlite3_str_length(record->out);
  *bytes = sqlite3_str_finish(record->out);
  return record->rc;
}

void bloom_record_expect(bloom_record *record, int is_good){
  assert( is_good || record->out==NULL );
  if( !is_good && record->rc==SQLITE_OK ) record->rc = SQLITE_CORRUPT_VTAB;
}

void bloom_record_expect_end(bloom_record *record){
  bloom_record_expect(record, record->out || record->next==record->end);
}

void bloom_record_view(bloom_record *record, const uint8_t **bytes, size_t num_bytes){
  if( record->out ){
    sqlite3_str_append(record->out, (const char *)*bytes, (int)num_bytes);
    return;
  }
  bloom_record_expect(record, (size_t)(record->end - record->next)>=num_bytes);
  *bytes = record->rc==SQLITE_OK ? record->next : NULL;
  if( *bytes ) record->next += num_bytes;
}

void bloom_record_bytes(bloom_record *record, uint8_t *bytes, size_t num_bytes){
  const uint8_t *view = bytes;
  bloom_record_view(record, &view, num_bytes);
  if( view==NULL ) memset(bytes, 0, num_bytes);
  else if( view!=bytes ) memcpy(bytes, view, num_bytes);
}

void bloom_record_u32(bloom_record *record, uint32_t *number){
  uint8_t bytes[4];
  bloom_store32_le(bytes, *number);
  bloom_record_bytes(record, bytes, sizeof(bytes));
  *number = bloom_load32_le(bytes);
}

void bloom_record_u64(bloom_record *record, uint64_t *number){
  uint8_t bytes[8];
  bloom_store64_le(bytes, *number);
  bloom_record_bytes(record, bytes, sizeof(bytes));
  *number = bloom_load64_le(bytes);
}

void bloom_record_i64(bloom_record *record, sqlite3_int64 *number){
  uint64_t bits = (uint64_t)*number;
  bloom_record_u64(record, &bits);
  *number = (sqlite3_int64)bits;
}

void bloom_record_text(bloom_record *record, char **text){
  uint32_t num_bytes = record->out ? (uint32_t)strlen(*text) : 0;
  const uint8_t *bytes = (const uint8_t *)*text;
  bloom_record_u32(record, &num_bytes);
  bloom_record_view(record, &bytes, num_bytes);
  if( record->out || record->rc!=SQLITE_OK ) return;
  bloom_record_expect(record, memchr(bytes, 0, num_bytes)==NULL);
  if( record->rc!=SQLITE_OK ) return;
  *text = sqlite3_malloc64((sqlite3_uint64)num_bytes + 1);
  if( *text==NULL ){
    record->rc = SQLITE_NOMEM;
    return;
  }
  memcpy(*text, bytes, num_bytes);
  (*text)[num_bytes] = 0;
}
