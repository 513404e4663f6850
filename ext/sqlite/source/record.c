/*
** Reading and writing records.
*/
#include "record.h"

#include <limits.h>
#include <string.h>

#include "../../core/bytes.h"
#include "../../core/debug.h"
#include "../../core/hash.h"

bloom_record bloom_record_open(const uint8_t *bytes, size_t num_bytes){
  bloom_record opened = {.bytes = bytes, .rc = SQLITE_CORRUPT_VTAB};
  if( num_bytes<8 ) return opened;
  opened.checksum = bloom_load64_le(bytes + num_bytes - 8);
  if( opened.checksum!=bloom_xxh64(bytes, num_bytes - 8) ) return opened;
  opened.num_bytes = num_bytes - 8;
  opened.rc = SQLITE_OK;
  return opened;
}

void bloom_record_end(bloom_record *record){
  bloom_record_expect(record, record->at==record->num_bytes);
  if( record->out==NULL ) return;
  record->checksum = bloom_xxh64((const uint8_t *)sqlite3_str_value(record->out),
                                 (size_t)sqlite3_str_length(record->out));
  bloom_record_u64(record, &record->checksum);
  if( record->rc==SQLITE_OK ) record->rc = sqlite3_str_errcode(record->out);
}

void bloom_record_expect(bloom_record *record, int is_good){
  assert( is_good || record->out==NULL );
  if( !is_good && record->rc==SQLITE_OK ) record->rc = SQLITE_CORRUPT_VTAB;
}

void bloom_record_view(bloom_record *record, const uint8_t **bytes, size_t num_bytes){
  if( record->out ){
    sqlite3_str_append(record->out, (const char *)*bytes, (int)num_bytes);
    return;
  }
  bloom_record_expect(record, record->num_bytes - record->at>=num_bytes);
  *bytes = record->rc==SQLITE_OK ? record->bytes + record->at : NULL;
  if( *bytes ) record->at += num_bytes;
}

void bloom_record_bytes(bloom_record *record, uint8_t *bytes, size_t num_bytes){
  const uint8_t *view = bytes;
  bloom_record_view(record, &view, num_bytes);
  if( view==NULL ) memset(bytes, 0, num_bytes);
  else if( view!=bytes ) memcpy(bytes, view, num_bytes);
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

void bloom_record_u32(bloom_record *record, uint32_t *number, uint32_t min, uint32_t max){
  uint8_t bytes[4];
  bloom_store32_le(bytes, *number);
  bloom_record_bytes(record, bytes, sizeof(bytes));
  *number = bloom_load32_le(bytes);
  bloom_record_expect(record, *number>=min && *number<=max);
  if( record->rc!=SQLITE_OK ) *number = 0;
}

void bloom_record_int(bloom_record *record, int *number, int min, int max){
  uint32_t bits = (uint32_t)*number;
  bloom_record_u32(record, &bits, (uint32_t)min, (uint32_t)max);
  *number = (int)bits;
}

void bloom_record_text(bloom_record *record, char **text){
  const uint8_t *bytes = (const uint8_t *)*text;
  int num_bytes = record->out ? (int)strlen(*text) : 0;
  bloom_record_int(record, &num_bytes, 0, INT_MAX);
  bloom_record_view(record, &bytes, (size_t)num_bytes);
  if( record->out || record->rc!=SQLITE_OK ) return;
  *text = sqlite3_mprintf("%.*s", num_bytes, (const char *)bytes);
  if( *text==NULL ) record->rc = SQLITE_NOMEM;
  else bloom_record_expect(record, strlen(*text)==(size_t)num_bytes);
}

void bloom_record_go_to(bloom_record *record, size_t at){
  const uint8_t *skipped;
  if( record->out==NULL ) bloom_record_view(record, &skipped, at - record->at);
  else sqlite3_str_appendchar(record->out, (int)at - sqlite3_str_length(record->out), 0);
}
