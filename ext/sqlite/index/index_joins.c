/*
** Joins: several runs become one, so that a look-up reads few.
**
** A join takes the smallest runs, and each larger one that has fewer than four times as many
** entries as all before it: so there is one run after the first merge, and about four after many
** small ones.  A large join is spread over several merges.  Meanwhile its target has the lists up
** to its last one, and the sources those behind: no list is read from both.  Such a merge writes
** full rows only; the lists of a row that is not full are read again by the next merge.
*/
#include "index_entries.h"

#include <stdlib.h>
#include <string.h>

#define JOIN_FACTOR 4

/* A merge's joins may copy so many entries for each one that it wrote.  Joins of fewer than
** INDEX_JOIN_AT_ONCE are not spread; a spread one copies INDEX_JOIN_LEAST in any case. */
#ifndef INDEX_JOIN_SHARE
# define INDEX_JOIN_SHARE  32
# define INDEX_JOIN_AT_ONCE 65536
# define INDEX_JOIN_LEAST   8192
#endif

/* -- Several runs as one --------------------------------------------------------------------- */

_Static_assert(INDEX_ROOM_RUNS<=64, "a number has a bit for each run");

typedef struct union_run {
  uint64_t token; /* of the list at hand; UINT64_MAX: there is none */
  index_run_reader reader;
} union_run;

struct index_union {
  int num_runs;
  union_run runs[];
};

static void union_set_token(union_run *run){
  const bloom_entries_row *row = &run->reader.row;
  run->token = row->num_blocks>0 ? row->id / row->shape.num_segments : UINT64_MAX;
}

/* Moves to the next list of a run. */
static int union_step(union_run *run){
  index_run_reader *reader = &run->reader;
  const int found = bloom_entries_next(&reader->row);
  int rc = found<0 ? SQLITE_CORRUPT_VTAB : SQLITE_OK;
  assert( reader->run!=NULL );
  if( found==0 ) rc = bloom_index_run_seek(reader, reader->run, reader->row.last + 1);
  union_set_token(run);
  return rc;
}

int bloom_index_union_start(index_union **result, bloom_index *index, int key,
                            const index_key_layout *of_key, uint64_t taken){
  index_union *lists = *result
    = sqlite3_malloc64(sizeof(*lists) + of_key->num_runs*sizeof(lists->runs[0]));
  uint32_t i;
  int rc = SQLITE_OK;
  if( lists==NULL ) return SQLITE_NOMEM;
  lists->num_runs = 0;
  for(i=0; i<of_key->num_runs && rc==SQLITE_OK; i++){
    union_run *run = &lists->runs[lists->num_runs];
    if( !(taken >> i & 1) ) continue;
    lists->num_runs++;
    run->reader = (index_run_reader){.index = index, .of_key = of_key, .key = key};
    rc = bloom_index_run_seek(&run->reader, &of_key->runs[i], 0);
    union_set_token(run);
  }
  return rc;
}

/* Adds blocks, mostly one and at least one, to those of a list. */
static void union_unite(index_entry_list *list, const uint16_t *blocks, uint32_t num_blocks){
  uint16_t all[BLOOM_SEGMENT_BLOCKS];
  uint32_t i = 0, j = 0, num = 0;
  assert( list->num_blocks>0 && num_blocks>0 );
  do{
    const uint32_t a = i<list->num_blocks ? list->blocks[i] : UINT32_MAX;
    const uint32_t b = j<num_blocks ? blocks[j] : UINT32_MAX;
    assert( num<BLOOM_SEGMENT_BLOCKS );
    all[num++] = (uint16_t)(a<b ? a : b);
    i += a<=b;
    j += b<=a;
  }while( i<list->num_blocks || j<num_blocks );
  memcpy(list->blocks, all, num * sizeof(all[0]));
  list->num_blocks = num;
}

int bloom_index_union_next(void *source, index_entry_list *list, int *is_found){
  index_union *lists = source;
  uint16_t blocks[BLOOM_SEGMENT_BLOCKS];
  int i, rc = SQLITE_OK;
  list->token = UINT64_MAX;
  list->segment = list->num_blocks = 0;
  for(i=0; i<lists->num_runs; i++){
    const union_run *run = &lists->runs[i];
    const uint32_t segment = run->reader.row.segment;
    if( run->token<list->token || (run->token==list->token && segment<list->segment) ){
      list->token = run->token;
      list->segment = segment;
    }
  }
  *is_found = list->token!=UINT64_MAX;
  for(i=0; *is_found && i<lists->num_runs && rc==SQLITE_OK; i++){
    union_run *run = &lists->runs[i];
    bloom_entries_row *row = &run->reader.row;
    const int is_first = list->num_blocks==0;
    int num_blocks;
    if( run->token!=list->token || row->segment!=list->segment ) continue;
    num_blocks = is_first ? bloom_entries_read(row, list->blocks)
      : bloom_entries_read(row, blocks);
    if( num_blocks<0 ) return SQLITE_CORRUPT_VTAB;
    if( is_first ) list->num_blocks = (uint32_t)num_blocks;
    else union_unite(list, blocks, (uint32_t)num_blocks);
    rc = union_step(run);
    assert( run->token>=list->token );
  }
  return rc;
}

/* -- Joining ---------------------------------------------------------------------------------- */

/* Copies lists that the target lacks from the runs whose bits are set in `taken`: so many that they
** have max_pairs entries; or all, and then removes the runs. */
static int join_go_on(const index_column *column, uint64_t taken, index_run *target,
                      uint64_t max_pairs){
  index_key_layout *key = column->of_key;
  uint64_t all_pairs = 0, last = 0;
  uint32_t num_left = 0, i;
  index_union *lists;
  int is_finished = 0, rc = bloom_index_union_start(&lists, column->index, column->key, key, taken);
  assert( taken!=0 && !(taken >> (target - key->runs) & 1) );
  for(i=0; i<key->num_runs; i++){
    if( !(taken >> i & 1) ) continue;
    all_pairs += key->runs[i].num_pairs;
    if( key->runs[i].last>last ) last = key->runs[i].last;
  }
  if( rc==SQLITE_OK ){
    rc = bloom_index_run_write(column, target, last/(all_pairs + 1) | 1, max_pairs,
                               bloom_index_union_next, lists, &is_finished);
  }
  sqlite3_free(lists);
  if( rc!=SQLITE_OK || !is_finished ) return rc;
  assert( target->last!=UINT64_MAX ); /* each source has a list */
  target->role = INDEX_RUN_PLAIN;
  for(i=0; i<key->num_runs; i++){
    const index_run run = key->runs[i];
    if( !(taken >> i & 1) ) key->runs[num_left++] = run;
    else if( rc==SQLITE_OK ) rc = bloom_index_run_drop(column, &run);
  }
  key->num_runs = num_left;
  return rc;
}

static int join_compare(const void *a, const void *b){
  const uint64_t of_a = (*(index_run *const *)a)->num_pairs;
  const uint64_t of_b = (*(index_run *const *)b)->num_pairs;
  return (of_a>of_b) - (of_a<of_b);
}

/* Returns the runs that are to be joined, a bit for each, 0 for none: the smallest ones up to the
** last that has fewer than JOIN_FACTOR times the entries of those before it, at most max_pairs in
** all; and more where there are too many runs.  Sets *sum to the number of their entries. */
static uint64_t join_choose(index_key_layout *key, uint64_t max_pairs, uint64_t *sum){
  index_run *plain[INDEX_ROOM_RUNS];
  uint32_t num_plain = 0, num_taken = 0, i;
  uint64_t before = 0, taken = 0;
  for(i=0; i<key->num_runs; i++){
    if( key->runs[i].role==INDEX_RUN_PLAIN ) plain[num_plain++] = &key->runs[i];
  }
  if( num_plain<2 ) return 0;
  qsort(plain, num_plain, sizeof(plain[0]), join_compare);
  for(i=0; i<num_plain; i++){
    const uint64_t next = plain[i]->num_pairs;
    const int is_needed = key->num_runs - i>=INDEX_MAX_RUNS;
    if( before + next>max_pairs && !is_needed ) break;
    if( is_needed || (i>0 && next<JOIN_FACTOR*before) ){
      num_taken = i + 1;
      *sum = before + next;
    }
    before += next;
  }
  for(i=0; num_taken>1 && i<num_taken; i++) taken |= (uint64_t)1 << (plain[i] - key->runs);
  return taken;
}

int bloom_index_join(const index_column *column, uint64_t num_merged){
  index_key_layout *key = column->of_key;
  const uint64_t share = num_merged<UINT64_MAX/INDEX_JOIN_SHARE ? INDEX_JOIN_SHARE*num_merged
      : UINT64_MAX;
  const uint64_t at_once = share>INDEX_JOIN_AT_ONCE ? share : INDEX_JOIN_AT_ONCE;
  const uint64_t max_pairs = share>INDEX_JOIN_LEAST ? share : INDEX_JOIN_LEAST;
  const int spread = bloom_index_run_find(key, INDEX_RUN_TARGET);
  uint64_t taken = 0;
  index_run *target;
  uint32_t i;
  int rc = SQLITE_OK;
  if( spread>=0 ){
    target = &key->runs[spread];
    for(i=0; i<key->num_runs; i++) taken |= (uint64_t)(key->runs[i].role==INDEX_RUN_SOURCE) << i;
    /* A merge that failed may have left rows behind the target's last one. */
    rc = bloom_index_run_delete(column->index, column->key, target->slot, target->last + 1,
                                INDEX_LAST_LIST);
    if( rc==SQLITE_OK ) rc = join_go_on(column, taken, target, max_pairs);
  }
  while( rc==SQLITE_OK ){
    const int has_spread = bloom_index_run_find(key, INDEX_RUN_TARGET)>=0;
    uint64_t sum = 0;
    uint32_t end_block = 1;
    int is_spread;
    taken = join_choose(key, has_spread ? at_once : UINT64_MAX, &sum);
    if( taken==0 ) break;
    is_spread = sum>at_once && !has_spread;
    for(i=0; i<key->num_runs; i++){
      if( !(taken >> i & 1) ) continue;
      if( key->runs[i].end_block>end_block ) end_block = key->runs[i].end_block;
      if( is_spread ) key->runs[i].role = INDEX_RUN_SOURCE;
    }
    rc = bloom_index_run_add(column, end_block, &target);
    if( rc==SQLITE_OK && is_spread ) target->role = INDEX_RUN_TARGET;
    if( rc==SQLITE_OK ) rc = join_go_on(column, taken, target, is_spread ? max_pairs : UINT64_MAX);
  }
  return rc;
}
