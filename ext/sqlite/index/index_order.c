/*
** Rows in the order of a column with zones, of which a query may want the first ones alone.
**
** Rows are read in slices: those with begin <= value < end, in the zones that may have one.  SQLite
** sorts each slice by the whole order.  Where a slice begins and ends is of no matter to what is
** right: each row is in one of them, by SQLite's own comparison.  So the ends are made of keys of
** zones, and need not be values of rows.  A slice is about twice as large as the one before it.
** NULLs are below all values: with the first slice of an ascending order, the last of a descending
** one.
**
** What may have the next row is in a heap: entries of directories, zones, and single rows that are
** not merged, by the first key that they may have in the order.  A directory's entry becomes the
** zones of its row when its turn comes.  A zone that reaches beyond the end of a slice goes back,
** and is read again with the next one: where that costs too much, one last slice has all the rest.
**
** Changes of rows by other statements are seen by the slices after them, as by an index on the
** column: then the last slice reads all ids up to the last one that there was.
*/
#include "index_source.h"
#include "index_values.h"

#include <string.h>

/* Rows of the first slice.  Tests make small ones. */
#ifndef INDEX_SLICE_ROWS
# define INDEX_SLICE_ROWS 64.0
#endif

/* So many candidates are read and sorted at once. */
#ifndef INDEX_SORTED_ROWS
# define INDEX_SORTED_ROWS 256.0
#endif

/* The share of all zones that have values on both sides of where another one begins: where it is
** larger each slice would read too many rows for nothing. */
#ifndef INDEX_MOST_OVERLAP
# define INDEX_MOST_OVERLAP 0.25
#endif

/* So many rows that are not merged are items of their own, then two are one, and so on. */
#define ORDER_SINGLE_ROWS 16384

/* Directories that are looked at for a plan. */
#define ORDER_SAMPLED_DIRECTORIES 4

/* Keys are in the order of rows: those of a descending order are complements. */
typedef struct order_item {
  bloom_zone_key from, to;
  sqlite3_int64 first, last; /* ids; of an entry of a directory `first` is the number of its row */
  double num_rows;           /* about so many candidates */
  int generation;            /* of an entry; -1: it has ids */
  int is_merged;             /* only candidates among the ids matter */
} order_item;

typedef struct order_items {
  order_item *list;
  size_t num_items, max_items;
} order_items;

/* Where a slice ends. */
typedef struct order_bound {
  int is_set;
  bloom_zone_value value; /* a number or a text */
  bloom_zone_key at;      /* its key, in the order of rows */
} order_bound;

/* What tells that a layout is still the one that items are of. */
typedef struct order_mark {
  sqlite3_int64 covered;
  uint64_t num_rows, numbers[INDEX_MAX_GENERATIONS];
  uint32_t num_spans[INDEX_MAX_GENERATIONS];
  int num_generations, num_changes;
} order_mark;

struct index_slices {
  bloom_index *index;
  int key, is_descending;
  bloom_zone_order collation;
  index_intervals merged, unmerged; /* candidates */
  sqlite3_int64 last;               /* the last id */
  order_mark mark;
  order_items heap, taken;
  double slice_rows;                /* of the next slice */
  double num_again, most_again;     /* rows that are read once more; at most */
  order_bound end, before;          /* of the last slice, and of the one before it */
  int is_whole;                     /* all candidates are one slice */
  int is_done;
  index_intervals slice;
  index_list list;                  /* the slice, for the statement */
};

void bloom_index_slices_free(index_slices *order){
  if( order==NULL ) return;
  sqlite3_free(order->merged.list);
  sqlite3_free(order->unmerged.list);
  sqlite3_free(order->slice.list);
  sqlite3_free(order->heap.list);
  sqlite3_free(order->taken.list);
  sqlite3_free(order);
}

/* -- Items ----------------------------------------------------------------------------------- */

static bloom_zone_key order_turn(int is_descending, bloom_zone_key key){
  size_t i;
  for(i=0; is_descending && i<sizeof(key.bytes); i++) key.bytes[i] = (uint8_t)~key.bytes[i];
  return key;
}

/* Sets from and to of an item by a span of keys; an empty one is that of NULL. */
static void order_set_keys(const index_slices *order, bloom_zone_span span, order_item *item){
  const int is_descending = order->is_descending;
  if( bloom_zone_compare(&span.min, &span.max)>0 ) span.min = span.max = bloom_zone_lowest();
  item->from = order_turn(is_descending, is_descending ? span.max : span.min);
  item->to = order_turn(is_descending, is_descending ? span.min : span.max);
}

static int items_append(order_items *items, const order_item *item){
  if( BLOOM_GROW(items->list, items->num_items, items->max_items) ) return SQLITE_NOMEM;
  items->list[items->num_items++] = *item;
  return SQLITE_OK;
}

/* Adds one to a heap [Williams, Algorithm 232]. */
static int items_push(order_items *heap, const order_item *item){
  size_t at = heap->num_items;
  const int rc = items_append(heap, item);
  while( rc==SQLITE_OK && at>0 ){
    const size_t parent = (at - 1)/2;
    if( bloom_zone_compare(&heap->list[parent].from, &item->from)<=0 ) break;
    heap->list[at] = heap->list[parent];
    heap->list[parent] = *item;
    at = parent;
  }
  return rc;
}

/* Takes the first one out of a heap. */
static void items_pop(order_items *heap){
  const order_item last = heap->list[--heap->num_items];
  size_t at = 0, child;
  while( (child = 2*at + 1)<heap->num_items ){
    if( child + 1<heap->num_items
     && bloom_zone_compare(&heap->list[child + 1].from, &heap->list[child].from)<0 ) child++;
    if( bloom_zone_compare(&last.from, &heap->list[child].from)<=0 ) break;
    heap->list[at] = heap->list[child];
    at = child;
  }
  if( heap->num_items>0 ) heap->list[at] = last;
}

/* Adds to *num_rows the candidates among ids; 1 if there may be one. */
static int order_count(const index_slices *order, const index_layout *layout, sqlite3_int64 first,
                       sqlite3_int64 last, double *num_rows){
  const index_interval *list = order->merged.list;
  size_t low = 0, high = order->merged.num_intervals, i;
  while( low<high ){
    const size_t middle = low + (high - low)/2;
    if( list[middle].last<first ) low = middle + 1; else high = middle;
  }
  for(i=low; i<order->merged.num_intervals && list[i].first<=last; i++){
    const index_interval both = {list[i].first>first ? list[i].first : first,
                                 list[i].last<last ? list[i].last : last};
    *num_rows += bloom_index_interval_rows(layout, both);
  }
  return i>low;
}

/* Returns 1 if blocks first .. last may have a candidate. */
static int order_has_candidates(const index_slices *order, const index_layout *layout,
                                const index_generation *generation, const index_spans *spans,
                                uint32_t first, uint32_t last){
  const uint32_t mask = (1u << INDEX_SPAN_LG) - 1;
  uint32_t block = first;
  double num_rows = 0;
  for(; block<=last && block>>INDEX_SPAN_LG<generation->num_spans; block = (block | mask) + 1){
    const uint32_t end = (block | mask)<last ? block | mask : last;
    if( order_count(order, layout, bloom_index_block_first(spans, block),
                    bloom_index_block_last(spans, end), &num_rows) ) return 1;
  }
  return 0;
}

/* Adds the entries of all directories of a generation. */
static int order_add_entries(index_slices *order, const index_layout *layout, int number){
  const index_generation *generation = &layout->generations[number];
  const uint32_t blocks_lg = generation->zone_lg + BLOOM_ZONES_LG;
  const uint32_t num_directories = bloom_index_zones_num_directories(generation);
  bloom_zone entries[BLOOM_ZONES_PER_ROW];
  index_spans *spans;
  uint32_t directory, i;
  int rc = bloom_index_spans_read(order->index, layout, generation, &spans);
  for(directory=0; directory<num_directories && rc==SQLITE_OK; directory++){
    rc = bloom_index_zones_read(order->index, generation, order->key, INDEX_ZONE_DIRECTORY,
                                directory, entries);
    for(i=0; i<BLOOM_ZONES_PER_ROW && rc==SQLITE_OK; i++){
      const uint32_t row = directory*BLOOM_ZONES_PER_ROW + i, first = row << blocks_lg;
      order_item item = {.first = row, .generation = number};
      bloom_zone_span span = bloom_zone_hull(entries[i].spans[0], entries[i].spans[1]);
      if( !bloom_zone_is_there(&entries[i]) || !order_has_candidates(order, layout, generation,
          spans, first, first + (1u << blocks_lg) - 1) ) continue;
      if( entries[i].has_null ) span.min = bloom_zone_lowest();
      order_set_keys(order, span, &item);
      rc = items_push(&order->heap, &item);
    }
  }
  return rc;
}

/* Adds the zones of a directory's entry. */
static int order_add_zones(index_slices *order, const index_layout *layout,
                           const order_item *entry){
  const index_generation *generation = &layout->generations[entry->generation];
  const int is_old = layout->num_generations==2 && entry->generation==0;
  const int is_new = layout->num_generations==2 && entry->generation==1;
  bloom_zone zones[BLOOM_ZONES_PER_ROW];
  index_spans *spans;
  uint32_t i;
  int half, rc = bloom_index_spans_read(order->index, layout, generation, &spans);
  if( rc==SQLITE_OK ) rc = bloom_index_zones_read(order->index, generation, order->key, INDEX_ZONES,
                                                  (uint32_t)entry->first, zones);
  for(i=0; i<BLOOM_ZONES_PER_ROW && rc==SQLITE_OK; i++){
    const uint32_t zone = (uint32_t)entry->first*BLOOM_ZONES_PER_ROW + i;
    const uint32_t first = zone << generation->zone_lg;
    order_item item = {.generation = -1, .is_merged = 1};
    if( first>>INDEX_SPAN_LG>=generation->num_spans || !bloom_zone_is_there(&zones[i]) ) continue;
    item.first = bloom_index_block_first(spans, first);
    item.last = bloom_index_block_last(spans, first + (1u << generation->zone_lg) - 1);
    if( is_old && item.first<=layout->bound ) item.first = layout->bound<INT64_MAX
      ? layout->bound + 1 : INT64_MAX;
    if( is_new && item.last>layout->bound ) item.last = layout->bound;
    /* Where the other generation has all of a zone's ids, nothing is left. */
    if( item.first>item.last
     || !order_count(order, layout, item.first, item.last, &item.num_rows) ) continue;
    for(half=0; half<2 && rc==SQLITE_OK; half++){
      const bloom_zone_span span = zones[i].spans[half];
      if( bloom_zone_compare(&span.min, &span.max)>0 ) continue;
      order_set_keys(order, span, &item);
      rc = items_push(&order->heap, &item);
    }
    if( zones[i].has_null && rc==SQLITE_OK ){
      order_set_keys(order, bloom_zone_nothing(), &item);
      rc = items_push(&order->heap, &item);
    }
  }
  return rc;
}

/* Adds the rows that are not merged, or changed since: reads them once. */
static int order_add_unmerged(index_slices *order){
  bloom_index *index = order->index;
  index_list list = {.intervals = &order->unmerged};
  order_item item = {.generation = -1};
  bloom_zone_span all = bloom_zone_nothing();
  size_t num_read = 0, in_item = 0;
  int has_null = 0, rc;
  sqlite3_stmt *row;
  sqlite3_str *sql = sqlite3_str_new(index->connection->db);
  if( order->unmerged.num_intervals==0 ){
    sqlite3_free(sqlite3_str_finish(sql));
    return SQLITE_OK;
  }
  sqlite3_str_appendf(sql, "SELECT x.\"%w\", ", index->columns.id_name);
  bloom_index_append_key(index, sql, order->key);
  sqlite3_str_appendf(sql, " FROM bloom_index_list(?1) AS r CROSS JOIN " INDEX_SOURCE " NOT INDEXED"
                      " WHERE x.\"%w\" BETWEEN r.value AND r.last", index->schema,
                      index->source_name, index->columns.id_name);
  rc = bloom_index_statement_take(index, sqlite3_str_finish(sql), &row);
  if( rc==SQLITE_OK ) rc = bloom_index_list_bind(row, 1, &list);
  while( rc==SQLITE_OK && (rc = bloom_sql_step(index->connection, row))==SQLITE_ROW ){
    bloom_zone_span span;
    rc = bloom_index_zone_span_of(index, order->key, sqlite3_column_value(row, 1), 0, &span);
    item.last = sqlite3_column_int64(row, 0);
    if( in_item==0 ) item.first = item.last;
    has_null |= bloom_zone_compare(&span.min, &span.max)>0;
    all = bloom_zone_hull(all, span);
    if( rc!=SQLITE_OK || ++in_item<=num_read++/ORDER_SINGLE_ROWS ) continue;
    if( has_null && in_item>1 ) all.min = bloom_zone_lowest();
    order_set_keys(order, all, &item);
    item.num_rows = (double)in_item;
    rc = items_push(&order->heap, &item);
    all = bloom_zone_nothing();
    in_item = 0;
    has_null = 0;
  }
  if( rc==SQLITE_DONE ) rc = SQLITE_OK;
  if( rc==SQLITE_OK && in_item>0 ){
    if( has_null ) all.min = bloom_zone_lowest();
    order_set_keys(order, all, &item);
    item.num_rows = (double)in_item;
    rc = items_push(&order->heap, &item);
  }
  bloom_index_statement_give_back(index, row);
  return rc;
}

/* -- Beginning ------------------------------------------------------------------------------- */

static order_mark order_mark_of(const index_slices *order, const index_layout *layout){
  order_mark mark;
  int i;
  memset(&mark, 0, sizeof(mark)); /* it is compared with its padding */
  mark.covered = layout->covered;
  mark.num_rows = layout->num_rows;
  mark.num_generations = layout->num_generations;
  mark.num_changes = sqlite3_total_changes(order->index->connection->db);
  for(i=0; i<layout->num_generations; i++){
    mark.numbers[i] = layout->generations[i].keys[order->key].number;
    mark.num_spans[i] = layout->generations[i].num_spans;
  }
  return mark;
}

/* Fills the heap, or decides that all candidates are one slice, or that it costs less to read the
** whole source. */
static int order_begin(index_slices *order, int *is_too_dear){
  bloom_index *index = order->index;
  const index_layout *layout;
  double num_rows, num_unmerged = 0;
  size_t i;
  int rc = bloom_index_layout_read(index, &layout);
  if( rc!=SQLITE_OK ) return rc;
  order->mark = order_mark_of(order, layout);
  order->last = layout->covered;
  for(i=0; i<order->unmerged.num_intervals; i++){
    const index_interval interval = order->unmerged.list[i];
    num_unmerged += (double)interval.last - (double)interval.first + 1;
    if( interval.last>order->last ) order->last = interval.last;
  }
  num_rows = bloom_index_intervals_rows(layout, &order->merged);
  order->most_again = (num_rows + num_unmerged)/3;
  order->is_whole = num_rows + num_unmerged<=INDEX_SORTED_ROWS
    || bloom_sql_writer(index->connection)!=NULL || num_unmerged>(double)layout->num_rows/4 + 1000;
  if( order->is_whole ){
    *is_too_dear = num_rows + num_unmerged>0.6*(double)layout->num_rows + INDEX_SORTED_ROWS;
    return SQLITE_OK;
  }
  rc = order_add_unmerged(order);
  for(i=0; i<(size_t)layout->num_generations && rc==SQLITE_OK; i++){
    rc = order_add_entries(order, layout, (int)i);
  }
  return rc;
}

int bloom_index_order_key(const bloom_index *index, int column){
  int i;
  for(i=0; i<index->config.num_keys; i++){
    const index_key *key = &index->config.keys[i];
    if( key->is_range && key->column==column && !key->doubt ) return i;
  }
  return -1;
}

int bloom_index_slices_start(bloom_index *index, const index_plan *plan, int key,
                            sqlite3_value **args, const index_list *lists, index_slices **result,
                            int *is_too_dear){
  const bloom_collation collation = index->config.keys[key].equality.collation;
  index_slices *order = sqlite3_malloc64(sizeof(*order));
  int rc = SQLITE_OK;
  *result = order;
  if( order==NULL ) return SQLITE_NOMEM;
  memset(order, 0, sizeof(*order));
  order->index = index;
  order->key = key;
  order->is_descending = plan->orders[0].is_descending;
  order->collation = collation==BLOOM_COLLATION_NOCASE ? BLOOM_ZONE_NOCASE
    : collation==BLOOM_COLLATION_RTRIM ? BLOOM_ZONE_RTRIM : BLOOM_ZONE_BINARY;
  order->slice_rows = INDEX_SLICE_ROWS;
  order->list.intervals = &order->slice;
  /* The configuration may be another than the plan was made by. */
  *is_too_dear = !index->config.keys[key].is_range
    || bloom_database_may_be_swapped(index->connection->db, "main");
  if( !*is_too_dear ) rc = bloom_index_learn_encoding(index);
  if( rc==SQLITE_OK && !*is_too_dear ){
    rc = bloom_index_candidates(index, plan, args, lists, &order->merged, &order->unmerged,
                                is_too_dear);
  }
  if( rc==SQLITE_OK && !*is_too_dear ) rc = order_begin(order, is_too_dear);
  if( (rc & 0xff)!=SQLITE_CORRUPT ) return rc;
  bloom_connection_note_damage(index->connection, index->number);
  *is_too_dear = 1;
  return SQLITE_OK;
}

/* -- Slices ----------------------------------------------------------------------------------- */

/* Sets *bound to a value; 1 if that is behind the slices that were read. */
static int order_set_bound(const index_slices *order, bloom_zone_value value, order_bound *bound){
  const bloom_zone_key key = value.kind==BLOOM_ZONE_NUMBER
    ? bloom_zone_of_number(value.real, 0).min
    : bloom_zone_of_text(value.text, value.num_bytes, order->collation, 0).min;
  bound->value = value;
  bound->at = order_turn(order->is_descending, key);
  bound->is_set = !order->end.is_set || bloom_zone_compare(&bound->at, &order->end.at)>0;
  return bound->is_set;
}

/* Finds an end of the slice before or at the first key of the next item, and not before from; 0
** where there is none. */
static int order_find_bound(const index_slices *order, const order_item *next, bloom_zone_key from,
                            order_bound *bound){
  const int is_descending = order->is_descending;
  const bloom_zone_key key = order_turn(is_descending, next->from);
  bloom_zone_value value = bloom_zone_value_of(&key), beside;
  size_t num_ascii = 0;
  if( value.kind==BLOOM_ZONE_NO_VALUE_ABOVE
   || (value.kind==BLOOM_ZONE_NO_VALUE_BELOW && !is_descending) ) return 0;
  if( value.kind==BLOOM_ZONE_NO_VALUE_BELOW ){
    value.kind = BLOOM_ZONE_NUMBER;
    value.real = -1e300*1e300; /* infinity */
  }
  if( value.real!=value.real ) return 0;
  /* UTF-16 has another order of what is not ASCII. */
  while( num_ascii<value.num_bytes && value.text[num_ascii]<0x80 ) num_ascii++;
  if( order->index->letter_bytes!=1 ) value.num_bytes = num_ascii;
  /* The next zone is not in the slice if this ends a little before it. */
  beside = value;
  if( value.kind==BLOOM_ZONE_TEXT && is_descending && value.num_bytes<sizeof(value.text) ){
    beside.text[beside.num_bytes++] = 1;
  }else if( value.kind==BLOOM_ZONE_NUMBER && value.real - value.real==0 ){
    const bloom_zone_span around = bloom_zone_of_number(value.real, 1);
    beside = bloom_zone_value_of(is_descending ? &around.max : &around.min);
  }
  if( order_set_bound(order, beside, bound)
   && bloom_zone_compare(&bound->at, &from)>=0 ) return 1;
  return order_set_bound(order, value, bound);
}

/* Rows of what is taken that reach behind a bound. */
static double order_rows_behind(const index_slices *order, const order_bound *bound){
  double num_rows = 0;
  size_t i;
  for(i=0; i<order->taken.num_items; i++){
    const order_item *item = &order->taken.list[i];
    if( bloom_zone_compare(&item->to, &bound->at)>=0 ) num_rows += item->num_rows;
  }
  return num_rows;
}

/* Takes what may have rows of the next slice, and finds its end. */
static int order_take(index_slices *order, const index_layout *layout, order_bound *end){
  order_items *heap = &order->heap;
  bloom_zone_key from = {{0}};
  double num_rows = 0, again = 0;
  int has_new = 0, is_last = 0, rc = SQLITE_OK;
  order->taken.num_items = 0;
  for(;;){
    const order_item top = heap->num_items>0 ? heap->list[0] : (order_item){.generation = -1};
    const int is_due = order->end.is_set && heap->num_items>0
      && bloom_zone_compare(&top.from, &order->end.at)<=0;
    if( heap->num_items>0 && !end->is_set && !is_last && !is_due && has_new
     && num_rows>=order->slice_rows ) order_find_bound(order, &top, from, end);
    if( end->is_set
     && (heap->num_items==0 || bloom_zone_compare(&top.from, &end->at)>0) ){
      again = order_rows_behind(order, end);
      if( order->num_again + again<=order->most_again ) break;
      end->is_set = 0;
      is_last = 1;
    }
    if( heap->num_items==0 ) break;
    items_pop(heap);
    rc = top.generation>=0 ? order_add_zones(order, layout, &top)
      : items_append(&order->taken, &top);
    if( rc!=SQLITE_OK ) return rc;
    if( top.generation>=0 || is_due ) continue;
    if( !has_new ) from = top.from;
    has_new = 1;
    num_rows += top.num_rows;
  }
  order->num_again += again;
  order->slice_rows *= 2;
  return SQLITE_OK;
}

/* Sets the slice to the ids of what is taken, and puts back what reaches behind its end. */
static int order_make_slice(index_slices *order, const order_bound *end){
  index_intervals others = {0};
  size_t i;
  int rc = SQLITE_OK;
  for(i=0; i<order->taken.num_items && rc==SQLITE_OK; i++){
    order_item item = order->taken.list[i];
    rc = bloom_index_intervals_append(item.is_merged ? &order->slice : &others, item.first,
                                      item.last);
    if( rc!=SQLITE_OK || !end->is_set || bloom_zone_compare(&item.to, &end->at)<0 ) continue;
    if( bloom_zone_compare(&item.from, &end->at)<0 ) item.from = end->at;
    rc = items_push(&order->heap, &item);
  }
  bloom_index_intervals_sort(&order->slice);
  bloom_index_intervals_sort(&others);
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(&order->slice, &order->merged);
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_unite(&order->slice, &others);
  sqlite3_free(others.list);
  return rc;
}

static void order_bind_bound(sqlite3_stmt *rows, int parameter, const order_bound *bound){
  const bloom_zone_value *value = &bound->value;
  if( !bound->is_set ) sqlite3_bind_null(rows, parameter);
  else if( value->kind==BLOOM_ZONE_NUMBER ) sqlite3_bind_double(rows, parameter, value->real);
  else sqlite3_bind_text64(rows, parameter, (const char *)value->text, value->num_bytes,
                           SQLITE_STATIC, SQLITE_UTF8);
  sqlite3_bind_int(rows, parameter + 1, !bound->is_set);
}

int bloom_index_slices_next(index_slices *order, sqlite3_stmt *rows, int *is_done){
  bloom_index *index = order->index;
  const index_layout *layout;
  order_bound end = {0};
  int is_same = 0, rc = SQLITE_OK;
  *is_done = order->is_done;
  if( order->is_done ) return SQLITE_OK;
  order->slice.num_intervals = 0;
  if( order->is_whole ){
    rc = bloom_index_intervals_unite(&order->slice, &order->merged);
    if( rc==SQLITE_OK ) rc = bloom_index_intervals_unite(&order->slice, &order->unmerged);
  }else{
    rc = bloom_index_layout_read(index, &layout);
    if( rc==SQLITE_OK ){
      const order_mark mark = order_mark_of(order, layout);
      is_same = memcmp(&mark, &order->mark, sizeof(mark))==0;
    }
    if( rc==SQLITE_OK && is_same ) rc = order_take(order, layout, &end);
    if( rc==SQLITE_OK && is_same ) rc = order_make_slice(order, &end);
    if( (rc & 0xff)==SQLITE_CORRUPT ){
      bloom_connection_note_damage(index->connection, index->number);
      is_same = 0;
      rc = SQLITE_OK;
    }
    if( rc==SQLITE_OK && !is_same ){
      order->slice.num_intervals = 0;
      end.is_set = 0;
      rc = bloom_index_intervals_append(&order->slice, INT64_MIN, order->last);
    }
  }
  if( rc!=SQLITE_OK ) return rc;
  order->is_done = !end.is_set;
  order->before = order->end;
  order->end = end;
  rc = bloom_index_list_bind(rows, 1, &order->list);
  order_bind_bound(rows, INDEX_SLICE_PARAMETER, order->is_descending ? &order->end
                   : &order->before);
  order_bind_bound(rows, INDEX_SLICE_PARAMETER + 2, order->is_descending ? &order->before
                   : &order->end);
  return rc;
}

/* -- For a plan ------------------------------------------------------------------------------ */

/* Adds what a row of zones or a directory has. */
static int order_sample(const index_slices *order, const index_generation *generation,
                        index_zone_level level, uint32_t number, order_items *sample){
  bloom_zone zones[BLOOM_ZONES_PER_ROW];
  uint32_t i;
  int half, rc = bloom_index_zones_read(order->index, generation, order->key, level, number, zones);
  for(i=0; i<BLOOM_ZONES_PER_ROW && rc==SQLITE_OK; i++){
    for(half=0; half<2 && rc==SQLITE_OK; half++){
      const bloom_zone_span span = zones[i].spans[half];
      order_item item = {.first = number*BLOOM_ZONES_PER_ROW + i};
      if( bloom_zone_compare(&span.min, &span.max)>0 ) continue;
      order_set_keys(order, span, &item);
      rc = items_append(sample, &item);
    }
  }
  return rc;
}

/* Returns 1 if few zones, or entries, reach over where spans begin, on average. */
static int order_is_near_ids(const order_items *sample){
  size_t i, j, num_over = 0, num_zones = 0;
  for(i=0; i<sample->num_items; i++){
    num_zones += i==0 || sample->list[i].first!=sample->list[i-1].first;
    for(j=0; j<sample->num_items; j++){
      num_over += bloom_zone_compare(&sample->list[j].from, &sample->list[i].from)<=0
        && bloom_zone_compare(&sample->list[j].to, &sample->list[i].from)>=0;
    }
  }
  /* Each does where its own begins. */
  return (double)num_over<=(1 + INDEX_MOST_OVERLAP*(double)num_zones) * (double)sample->num_items;
}

int bloom_index_order_pays(bloom_index *index, int key, int is_descending, int *pays){
  const index_slices order = {.index = index, .key = key, .is_descending = is_descending};
  const index_layout *layout;
  const index_generation *generation;
  order_items sample = {0};
  uint32_t num_directories, i;
  int rc = bloom_index_layout_read(index, &layout);
  *pays = 0;
  if( rc!=SQLITE_OK || !layout->has_covered
   || bloom_connection_knows_damage(index->connection, layout->number) ) goto end;
  generation = &layout->generations[0];
  if( layout->num_generations==2
   && layout->generations[1].num_rows>generation->num_rows ) generation++;
  num_directories = bloom_index_zones_num_directories(generation);
  for(i=0; i<ORDER_SAMPLED_DIRECTORIES && i<num_directories && rc==SQLITE_OK; i++){
    rc = order_sample(&order, generation, INDEX_ZONE_DIRECTORY, num_directories<=
                      ORDER_SAMPLED_DIRECTORIES ? i : (uint32_t)((uint64_t)num_directories * i
                      / ORDER_SAMPLED_DIRECTORIES), &sample);
  }
  /* Few entries tell little. */
  if( rc==SQLITE_OK && sample.num_items<=8 ){
    order_items zones = {0};
    for(i=0; i<sample.num_items && rc==SQLITE_OK; i++){
      if( i>0 && sample.list[i].first==sample.list[i-1].first ) continue;
      rc = order_sample(&order, generation, INDEX_ZONES, (uint32_t)sample.list[i].first, &zones);
    }
    sqlite3_free(sample.list);
    sample = zones;
  }
  if( rc==SQLITE_OK && sample.num_items>1 ) *pays = order_is_near_ids(&sample);
end:
  sqlite3_free(sample.list);
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}
