/*
** Rows in the order of a column with zones, of which a query may want the first ones alone.
**
** A slice is the rows with begin <= value < end.  It is read from the zones that may have one of
** them, and SQLite sorts it by the whole order.  Each slice begins where the one before it ended,
** and has about twice as many rows.  Any ends are right, since SQLite compares rows with them: they
** are made of keys of zones, and need not be values of rows.  NULLs are below all values: in the
** first slice of an ascending order, in the last of a descending one.
**
** A heap has zones, and entries of directories, by the first key in the order that they may have.
** When its turn comes an entry of a directory is replaced by the zones of its row.  A zone which
** reaches beyond the end of a slice is read again for the next one, and so are, for each slice, the
** rows that are not merged.  Where that costs too much, one last slice has all the rest.
**
** Where rows are changed between two slices, the next slice is the last one, and reads all ids up
** to the one that was the last at the beginning.  A changed row may come twice then, or not at all,
** as from an index on the column.
*/
#include "index_source.h"
#include "index_values.h"

/* Rows of the first slice.  Tests set less. */
#ifndef INDEX_SLICE_ROWS
# define INDEX_SLICE_ROWS 64.0
#endif

/* So many candidates, or fewer, are one slice. */
#ifndef INDEX_SORTED_ROWS
# define INDEX_SORTED_ROWS 256.0
#endif

/* No slices are made where more than this share of all zones have values on both sides of where
** another one begins: each slice would read too many rows for nothing. */
#ifndef INDEX_MOST_OVERLAP
# define INDEX_MOST_OVERLAP 0.25
#endif

/* Directories that xBestIndex reads. */
#define ORDER_SAMPLED 4

/* A zone, or an entry of a directory.  Keys ascend in the order of rows: in a descending order they
** are complements. */
typedef struct order_item {
  bloom_zone_key from, to;
  index_interval ids; /* of a zone; of an entry `first` is the number of its row of zones */
  double num_rows;    /* about how many candidates a zone has */
  int generation;     /* of an entry; -1: it is a zone */
} order_item;

typedef struct order_items {
  order_item *list;
  size_t num_items, max_items;
} order_items;

/* Where a slice begins or ends. */
typedef struct order_bound {
  int is_set;
  bloom_zone_value value; /* a number or a text */
  bloom_zone_key at;      /* its key, in the order of rows */
} order_bound;

struct index_slices {
  bloom_index *index;
  int key, is_descending;
  index_intervals merged, unmerged; /* candidates */
  sqlite3_int64 last;               /* the last id at the beginning */
  uint64_t layout_hash;             /* at the beginning, */
  int num_changes;                  /* and the connection's total changes */
  order_items heap;
  order_items taken;                /* of the current slice; then those that reach beyond it */
  double slice_rows;                /* least candidates of the next slice */
  double num_unmerged;              /* about how many rows are not merged */
  double most_again;                /* how many rows may still be read again */
  order_bound begin, end;           /* of the current slice */
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

static bloom_zone_key order_turn(const index_slices *order, bloom_zone_key key){
  size_t i;
  for(i=0; order->is_descending && i<sizeof(key.bytes); i++) key.bytes[i] = (uint8_t)~key.bytes[i];
  return key;
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
  order_item last;
  size_t at = 0, child;
  assert( heap->num_items>0 );
  last = heap->list[--heap->num_items];
  while( (child = 2*at + 1)<heap->num_items ){
    if( child + 1<heap->num_items
     && bloom_zone_compare(&heap->list[child + 1].from, &heap->list[child].from)<0 ) child++;
    if( bloom_zone_compare(&last.from, &heap->list[child].from)<=0 ) break;
    heap->list[at] = heap->list[child];
    at = child;
  }
  if( heap->num_items>0 ) heap->list[at] = last;
}

/* Sets item->ids to those of 2^blocks_lg blocks of a generation, the first of which is first, and
** adds to item->num_rows about how many candidates they have.  Returns 1 if they may have one. */
static int order_count(const index_slices *order, const index_layout *layout, int generation,
                       const index_spans *spans, uint32_t first, uint32_t blocks_lg,
                       order_item *item){
  const index_interval own = bloom_index_ids_of_generation(layout, generation);
  const index_interval *list = order->merged.list;
  index_interval ids;
  size_t low = 0, high = order->merged.num_intervals, i;
  if( first>>INDEX_SPAN_LG>=spans->num_spans ) return 0;
  if( blocks_lg>INDEX_SPAN_LG ) return 1; /* several spans, whose ids need not be neighbours */
  assert( first%(1u << blocks_lg)==0 ); /* so all blocks are in one span */
  ids.first = bloom_index_block_first(spans, first);
  ids.last = bloom_index_block_last(spans, first + (1u << blocks_lg) - 1);
  /* Other ids are the other generation's. */
  if( ids.first<own.first ) ids.first = own.first;
  if( ids.last>own.last ) ids.last = own.last;
  item->ids = ids;
  while( low<high ){
    const size_t middle = low + (high - low)/2;
    if( list[middle].last<ids.first ) low = middle + 1; else high = middle;
  }
  for(i=low; i<order->merged.num_intervals && list[i].first<=ids.last; i++){
    const index_interval both = {list[i].first>ids.first ? list[i].first : ids.first,
                                 list[i].last<ids.last ? list[i].last : ids.last};
    item->num_rows += bloom_index_interval_rows(layout, both);
  }
  return i>low && ids.first<=ids.last;
}

/* Adds an item for a span of keys, unless that is empty. */
static int order_add(index_slices *order, order_item item, bloom_zone_span span){
  if( bloom_zone_is_empty(&span) ) return SQLITE_OK;
  item.from = order_turn(order, order->is_descending ? span.max : span.min);
  item.to = order_turn(order, order->is_descending ? span.min : span.max);
  return items_push(&order->heap, &item);
}

/* Adds the zones of a row, or the entries of a directory, that may have candidates. */
static int order_add_row(index_slices *order, const index_layout *layout, int number,
                         index_zone_level level, uint32_t row){
  const index_generation *generation = &layout->generations[number];
  const uint32_t blocks_lg = generation->zone_lg + (level==INDEX_ZONES ? 0 : BLOOM_ZONES_LG);
  bloom_zone zones[BLOOM_ZONES_PER_ROW];
  index_spans *spans;
  uint32_t i;
  int j, rc = bloom_index_spans_read(order->index, layout, generation, &spans);
  if( rc==SQLITE_OK ) rc = bloom_index_zones_read(order->index, generation, order->key, level, row,
                                                  zones);
  /* Mostly ids are in the order of the column: then no item rises in the heap. */
  for(i=0; i<BLOOM_ZONES_PER_ROW && rc==SQLITE_OK; i++){
    const uint32_t at = order->is_descending ? BLOOM_ZONES_PER_ROW - 1 - i : i;
    const uint32_t zone = row*BLOOM_ZONES_PER_ROW + at;
    order_item item = {.generation = -1};
    if( !bloom_zone_is_there(&zones[at])
     || !order_count(order, layout, number, spans, zone << blocks_lg, blocks_lg, &item) ) continue;
    if( level==INDEX_ZONE_DIRECTORY ){
      const bloom_zone_span values = bloom_zone_hull(zones[at].spans[0], zones[at].spans[1]);
      item.generation = number;
      item.ids.first = zone;
      rc = order_add(order, item, bloom_zone_hull(values, zones[at].spans[2]));
      continue;
    }
    for(j=0; j<3 && rc==SQLITE_OK; j++) rc = order_add(order, item, zones[at].spans[j]);
  }
  return rc;
}

/* -- Beginning ------------------------------------------------------------------------------- */

/* Fills the heap with the entries of directories, or with one item where all candidates are one
** slice.  Sets *is_too_dear if it costs less to read the whole source. */
static int order_begin(index_slices *order, int *is_too_dear){
  const order_item all = {.ids = {INT64_MIN, INT64_MAX}, .generation = -1};
  bloom_index *index = order->index;
  const index_layout *layout;
  double num_rows;
  size_t i;
  int number, rc = bloom_index_layout_read(index, &layout);
  assert( order->heap.num_items==0 && order->taken.num_items==0 );
  if( rc!=SQLITE_OK ) return rc;
  order->layout_hash = layout->hash;
  order->num_changes = sqlite3_total_changes(index->connection->db);
  order->last = layout->covered;
  for(i=0; i<order->unmerged.num_intervals; i++){
    const index_interval interval = order->unmerged.list[i];
    order->num_unmerged += 1 + ((double)interval.last - (double)interval.first)
      * bloom_index_density(layout);
    if( interval.last>order->last ) order->last = interval.last;
  }
  /* Behind ids that are far apart there may be ids that are not. */
  if( order->last>layout->covered && bloom_index_density(layout)<0.5 ){
    const index_interval behind = order->unmerged.list[order->unmerged.num_intervals-1];
    sqlite3_int64 num_behind = 0;
    assert( behind.last==order->last );
    rc = bloom_sql_integer(index->connection, &num_behind, "SELECT count(*) FROM " INDEX_SOURCE
                           " WHERE x.\"%w\" BETWEEN %lld AND %lld", index->schema,
                           index->columns.name, index->columns.id_name, behind.first, behind.last);
    if( bloom_sql_is_fatal(rc) || rc==SQLITE_INTERRUPT ) return rc;
    rc = SQLITE_OK; /* count() may be the application's, or refused */
    order->num_unmerged += (double)num_behind;
  }
  num_rows = bloom_index_intervals_rows(layout, &order->merged) + order->num_unmerged;
  order->most_again = num_rows/3;
  if( num_rows<=INDEX_SORTED_ROWS || bloom_sql_writer(index->connection, NULL)!=NULL
   || order->num_unmerged>(double)layout->num_rows/4 + 1000 ){
    *is_too_dear = num_rows>0.6*(double)layout->num_rows + INDEX_SORTED_ROWS;
    return items_push(&order->heap, &all);
  }
  for(number=0; number<layout->num_generations && rc==SQLITE_OK; number++){
    const uint32_t num = bloom_index_zones_num_directories(&layout->generations[number]);
    for(i=0; i<num && rc==SQLITE_OK; i++){
      rc = order_add_row(order, layout, number, INDEX_ZONE_DIRECTORY, (uint32_t)i);
    }
  }
  return rc;
}

int bloom_index_order_key(const bloom_index *index, int column){
  int i;
  for(i=0; i<index->config.num_keys; i++){
    const index_key *key = &index->config.keys[i];
    if( key->kind==INDEX_KEY_ZONES && key->column==column && !key->doubt ) return i;
  }
  return -1;
}

int bloom_index_slices_start(bloom_index *index, const index_plan *plan, sqlite3_value **args,
                             const index_list *lists, index_slices **result, int *is_too_dear){
  const int key = bloom_index_order_key(index, plan->orders[0].column);
  index_slices *order;
  int rc;
  assert( *result==NULL && plan->num_orders>0 && plan->orders[0].column>=0 );
  *is_too_dear = key<0 || bloom_database_may_be_swapped(index->connection->db, "main");
  if( *is_too_dear ) return SQLITE_OK;
  *result = order = bloom_malloc_zeros(sizeof(*order));
  if( order==NULL ) return SQLITE_NOMEM;
  order->index = index;
  order->key = key;
  order->is_descending = plan->orders[0].is_descending;
  order->slice_rows = INDEX_SLICE_ROWS;
  order->list.intervals = &order->slice;
  rc = bloom_index_candidates(index, plan, args, lists, &order->merged, &order->unmerged,
                              is_too_dear);
  if( rc==SQLITE_OK && !*is_too_dear ) rc = order_begin(order, is_too_dear);
  if( (rc & 0xff)!=SQLITE_CORRUPT ) return rc;
  bloom_connection_note_damage(index->connection, index->number);
  *is_too_dear = 1;
  return SQLITE_OK;
}

/* -- Slices ----------------------------------------------------------------------------------- */

/* Sets the end of the slice to a value before or at the first key of the next item, if there is
** one behind the slice's begin. */
static void order_find_end(index_slices *order, const order_item *next){
  const bloom_zone_key first = order_turn(order, next->from);
  order_bound *end = &order->end;
  bloom_zone_value value = bloom_zone_value_of(&first), beside;
  size_t num_ascii = 0;
  int i;
  assert( !end->is_set );
  /* NULLs that come first are no slice by themselves. */
  if( value.kind==BLOOM_ZONE_NO_VALUE
   || bloom_zone_compare(&next->from, &bloom_zone_of_null.min)==0 ) return;
  /* A text may be cut within a character, which UTF-16 cannot store. */
  while( num_ascii<value.num_bytes && value.text[num_ascii]<0x80 ) num_ascii++;
  if( order->index->letter_bytes!=1 ) value.num_bytes = num_ascii;
  /* A little before it, so that the next zone is not in the slice. */
  beside = value;
  if( value.kind==BLOOM_ZONE_NUMBER && value.real - value.real==0 ){
    const bloom_zone_span around = bloom_zone_of_number(value.real, 1);
    beside = bloom_zone_value_of(order->is_descending ? &around.max : &around.min);
  }
  for(i=0; i<2 && !end->is_set; i++){
    const bloom_zone_value *at = i==0 ? &beside : &value;
    const bloom_zone_key key = at->kind==BLOOM_ZONE_NUMBER ? bloom_zone_of_number(at->real, 0).min
      : bloom_zone_of_text(at->text, at->num_bytes,
                           bloom_index_zone_order(order->index, order->key), 0).min;
    end->value = *at;
    end->at = order_turn(order, key);
    end->is_set = !order->begin.is_set || bloom_zone_compare(&end->at, &order->begin.at)>0;
  }
}

/* Takes zones that may have rows of the next slice out of the heap.  Sets the slice's end, unless
** it is the last one, and its ids: those of these zones, and of rows that are not merged. */
static int order_take(index_slices *order, const index_layout *layout){
  order_items *heap = &order->heap, *taken = &order->taken;
  double num_rows = 0, again = 0;
  size_t num_open = 0, i;
  int rc = SQLITE_OK;
  while( rc==SQLITE_OK ){
    const order_item top = heap->num_items>0 ? heap->list[0] : (order_item){.num_rows = 0};
    if( heap->num_items>0 && num_rows>=order->slice_rows && !order->end.is_set ){
      order_find_end(order, &top);
    }
    if( heap->num_items==0
     || (order->end.is_set && bloom_zone_compare(&top.from, &order->end.at)>0) ){
      again = order->num_unmerged;
      for(i=0; order->end.is_set && i<taken->num_items; i++){
        const order_item *item = &taken->list[i];
        if( bloom_zone_compare(&item->to, &order->end.at)>=0 ) again += item->num_rows;
      }
      if( !order->end.is_set || again<=order->most_again ) break;
      /* All the rest is one slice. */
      order->end.is_set = 0;
      order->slice_rows = 1e300*1e300;
      continue;
    }
    items_pop(heap);
    if( top.generation>=0 ){
      rc = order_add_row(order, layout, top.generation, INDEX_ZONES, (uint32_t)top.ids.first);
      continue;
    }
    rc = items_append(taken, &top);
    num_rows += top.num_rows;
  }
  /* What stays in the heap is behind the slice, and behind the last one is nothing. */
  assert( rc!=SQLITE_OK || heap->num_items==0
          || (order->end.is_set && bloom_zone_compare(&heap->list[0].from, &order->end.at)>0) );
  assert( !order->begin.is_set || !order->end.is_set
          || bloom_zone_compare(&order->begin.at, &order->end.at)<0 );
  order->most_again -= again;
  order->slice_rows *= 2;
  /* Zones that reach beyond the end are taken for the next slice, too. */
  for(i=0; i<taken->num_items && rc==SQLITE_OK; i++){
    const order_item item = taken->list[i];
    rc = bloom_index_intervals_add(&order->slice, item.ids.first, item.ids.last);
    if( order->end.is_set && bloom_zone_compare(&item.to, &order->end.at)>=0 ){
      taken->list[num_open++] = item;
    }
  }
  taken->num_items = num_open;
  bloom_index_intervals_sort(&order->slice);
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_intersect(&order->slice, &order->merged);
  if( rc==SQLITE_OK ) rc = bloom_index_intervals_unite(&order->slice, &order->unmerged);
  return rc;
}

static void order_bind_bound(sqlite3_stmt *rows, int parameter, const order_bound *bound){
  const bloom_zone_value *value = &bound->value;
  assert( !bound->is_set || value->kind!=BLOOM_ZONE_NO_VALUE );
  if( !bound->is_set ) sqlite3_bind_null(rows, parameter);
  else if( value->kind==BLOOM_ZONE_NUMBER ) sqlite3_bind_double(rows, parameter, value->real);
  else sqlite3_bind_text64(rows, parameter, (const char *)value->text, value->num_bytes,
                           SQLITE_STATIC, SQLITE_UTF8);
  sqlite3_bind_int(rows, parameter + 1, bound->is_set ? 0 : 1);
}

int bloom_index_slices_next(index_slices *order, sqlite3_stmt *rows, int *is_done){
  bloom_index *index = order->index;
  const index_layout *layout;
  int is_same, rc;
  *is_done = order->is_done;
  if( order->is_done ) return SQLITE_OK;
  order->begin = order->end;
  order->end.is_set = 0;
  order->slice.num_intervals = 0;
  bloom_index_see(index);
  rc = bloom_index_layout_read(index, &layout);
  is_same = rc==SQLITE_OK && layout->hash==order->layout_hash
    && sqlite3_total_changes(index->connection->db)==order->num_changes;
  if( is_same ) rc = order_take(order, layout);
  if( (rc & 0xff)==SQLITE_CORRUPT ){
    bloom_connection_note_damage(index->connection, index->number);
    is_same = 0;
    rc = SQLITE_OK;
  }
  if( rc==SQLITE_OK && !is_same ){
    order->slice.num_intervals = 0;
    order->end.is_set = 0;
    rc = bloom_index_intervals_add(&order->slice, INT64_MIN, order->last);
  }
  if( rc!=SQLITE_OK ) return rc;
  order->is_done = !order->end.is_set;
  order_bind_bound(rows, INDEX_SLICE_PARAMETER, order->is_descending ? &order->end
                   : &order->begin);
  order_bind_bound(rows, INDEX_SLICE_PARAMETER + 2, order->is_descending ? &order->begin
                   : &order->end);
  return bloom_index_list_bind(rows, 1, &order->list);
}

/* -- For a plan ------------------------------------------------------------------------------ */

/* Appends the spans of a row of zones or a directory. */
static int order_sample(bloom_index *index, const index_generation *generation, int key,
                        index_zone_level level, uint32_t number, order_items *sample){
  bloom_zone zones[BLOOM_ZONES_PER_ROW];
  uint32_t i;
  int half, rc = bloom_index_zones_read(index, generation, key, level, number, zones);
  for(i=0; i<BLOOM_ZONES_PER_ROW && rc==SQLITE_OK; i++){
    for(half=0; half<2 && rc==SQLITE_OK; half++){
      const bloom_zone_span span = zones[i].spans[half];
      const order_item item = {.from = span.min, .to = span.max,
                               .ids.first = number*BLOOM_ZONES_PER_ROW + i};
      if( !bloom_zone_is_empty(&span) ) rc = items_append(sample, &item);
    }
  }
  return rc;
}

/* Returns 1 if on average few zones, or entries, reach over where a span begins. */
static int order_is_near_ids(const order_items *sample){
  size_t i, j, num_over = 0, num_zones = 0;
  for(i=0; i<sample->num_items; i++){
    num_zones += i==0 || sample->list[i].ids.first!=sample->list[i-1].ids.first;
    for(j=0; j<sample->num_items; j++){
      num_over += bloom_zone_compare(&sample->list[j].from, &sample->list[i].from)<=0
        && bloom_zone_compare(&sample->list[j].to, &sample->list[i].from)>=0;
    }
  }
  /* Each span reaches over its own beginning. */
  return (double)num_over<=(1 + INDEX_MOST_OVERLAP*(double)num_zones) * (double)sample->num_items;
}

int bloom_index_order_pays(bloom_index *index, int key, int *pays){
  const index_layout *layout;
  order_items sample = {0}, zones = {0};
  int rc = bloom_index_layout_read(index, &layout);
  assert( key>=0 && key<index->config.num_keys );
  *pays = 0;
  if( rc==SQLITE_OK && layout->has_covered
   && !bloom_connection_knows_damage(index->connection, layout->number) ){
    const index_generation *generation = &layout->generations[0];
    uint32_t num_directories, i;
    if( layout->num_generations==2
     && layout->generations[1].num_rows>generation->num_rows ) generation++;
    num_directories = bloom_index_zones_num_directories(generation);
    for(i=0; i<num_directories && rc==SQLITE_OK;
        i+=(num_directories + ORDER_SAMPLED - 1)/ORDER_SAMPLED){
      rc = order_sample(index, generation, key, INDEX_ZONE_DIRECTORY, i, &sample);
    }
    /* Few entries tell little. */
    for(i=0; sample.num_items<=8 && i<sample.num_items && rc==SQLITE_OK; i++){
      if( i>0 && sample.list[i].ids.first==sample.list[i-1].ids.first ) continue;
      rc = order_sample(index, generation, key, INDEX_ZONES, (uint32_t)sample.list[i].ids.first,
                        &zones);
    }
    *pays = rc==SQLITE_OK && (sample.num_items>8 ? order_is_near_ids(&sample)
                              : zones.num_items>1 && order_is_near_ids(&zones));
  }
  sqlite3_free(sample.list);
  sqlite3_free(zones.list);
  return bloom_sql_is_fatal(rc) ? rc : SQLITE_OK;
}
