/*
** Which pieces of texts should blocks be made of?  For each scheme: the blocks' share of the
** text's bytes, and the share of the blocks that a search has to read.
**
**     pieces TRANSLATIONS [num_needles]
**
** Three corpora of at most 15 MB: a log that is made here, messages with random ids; the
** lines of this machine's changelogs; and package descriptions in random order, from
** TRANSLATIONS, a file of Debian's (main_i18n_Translation-en) that run.sh fetches.
**
** Needles of 3 to 12 bytes are made of two halves, each a piece of some row, and stand in no
** row: the hard kind of absent ones.  Others stand in exactly one row.  The last scheme is what
** ext/core/signature does; it learns from a quarter of the text.
*/
#include "bench.h"

#include "../../ext/core/signature/block.h"
#include "../../ext/core/signature/pattern.h"
#include "../../ext/core/signature/pieces.h"
#include "../../ext/core/signature/weights.h"

#define CORPUS_BYTES (15u << 20)
#define MAX_ROW_BYTES 40000
#define MAX_NEEDLES 1000
#define MAX_BITS 256

typedef struct corpus {
  const char *name;
  uint8_t *text; /* all rows, in lower case */
  size_t *begins;
  size_t num_rows;
} corpus;

typedef struct needles {
  const char *name;
  size_t num_bytes;
  int is_present;
  int count;
  uint8_t texts[MAX_NEEDLES][16];
} needles;

typedef enum scheme_kind { FIXED, THRESHOLDS, LEARNED } scheme_kind;

typedef struct scheme {
  const char *name;
  scheme_kind kind;
  uint32_t bits_per_block;
  uint32_t probes[5]; /* of FIXED, by the piece's length */
} scheme;

static const scheme schemes[] = {
  {"3x2, 8,192", FIXED, 8192, {0, 0, 0, 2, 0}},
  {"3x3, 8,192", FIXED, 8192, {0, 0, 0, 3, 0}},
  {"4x2, 8,192", FIXED, 8192, {0, 0, 0, 0, 2}},
  {"4x2, 16,384", FIXED, 16384, {0, 0, 0, 0, 2}},
  {"3x1 + 4x1, 16,384", FIXED, 16384, {0, 0, 0, 1, 1}},
  {"3 and 4, by 1/2, 1/5, 1/20, 16,384", THRESHOLDS, 16384, {0}},
  {"3 and 4, by 1/2, 1/5, 1/20, 8,192", THRESHOLDS, 8192, {0}},
  {"3 and 4, learned, 16,384", LEARNED, 16384, {0}},
  {"3 and 4, learned, 8,192", LEARNED, 8192, {0}},
};

static bloom_lesson lesson;
static uint8_t weights[BLOOM_WEIGHTS_BYTES];
static uint8_t threshold_probes[BLOOM_WEIGHTS_ENTRIES];
static uint8_t *blocks;
static size_t num_blocks;

static uint64_t next_random(void){
  static uint64_t number;
  return random_of(number++);
}

static unsigned below(unsigned limit){
  return (unsigned)(next_random() % limit);
}

/* -- Corpora --------------------------------------------------------------------- */

static corpus new_corpus(const char *name){
  return (corpus){name, allocate(CORPUS_BYTES), allocate(2000000 * sizeof(size_t)), 0};
}

/* Returns 0 if there is no room for the row. */
static int add_row(corpus *c, const char *row, size_t num_bytes){
  const size_t begin = c->begins[c->num_rows];
  size_t i;
  if( begin+num_bytes>CORPUS_BYTES || c->num_rows+2>2000000 ) return 0;
  for(i=0; i<num_bytes; i++) c->text[begin + i] = bloom_ascii_lower((uint8_t)row[i]);
  c->begins[++c->num_rows] = begin + num_bytes;
  return 1;
}

static corpus make_log(void){
  static const char *const things[10] = {"payment", "order", "session", "cache", "request", "worker", "shipment",
    "invoice", "profile", "basket"};
  corpus c = new_corpus("log");
  char row[400];
  int length;
  do{
    const char *thing = things[below(10)];
    const unsigned long long id = next_random() & 0xffffffffffffu, other = next_random() & 0xffffffffffffu;
    const unsigned long long number = next_random() % 1000000000000u;
    const unsigned ms = below(3000), user = below(100000), many = below(50000), a = below(256), b = below(256);
    switch( below(12) ){
      case 0: length = sprintf(row, "GET /api/v1/%ss/%012llx finished with status 200 in %u ms for user %u, trace %012llx",
                               thing, id, ms, user, other); break;
      case 1: length = sprintf(row, "could not reach %s service at 10.7.%u.%u: connection time_out after %u ms, request %012llx",
                               thing, a, b, ms, id); break;
      case 2: length = sprintf(row, "user %u signed in from 192.168.%u.%u with session %012llx and was sent to the %s page",
                               user, a, b, id, thing); break;
      case 3: length = sprintf(row, "%s %012llu was written to the queue by worker-%u and waits for %s %012llx",
                               thing, number, a%64, things[below(10)], id); break;
      case 4: length = sprintf(row, "warning: slow query on table %s_%s took %u ms and returned %u rows, statement %012llx",
                               thing, things[below(10)], ms, many, id); break;
      case 5: length = sprintf(row, "retry %u of job %012llx failed because the %s was locked by transaction %012llu",
                               a%9, id, thing, number); break;
      case 6: length = sprintf(row, "sent %u bytes of %s to client %u over TLS 1.3, request id %012llx, cache miss",
                               many*17, thing, user, id); break;
      case 7: length = sprintf(row, "error 500 in %s handler: unexpected end of input at byte %u of message %012llx",
                               thing, many, id); break;
      case 8: length = sprintf(row, "scheduled task cleanup_%s removed %u entries older than %u days, run %012llx",
                               thing, many, a%90, id); break;
      case 9: length = sprintf(row, "%s %012llx was created by user %u with total %u.%02u EUR, confirmation %012llu",
                               thing, id, user, ms, a%100, number); break;
      case 10: length = sprintf(row, "health check of node-%u: cpu %u %%, memory %u MB, %u open files, probe %012llx",
                                a%128, b%100, many, ms, id); break;
      default: length = sprintf(row, "token %012llx of user %u expired after %u s, refreshed from key %012llx for %s",
                                id, user, ms, other, thing); break;
    }
  }while( add_row(&c, row, (size_t)length) );
  return c;
}

static corpus read_changelogs(void){
  corpus c = new_corpus("changelogs");
  FILE *file = popen("zcat -f /usr/share/doc/*/changelog*.gz", "r");
  char *line = NULL;
  size_t size = 0;
  ssize_t length;
  if( file==NULL ) exit(1);
  while( (length = getline(&line, &size, file))>0 ){
    if( line[length-1]=='\n' ) length--;
    if( (size_t)length==strspn(line, " \t\n") || length>MAX_ROW_BYTES ) continue;
    if( !add_row(&c, line, (size_t)length) ) break;
  }
  free(line);
  pclose(file);
  return c;
}

/* In random order: neighbours are often packages of one source, which say the same. */
static corpus read_descriptions(const char *path){
  corpus all = {"", allocate(64u << 20), allocate(2000000 * sizeof(size_t)), 0}, c = new_corpus("descriptions");
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t size = 0, end = 0, i, *order;
  ssize_t length;
  int is_in = 0;
  if( file==NULL ){
    perror(path);
    exit(1);
  }
  while( (length = getline(&line, &size, file))>0 && end<(60u << 20) ){
    const char *begin = strncmp(line, "Description-en: ", 16)==0 ? line + 16 : is_in && line[0]==' ' ? line + 1 : NULL;
    if( begin==NULL ){
      if( is_in ) all.begins[++all.num_rows] = end;
      is_in = 0;
      continue;
    }
    is_in = 1;
    length -= begin - line;
    memcpy(all.text + end, begin, (size_t)length);
    end += (size_t)length;
  }
  order = allocate((all.num_rows + 1) * sizeof(order[0]));
  for(i=0; i<all.num_rows; i++){
    const size_t other = next_random() % (i + 1);
    order[i] = order[other];
    order[other] = i;
  }
  for(i=0; i<all.num_rows; i++){
    const size_t begin = all.begins[order[i]], num_bytes = all.begins[order[i] + 1] - begin;
    if( num_bytes<MAX_ROW_BYTES && !add_row(&c, (const char *)all.text + begin, num_bytes) ) break;
  }
  free(order);
  free(line);
  fclose(file);
  free(all.text);
  free(all.begins);
  return c;
}

static size_t corpus_bytes(const corpus *c){
  return c->begins[c->num_rows];
}

/* -- Needles --------------------------------------------------------------------- */

static void random_piece(const corpus *c, size_t num_bytes, uint8_t *piece){
  for(;;){
    const size_t row = next_random() % c->num_rows;
    const size_t row_bytes = c->begins[row + 1] - c->begins[row];
    if( row_bytes<num_bytes ) continue;
    memcpy(piece, c->text + c->begins[row] + next_random() % (row_bytes - num_bytes + 1), num_bytes);
    return;
  }
}

/* Whether it stands nowhere, or once.  A wildcard would make it another pattern. */
static int is_wanted(const corpus *c, const uint8_t *needle, size_t num_bytes, int is_present){
  const uint8_t *end = c->text + corpus_bytes(c), *found = memmem(c->text, corpus_bytes(c), needle, num_bytes);
  size_t i;
  for(i=0; i<num_bytes; i++) if( needle[i]=='%' || needle[i]=='_' || needle[i]>=0x80 ) return 0;
  if( found==NULL ) return !is_present;
  return is_present && memmem(found + 1, (size_t)(end - found) - 1, needle, num_bytes)==NULL;
}

static void find_needles(const corpus *c, needles *n, int wanted){
  int tries;
  n->count = 0;
  for(tries=0; n->count<wanted && tries<1000*wanted; tries++){
    uint8_t *needle = n->texts[n->count];
    const size_t half = n->is_present ? n->num_bytes : n->num_bytes/2 + (n->num_bytes%2 && tries%2);
    random_piece(c, half, needle);
    if( !n->is_present ) random_piece(c, n->num_bytes - half, needle + half);
    n->count += is_wanted(c, needle, n->num_bytes, n->is_present);
  }
}

/* -- Schemes ----------------------------------------------------------------------- */

static uint32_t probes_of(const scheme *s, size_t length, uint64_t hash){
  if( s->kind==FIXED ) return s->probes[length];
  if( s->kind==THRESHOLDS ) return threshold_probes[bloom_weights_entry(hash)];
  return bloom_weights_probes(weights, hash);
}

static uint64_t hash_of(const uint8_t *piece, size_t length){
  uint64_t number = 0;
  size_t i;
  for(i=0; i<length; i++) number = number << 8 | piece[i];
  return bloom_signature_mix(number | (uint64_t)length << 56);
}

/* From every fourth chunk of the text. */
static void learn(const scheme *s, const corpus *c){
  const size_t chunk_bytes = 9 * s->bits_per_block/8;
  uint64_t hashes[BLOOM_PIECES_ROOM];
  size_t row, i;
  if( s->kind==FIXED ) return;
  bloom_lesson_begin(&lesson, s->bits_per_block);
  for(row=0; row<c->num_rows; row++){
    const size_t num_bytes = c->begins[row + 1] - c->begins[row];
    bloom_pieces pieces;
    size_t count;
    if( c->begins[row]/chunk_bytes%4!=0 ) continue;
    bloom_pieces_begin(&pieces, c->text + c->begins[row], num_bytes);
    while( (count = bloom_pieces_next(&pieces, hashes))>0 ) bloom_lesson_add(&lesson, hashes, count);
    bloom_lesson_end_row(&lesson, num_bytes);
  }
  bloom_lesson_finish(&lesson, weights);
  for(i=0; i<BLOOM_WEIGHTS_ENTRIES; i++){
    const double share = (double)lesson.num_with[i] / lesson.num_chunks;
    threshold_probes[i] = share>0.5 ? 0 : share>0.2 ? 1 : share>0.05 ? 2 : 3;
  }
}

static void add_row_to_block(const scheme *s, const uint8_t *row, size_t num_bytes, bloom_block *block){
  size_t at, length;
  if( s->kind==LEARNED ){
    uint64_t hashes[BLOOM_PIECES_ROOM];
    bloom_pieces pieces;
    size_t count;
    bloom_pieces_begin(&pieces, row, num_bytes);
    while( (count = bloom_pieces_next(&pieces, hashes))>0 ) bloom_weights_add(weights, block, hashes, count);
    return;
  }
  for(at=0; at<num_bytes; at++){
    for(length=3; length<=4 && at+length<=num_bytes; length++){
      const uint64_t hash = hash_of(row + at, length);
      uint16_t bits[4];
      uint32_t num_bits = bloom_signature_piece_bits(hash, probes_of(s, length, hash), s->bits_per_block, bits);
      while( num_bits>0 ) bloom_block_set(block, bits[--num_bits]);
    }
  }
}

static void build(const scheme *s, const corpus *c){
  const size_t block_bytes = s->bits_per_block/8;
  bloom_block block;
  size_t row;
  num_blocks = 0;
  bloom_block_clear(&block, blocks, s->bits_per_block);
  for(row=0; row<c->num_rows; row++){
    add_row_to_block(s, c->text + c->begins[row], c->begins[row + 1] - c->begins[row], &block);
    if( bloom_block_is_finished(&block) ){
      num_blocks++;
      bloom_block_clear(&block, blocks + num_blocks*block_bytes, s->bits_per_block);
    }
  }
}

/* The bits of a needle between two %. */
static size_t bits_of(const scheme *s, const uint8_t *needle, size_t num_bytes, uint16_t bits[MAX_BITS]){
  size_t num_bits = 0, at, length;
  if( s->kind==LEARNED ){
    uint64_t hashes[BLOOM_PIECES_ROOM];
    bloom_pattern pattern;
    size_t count;
    bloom_pattern_begin(&pattern, BLOOM_PATTERN_LIKE, needle, num_bytes);
    while( (count = bloom_pattern_next(&pattern, hashes))>0 ){
      num_bits = bloom_weights_bits(weights, s->bits_per_block, hashes, count, bits, num_bits, MAX_BITS);
    }
    return num_bits;
  }
  for(at=0; at<num_bytes; at++){
    for(length=3; length<=4 && at+length<=num_bytes; length++){
      const uint64_t hash = hash_of(needle + at, length);
      num_bits += bloom_signature_piece_bits(hash, probes_of(s, length, hash), s->bits_per_block, bits + num_bits);
    }
  }
  return num_bits;
}

/* The shares of the blocks that each needle has to read. */
static void search(const scheme *s, const needles *n, double *shares){
  int i;
  for(i=0; i<n->count; i++){
    uint16_t bits[MAX_BITS];
    const size_t num_bits = bits_of(s, n->texts[i], n->num_bytes, bits);
    size_t block, num_read = 0;
    for(block=0; block<num_blocks; block++){
      num_read += (size_t)bloom_block_has_bits(blocks + block*(s->bits_per_block/8), bits, num_bits);
    }
    shares[i] = (double)num_read / (double)num_blocks;
  }
}

static double mean(const double *values, int count){
  double sum = 0;
  int i;
  for(i=0; i<count; i++) sum += values[i];
  return sum / count;
}

int main(int argc, char **argv){
  const int wanted = argc>2 ? atoi(argv[2]) : 300;
  static needles kinds[3][7];
  corpus corpora[3];
  FILE *results = open_results("pieces", NULL, "shares in per cent: of the text's bytes, and of the blocks that are read",
    "scheme\tcorpus\tsize\tbuild_mb_s\tneedles\tmean\tmedian\tworst");
  size_t i, k, c;
  if( argc<2 || wanted<1 || wanted>MAX_NEEDLES ){
    fprintf(stderr, "usage: pieces TRANSLATIONS [num_needles]\n");
    return 2;
  }
  corpora[0] = make_log();
  corpora[1] = read_changelogs();
  corpora[2] = read_descriptions(argv[1]);
  blocks = allocate((size_t)64 << 20);
  for(c=0; c<3; c++){
    static const needles empty[7] = {{"3", 3, 0, 0, {{0}}}, {"4", 4, 0, 0, {{0}}}, {"6", 6, 0, 0, {{0}}},
      {"8", 8, 0, 0, {{0}}}, {"12", 12, 0, 0, {{0}}}, {"8, in one row", 8, 1, 0, {{0}}}, {"12, in one row", 12, 1, 0, {{0}}}};
    memcpy(kinds[c], empty, sizeof(empty));
    for(k=0; k<7; k++) find_needles(&corpora[c], &kinds[c][k], wanted);
    printf("%s: %.1f MB in %zu rows of %.0f bytes\n", corpora[c].name, (double)corpus_bytes(&corpora[c]) / 1e6,
           corpora[c].num_rows, (double)corpus_bytes(&corpora[c]) / (double)corpora[c].num_rows);
  }
  printf("\n| pieces x probes, bits | size %% | 3 bytes | 4 | 6 | 8 | 12 | 8, in one row | 12, in one row | build, MB/s |\n"
         "|---|---|---|---|---|---|---|---|---|---|\n");
  for(i=0; i<sizeof(schemes)/sizeof(schemes[0]); i++){
    double sizes[3], means[3][7], speeds[3];
    for(c=0; c<3; c++){
      double begin;
      learn(&schemes[i], &corpora[c]);
      begin = cpu_ns();
      build(&schemes[i], &corpora[c]);
      speeds[c] = (double)corpus_bytes(&corpora[c]) * 1e3 / (cpu_ns() - begin);
      sizes[c] = 100.0 * (double)num_blocks * schemes[i].bits_per_block/8 / (double)corpus_bytes(&corpora[c]);
      for(k=0; k<7; k++){
        double shares[MAX_NEEDLES];
        const int count = kinds[c][k].count;
        search(&schemes[i], &kinds[c][k], shares);
        means[c][k] = 100 * mean(shares, count);
        if( results ) fprintf(results, "%s\t%s\t%.1f\t%.0f\t%s\t%.2f\t%.2f\t%.2f\n", schemes[i].name, corpora[c].name,
          sizes[c], speeds[c], kinds[c][k].name, means[c][k], 100*quantile(shares, count, 0.5), 100*quantile(shares, count, 1));
      }
    }
    printf("| %s | %.1f/%.1f/%.1f |", schemes[i].name, sizes[0], sizes[1], sizes[2]);
    for(k=0; k<7; k++) printf(" %.1f/%.1f/%.1f |", means[0][k], means[1][k], means[2][k]);
    printf(" %.0f/%.0f/%.0f |\n", speeds[0], speeds[1], speeds[2]);
    fflush(stdout);
  }
  if( results ) fclose(results);
  return 0;
}
