/*
** Replays inputs through a target, without libFuzzer: PROGRAM FILE ...
** A file NAME.hex holds an input a line, in hexadecimal, perhaps with a label behind it, and
** comments that begin with #.  A line can also be
**
**   draw N        so many inputs are drawn, always the same; with $BLOOM_TEST_SHARE this percentage of them
**   mangle INPUT  it, each cut of it, each bit flipped, each last byte; its first byte stays
**
** Any other file is one input.  Says how many there were; a finding ends the program.
** $FUZZ_DRAWN names a folder that gets the drawn and mangled inputs as files (keep.sh).
*/
#include "fuzz.h"

enum { MAX_BYTES = 1 << 20 };

static size_t num_inputs = 0, num_made = 0;

static void fail(const char *what, const char *path){
  fprintf(stderr, "%s: %s\n", path, what);
  exit(1);
}

static void replay(const char *path, unsigned line, const uint8_t *data, size_t num_bytes){
  uint8_t *exact = fuzz_exact(data, num_bytes);
  /* Before it runs, so that the input of a crash is known. */
  printf("%s:%u\n", path, line);
  fflush(stdout);
  LLVMFuzzerTestOneInput(exact, num_bytes);
  free(exact);
  num_inputs++;
}

static int hex_digit(char c, const char *path){
  const char *digits = "0123456789abcdef";
  const char *found = c ? strchr(digits, c) : NULL;
  if( found==NULL ) fail("is not hexadecimal", path);
  return (int)(found - digits);
}

/* SplitMix64 [Steele, Lea, Flood 2014]. */
static uint64_t draw(uint64_t *state){
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* An input that was made: replayed, or written for keep.sh. */
static void made(const char *path, unsigned number, const uint8_t *bytes, size_t num_bytes){
  const char *folder = getenv("FUZZ_DRAWN");
  char name[4096];
  FILE *file;
  if( folder==NULL ){
    replay(path, number, bytes, num_bytes);
    return;
  }
  snprintf(name, sizeof(name), "%s/drawn-%u-%lu", folder, number, (unsigned long)num_made++);
  file = fopen(name, "wb");
  if( file==NULL || fwrite(bytes, 1, num_bytes, file)!=num_bytes || fclose(file) ){
    fail("cannot be written", name);
  }
}

/* Inputs of 8 to 96 bytes. */
static void replay_drawn(unsigned num_drawn, const char *path){
  const char *share = getenv("BLOOM_TEST_SHARE");
  uint64_t state = 1;
  unsigned number;
  if( share ) num_drawn = num_drawn * (unsigned)atoi(share) / 100;
  for(number=1; number<=num_drawn; number++){
    uint8_t bytes[96 + 7];
    const size_t num_bytes = 8 + draw(&state)%89;
    size_t i;
    for(i=0; i<num_bytes; i+=8){
      const uint64_t word = draw(&state);
      memcpy(bytes + i, &word, sizeof(word));
    }
    made(path, number, bytes, num_bytes);
  }
}

static void replay_mangled(const char *path, unsigned line, const uint8_t *bytes, size_t num_bytes){
  uint8_t *mangled = fuzz_exact(bytes, num_bytes);
  size_t i;
  for(i=1; i<=num_bytes; i++) made(path, line, bytes, i);
  for(i=num_bytes-1; i>1; i--){
    memcpy(mangled + i - 1, bytes + i, num_bytes - i);
    mangled[i-1] = bytes[0];
    made(path, line, mangled + i - 1, num_bytes - i + 1);
    memcpy(mangled, bytes, num_bytes);
  }
  for(i=8; i<8*num_bytes; i++){
    mangled[i/8] ^= (uint8_t)(1 << i%8);
    made(path, line, mangled, num_bytes);
    mangled[i/8] = bytes[i/8];
  }
  for(i=0; i<256; i++){
    mangled[num_bytes-1] = (uint8_t)i;
    made(path, line, mangled, num_bytes);
  }
  free(mangled);
}

/* A line with an input, whose label may say what it is. */
static void replay_line(char *text, const char *path, unsigned line){
  const int is_mangled = strncmp(text, "mangle ", 7)==0;
  char *hex = text + (is_mangled ? 7 : 0);
  const size_t num_chars = strcspn(hex, " ");
  uint8_t *bytes = (uint8_t*)hex; /* overwritten behind what is read */
  size_t i;
  for(i=0; i<num_chars; i+=2){
    bytes[i/2] = (uint8_t)(hex_digit(hex[i], path)*16 + hex_digit(hex[i+1], path));
  }
  if( is_mangled ){
    replay_mangled(path, line, bytes, num_chars/2);
  }else{
    fuzz_label = hex[num_chars] ? hex + num_chars + 1 : NULL;
    replay(path, line, bytes, num_chars/2);
    fuzz_label = NULL;
  }
}

static void replay_lines(char *text, const char *path){
  unsigned line = 1;
  for(; *text; line++){
    const size_t num_chars = strcspn(text, "\n");
    if( text[num_chars]==0 ) fail("lacks its last newline", path);
    text[num_chars] = 0;
    if( strncmp(text, "draw ", 5)==0 ){
      replay_drawn((unsigned)atoi(text + 5), path);
    }else if( *text!='#' ){
      replay_line(text, path, line);
    }
    text += num_chars + 1;
  }
}

static void replay_file(const char *path){
  const char *suffix = strrchr(path, '.');
  FILE *file = fopen(path, "rb");
  char *data = malloc(MAX_BYTES + 1);
  size_t num_bytes;
  if( file==NULL ) fail("cannot be opened", path);
  if( data==NULL ) abort();
  num_bytes = fread(data, 1, MAX_BYTES, file);
  if( ferror(file) || fgetc(file)!=EOF ) fail("cannot be read, or is too long", path);
  fclose(file);
  data[num_bytes] = 0;
  if( suffix && strcmp(suffix, ".hex")==0 ){
    replay_lines(data, path);
  }else{
    replay(path, 1, (const uint8_t*)data, num_bytes);
  }
  free(data);
}

int main(int num_args, char **args){
  int i;
  fuzz_is_replay = 1;
  for(i=1; i<num_args; i++) replay_file(args[i]);
  printf("%lu inputs\n", (unsigned long)num_inputs);
  return num_inputs==0 && getenv("FUZZ_DRAWN")==NULL;
}
