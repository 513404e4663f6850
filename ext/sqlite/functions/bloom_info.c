/*
** bloom_info(filter), table-valued.  All columns that the query reads are computed when it begins,
** as the filter is not kept; other columns cost nothing.
*/
#include "../../core/debug.h"
#include "../../core/hash.h"
#include "../connection.h"
#include "../errors.h"
#include "../handle.h"
#include "functions.h"

/* Column numbers, in the order of the schema. */
enum {
  FACT_ENCODING,
  FACT_NUM_BYTES,
  FACT_NUM_BITS,
  FACT_NUM_PROBES,
  FACT_BITS_SET,
  FACT_FILL_RATIO,
  FACT_ESTIMATED_KEYS,
  FACT_BITS_PER_KEY,
  FACT_EXPECTED_FPR,
  FACT_MEASURED_FPR,
  FACT_NUM_SETS,
  FACT_NOTE,
  FACT_NUM_TRIED,
  NUM_FACTS
};

#define FACT_BIT(column) (1u << (column))

/* The columns for which the bits must be counted. */
#define COLUMNS_FROM_BITS_SET \
  (FACT_BIT(FACT_BITS_SET) | FACT_BIT(FACT_FILL_RATIO) | \
   FACT_BIT(FACT_ESTIMATED_KEYS) | FACT_BIT(FACT_BITS_PER_KEY) | \
   FACT_BIT(FACT_EXPECTED_FPR) | FACT_BIT(FACT_NUM_SETS) | FACT_BIT(FACT_NOTE))

typedef struct facts_cursor {
  bloom_tvf_cursor base; /* first */
  sqlite3_int64 num_bytes;
  bloom_facts facts;
  double measured_fpr;     /* if FACT_MEASURED_FPR is read */
  int64_t num_tried;       /* hashes for that */
} facts_cursor;

static int facts_start(bloom_tvf_cursor *cursor, sqlite3_value **args){
  facts_cursor *info = (facts_cursor *)cursor;
  sqlite3 *db = cursor->db;
  bloom_stoppable stoppable;
  bloom_filter storage;
  const bloom_filter *filter;
  const int rc = bloom_filter_arg(db, args[0], &storage, &filter);
  if( rc==SQLITE_MISMATCH ){
    return bloom_fail_vtab(&cursor->base.pVtab->zErrMsg, BLOOM_ERROR_FILTER, "bloom_info",
                           bloom_type_name(args[0]), "");
  }
  if( rc!=SQLITE_OK || filter==NULL ) return rc;
  bloom_stoppable_init(&stoppable, db, filter);
  filter = &stoppable.filter;
  filter->encoding->describe(filter, (cursor->columns & COLUMNS_FROM_BITS_SET)!=0, &info->facts);
  if( cursor->columns & FACT_BIT(FACT_MEASURED_FPR) ){
    info->measured_fpr = bloom_measured_fpr(filter);
  }
  if( stoppable.is_stopped ) return SQLITE_INTERRUPT;
  assert( info->facts.expected_fpr<=1 && info->measured_fpr<=1 && info->facts.fill_ratio<=1 );
  info->num_tried = filter->encoding->num_tried ? (int64_t)filter->encoding->num_tried(filter)
      : BLOOM_FPR_SAMPLE;
  info->num_bytes = (sqlite3_int64)filter->shape.num_bytes;
  cursor->rowid = 1;
  if( cursor->wants_rowids ){
    if( bloom_db_is_interrupted(db) ) return SQLITE_INTERRUPT;
    cursor->rowid = (sqlite3_int64)bloom_xxh3(filter->bytes, filter->shape.num_bytes);
  }
  cursor->has_row = 1;
  return SQLITE_OK;
}

/* Sets a count as the result.  A negative number means that there is no value: NULL. */
static void result_count(sqlite3_context *context, int64_t count){
  if( count>=0 ) sqlite3_result_int64(context, count);
}

static void result_real(sqlite3_context *context, double number){
  if( number>=0 ) sqlite3_result_double(context, number);
}

static void facts_column(const bloom_tvf_cursor *cursor, sqlite3_context *context, int column){
  const facts_cursor *info = (const facts_cursor *)cursor;
  const bloom_facts *facts = &info->facts;
  switch( column ){
    case FACT_ENCODING:       sqlite3_result_text(context, facts->encoding, -1,
                                                    SQLITE_STATIC); break;
    case FACT_NUM_BYTES:      result_count(context, info->num_bytes); break;
    case FACT_NUM_BITS:       result_count(context, facts->num_bits); break;
    case FACT_NUM_PROBES:     result_count(context, facts->num_probes); break;
    case FACT_BITS_SET:       result_count(context, facts->bits_set); break;
    case FACT_FILL_RATIO:     result_real(context, facts->fill_ratio); break;
    case FACT_ESTIMATED_KEYS: result_real(context, facts->estimated_keys); break;
    case FACT_BITS_PER_KEY:
      if( facts->estimated_keys>0 ){
        result_real(context, (double)facts->num_bits / facts->estimated_keys);
      }
      break;
    case FACT_EXPECTED_FPR:   result_real(context, facts->expected_fpr); break;
    case FACT_MEASURED_FPR:   result_real(context, info->measured_fpr); break;
    case FACT_NUM_SETS:       result_count(context, facts->num_sets); break;
    case FACT_NOTE:           sqlite3_result_text(context, facts->note, -1, SQLITE_STATIC); break;
    default: /* FACT_NUM_TRIED */ result_count(context, info->num_tried); break;
  }
}

const bloom_tvf bloom_info_tvf = {
  .name = "bloom_info",
  .call = "bloom_info(filter)",
  .schema = "CREATE TABLE bloom_info(encoding TEXT, num_bytes INTEGER, num_bits INTEGER,"
            " num_probes INTEGER, bits_set INTEGER, fill_ratio REAL, estimated_keys REAL,"
            " bits_per_key REAL, expected_fpr REAL, measured_fpr REAL, num_sets INTEGER, note TEXT,"
            " num_tried INTEGER, argument HIDDEN)",
  .num_columns = NUM_FACTS,
  .num_args = 1,
  .num_rows = 1,
  .cursor_bytes = sizeof(facts_cursor),
  .start = facts_start,
  .column = facts_column,
};
