/*
** Replays inputs through a target, without libFuzzer: PROGRAM FILE ...
** A file NAME.hex holds an input a line, in hexadecimal, and comments that begin with #;
** any other file is one input.  Says how many there were; a finding ends the program.
*/
#include "fuzz.h"

enum { MAX_BYTES = 1 << 20 };

static size_t num_inputs = 0;

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

static void replay_lines(char *text, const char *path){
  unsigned line = 1;
  for(; *text; line++){
    const size_t num_chars = strcspn(text, "\n");
    if( text[num_chars]==0 ) fail("lacks its last newline", path);
    if( *text!='#' ){
      size_t i;
      uint8_t *bytes = (uint8_t*)text; /* overwritten behind what is read */
      for(i=0; i<num_chars; i+=2){
        bytes[i/2] = (uint8_t)(hex_digit(text[i], path)*16 + hex_digit(text[i+1], path));
      }
      replay(path, line, bytes, num_chars/2);
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
  return num_inputs==0;
}
