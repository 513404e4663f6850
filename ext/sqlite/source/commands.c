/*
** Reads commands.
*/
#include "commands.h"

#include <stdint.h>

bloom_command bloom_command_read(const char *text, sqlite3_int64 *max_rows){
  *max_rows = 0;
  if( sqlite3_stricmp(text, "merge")==0 ) return BLOOM_COMMAND_MERGE;
  if( sqlite3_stricmp(text, "rebuild")==0 ) return BLOOM_COMMAND_REBUILD;
  if( sqlite3_stricmp(text, "integrity-check")==0 ) return BLOOM_COMMAND_CHECK;
  if( sqlite3_stricmp(text, "delete-all")==0 ) return BLOOM_COMMAND_DELETE_ALL;
  if( sqlite3_strnicmp(text, "merge=", 6)!=0 ) return BLOOM_COMMAND_NONE;
  for(text+=6; *text>='0' && *text<='9'; text++){
    if( *max_rows<INT64_MAX/20 ) *max_rows = 10 * *max_rows + (*text - '0');
  }
  return *text==0 && *max_rows>0 ? BLOOM_COMMAND_MERGE : BLOOM_COMMAND_NONE;
}
