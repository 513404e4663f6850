/*
** bloom_info(filter): table-valued; one row that tells the truth about a
** filter, none for NULL.  filter is a BLOB or a handle.
**
** Nothing is kept of the filter between xFilter and xColumn: xBestIndex hands
** on which columns the query reads (as idxNum), and xFilter computes those.
** So no unread column costs anything.  The argument cannot be read back at all:
** newer versions of SQLite (3.44, not 3.31) count it as read wherever it is
** passed as f(x), and copying it each time would cost more than the answer.
**
** xBestIndex accepts a query without the argument, at a price that no plan pays
** that has it, and xFilter fails: older versions of SQLite (3.44, not 3.52) ask
** for the plan of each arm of an OR, without what is outside it.
**
** Where each arm of an OR has an argument of its own, SQLite takes rows of one
** rowid for one row: there it is a hash of the filter's bytes.  An arm looks like
** any query with one argument, but before it SQLite asks for the plan of the whole,
** in which no argument is sure.  From then on the connection's plans hash.
*/
#include "../core/partition.h"
#include "errors.h"
#include "filter_arg.h"
#include "functions.h"

/* Column numbers, in the order of INFO_SCHEMA; also bits of idxNum. */
enum {
  COLUMN_ENCODING,
  COLUMN_NUM_BYTES,
  COLUMN_NUM_BITS,
  COLUMN_NUM_PROBES,
  COLUMN_BITS_SET,
  COLUMN_FILL_RATIO,
  COLUMN_ESTIMATED_KEYS,
  COLUMN_BITS_PER_KEY,
  COLUMN_EXPECTED_FPR,
  COLUMN_MEASURED_FPR,
  COLUMN_NOTE,
  /* Hidden.  Not named filter: many tables have a column of that name, and then
  ** FROM filters, bloom_info(filter) would be ambiguous. */
  COLUMN_ARGUMENT
};

#define INFO_SCHEMA \
  "CREATE TABLE bloom_info(encoding TEXT, num_bytes INTEGER, num_bits INTEGER," \
  " num_probes INTEGER, bits_set INTEGER, fill_ratio REAL, estimated_keys REAL," \
  " bits_per_key REAL, expected_fpr REAL, measured_fpr REAL, note TEXT, argument HIDDEN)"

#define COLUMN_BIT(column) (1u << (column))

/* In idxNum, in place of the column that cannot be read: the rowid must tell filters apart. */
#define HASH_BIT COLUMN_BIT(COLUMN_ARGUMENT)

/* Columns for which the bits must be counted. */
#define COLUMNS_FROM_BITS_SET \
  (COLUMN_BIT(COLUMN_BITS_SET) | COLUMN_BIT(COLUMN_FILL_RATIO) | \
   COLUMN_BIT(COLUMN_ESTIMATED_KEYS) | COLUMN_BIT(COLUMN_BITS_PER_KEY) | \
   COLUMN_BIT(COLUMN_EXPECTED_FPR) | COLUMN_BIT(COLUMN_NOTE))

/* What a plan without the argument costs. */
#define COST_WITHOUT_ARGUMENT 1e99

typedef struct info_vtab {
  sqlite3_vtab base; /* first, for SQLite */
  sqlite3 *db;       /* whose handles it takes */
  unsigned hash_bit; /* HASH_BIT once a plan was asked for without an argument */
} info_vtab;

typedef struct info_cursor {
  sqlite3_vtab_cursor base; /* first, for SQLite */
  int is_eof;
  sqlite3_int64 rowid;
  sqlite3_int64 num_bytes;
  bloom_facts facts;
  double measured_fpr;   /* if COLUMN_MEASURED_FPR is read */
} info_cursor;

/* Fails xFilter with a message, which it takes over; NULL if there was no memory for it.
** None is there already: SQLite takes each away as xFilter returns. */
static int info_fail(sqlite3_vtab *vtab, char *message){
  vtab->zErrMsg = message;
  return message ? SQLITE_ERROR : SQLITE_NOMEM;
}

static int info_connect(
  sqlite3 *db, void *data, int num_args, const char *const *args, sqlite3_vtab **vtab, char **error
){
  info_vtab *info;
  int rc = sqlite3_declare_vtab(db, INFO_SCHEMA);
  (void)data; (void)num_args; (void)args; (void)error;
  if( rc!=SQLITE_OK ) return rc;
  info = sqlite3_malloc64(sizeof(*info));
  if( info==NULL ) return SQLITE_NOMEM;
  *info = (info_vtab){.db = db};
  *vtab = &info->base;
  sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
  return SQLITE_OK;
}

static int info_disconnect(sqlite3_vtab *vtab){
  sqlite3_free(vtab);
  return SQLITE_OK;
}

static int info_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info){
  int i;
  int has_unusable = 0;
  unsigned *hash_bit = &((info_vtab *)vtab)->hash_bit;
  for(i=0; i<info->nConstraint; i++){
    unsigned char op = info->aConstraint[i].op;
    if( info->aConstraint[i].iColumn!=COLUMN_ARGUMENT
     || (op!=SQLITE_INDEX_CONSTRAINT_EQ && op!=SQLITE_INDEX_CONSTRAINT_IS) ) continue;
    if( !info->aConstraint[i].usable ){
      has_unusable = 1;
      continue;
    }
    info->aConstraintUsage[i].argvIndex = 1;
    info->aConstraintUsage[i].omit = 1; /* a handle equals nothing */
    info->idxNum = (int)((info->colUsed & (COLUMN_BIT(COLUMN_ARGUMENT) - 1)) | *hash_bit);
    info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    info->estimatedCost = 1;
    info->estimatedRows = 1;
    return SQLITE_OK;
  }
  /* The argument is there, but this join order would need it too early. */
  if( has_unusable ) return SQLITE_CONSTRAINT;
  *hash_bit = HASH_BIT;
  info->estimatedCost = COST_WITHOUT_ARGUMENT;
  return SQLITE_OK;
}

static int info_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor){
  info_cursor *info = sqlite3_malloc64(sizeof(*info));
  (void)vtab;
  if( info==NULL ) return SQLITE_NOMEM;
  *info = (info_cursor){.is_eof = 1};
  *cursor = &info->base;
  return SQLITE_OK;
}

static int info_close(sqlite3_vtab_cursor *cursor){
  sqlite3_free(cursor);
  return SQLITE_OK;
}

/* idxNum: the columns that are read, as COLUMN_BITs, and HASH_BIT.  args[0], if it is there: the filter. */
static int info_filter(
  sqlite3_vtab_cursor *cursor, int index_number, const char *index_text, int num_args, sqlite3_value **args
){
  info_cursor *info = (info_cursor *)cursor;
  unsigned columns = (unsigned)index_number;
  bloom_filter storage;
  const bloom_filter *filter = NULL;
  (void)index_text;
  info->is_eof = 1;
  if( num_args==0 ){
    return info_fail(cursor->pVtab,
                     sqlite3_mprintf(BLOOM_ERROR_FILTER_MISSING, "bloom_info", "bloom_info"));
  }
  switch( bloom_filter_arg(((info_vtab *)cursor->pVtab)->db, args[0], &storage, &filter) ){
    case BLOOM_ARG_FILTER: break;
    case BLOOM_ARG_NULL:   return SQLITE_OK;
    case BLOOM_ARG_NOMEM:  return SQLITE_NOMEM;
    case BLOOM_ARG_NO_FILTER:
      return info_fail(cursor->pVtab,
                       sqlite3_mprintf(BLOOM_ERROR_FILTER, "bloom_info", bloom_type_name(args[0])));
  }
  filter->encoding->describe(filter, (columns & COLUMNS_FROM_BITS_SET)!=0, &info->facts);
  if( columns & COLUMN_BIT(COLUMN_MEASURED_FPR) ) info->measured_fpr = filter->encoding->measured_fpr(filter);
  info->num_bytes = (sqlite3_int64)filter->shape.num_bytes;
  /* Of 2^64 - 1 partitions each has one hash, the first has two. */
  info->rowid = (columns & HASH_BIT)!=0 ?
    (sqlite3_int64)bloom_partition_of(filter->bytes, filter->shape.num_bytes, UINT64_MAX) : 1;
  info->is_eof = 0;
  return SQLITE_OK;
}

static int info_next(sqlite3_vtab_cursor *cursor){
  ((info_cursor *)cursor)->is_eof = 1;
  return SQLITE_OK;
}

static int info_eof(sqlite3_vtab_cursor *cursor){
  return ((info_cursor *)cursor)->is_eof;
}

static int info_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid){
  *rowid = ((info_cursor *)cursor)->rowid;
  return SQLITE_OK;
}

/* Negative: there is no such thing, NULL. */
static void result_count(sqlite3_context *context, int64_t count){
  if( count>=0 ) sqlite3_result_int64(context, count);
}

static void result_real(sqlite3_context *context, double number){
  if( number>=0 ) sqlite3_result_double(context, number);
}

static int info_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column){
  const info_cursor *info = (const info_cursor *)cursor;
  const bloom_facts *facts = &info->facts;
  switch( column ){
    case COLUMN_ENCODING:       sqlite3_result_text(context, facts->encoding, -1, SQLITE_STATIC); break;
    case COLUMN_NUM_BYTES:      result_count(context, info->num_bytes); break;
    case COLUMN_NUM_BITS:       result_count(context, facts->num_bits); break;
    case COLUMN_NUM_PROBES:     result_count(context, facts->num_probes); break;
    case COLUMN_BITS_SET:       result_count(context, facts->bits_set); break;
    case COLUMN_FILL_RATIO:     result_real(context, facts->fill_ratio); break;
    case COLUMN_ESTIMATED_KEYS: result_real(context, facts->estimated_keys); break;
    case COLUMN_BITS_PER_KEY:
      if( facts->estimated_keys>0 ) result_real(context, (double)facts->num_bits / facts->estimated_keys);
      break;
    case COLUMN_EXPECTED_FPR:   result_real(context, facts->expected_fpr); break;
    case COLUMN_MEASURED_FPR:   result_real(context, info->measured_fpr); break;
    case COLUMN_NOTE:           sqlite3_result_text(context, facts->note, -1, SQLITE_STATIC); break;
    default: /* COLUMN_ARGUMENT */
      bloom_fail(context, BLOOM_ERROR_FILTER_UNREADABLE, "bloom_info");
      break;
  }
  return SQLITE_OK;
}

/* xCreate is NULL: eponymous only. */
const sqlite3_module bloom_info_module = {
  .iVersion = 0,
  .xConnect = info_connect,
  .xBestIndex = info_best_index,
  .xDisconnect = info_disconnect,
  .xOpen = info_open,
  .xClose = info_close,
  .xFilter = info_filter,
  .xNext = info_next,
  .xEof = info_eof,
  .xColumn = info_column,
  .xRowid = info_rowid,
};
