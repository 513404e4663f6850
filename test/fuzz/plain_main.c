/*
** Replays inputs through a target, without libFuzzer: PROGRAM FILE-OR-FOLDER ...
** Says how many there were; a finding ends the program before that.
*/
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static size_t num_inputs = 0;

static void fail(const char *what, const char *path){
  fprintf(stderr, "%s: %s\n", path, what);
  exit(1);
}

static void replay_file(const char *path){
  FILE *file = fopen(path, "rb");
  uint8_t *data;
  uint8_t *exact;
  size_t num_bytes;
  const size_t max_bytes = (size_t)1 << 20;
  if( file==NULL ) fail("cannot be opened", path);
  data = malloc(max_bytes);
  if( data==NULL ) abort();
  num_bytes = fread(data, 1, max_bytes, file);
  if( ferror(file) ) fail("cannot be read", path);
  fclose(file);
  exact = fuzz_exact(data, num_bytes);
  free(data);
  /* Before it runs, so that the input of a crash is known. */
  printf("%s\n", path);
  fflush(stdout);
  LLVMFuzzerTestOneInput(exact, num_bytes);
  free(exact);
  num_inputs++;
}

static void replay(const char *path){
  struct stat status;
  DIR *folder;
  const struct dirent *entry;
  if( stat(path, &status)!=0 ) fail("is not there", path);
  if( !S_ISDIR(status.st_mode) ){
    replay_file(path);
    return;
  }
  folder = opendir(path);
  if( folder==NULL ) fail("cannot be opened", path);
  while( (entry = readdir(folder))!=NULL ){
    const size_t num_chars = strlen(path) + strlen(entry->d_name) + 2;
    char *inner;
    if( entry->d_name[0]=='.' ) continue;
    inner = malloc(num_chars);
    if( inner==NULL ) abort();
    snprintf(inner, num_chars, "%s/%s", path, entry->d_name);
    replay(inner);
    free(inner);
  }
  closedir(folder);
}

int main(int num_args, char **args){
  int i;
  fuzz_is_replay = 1;
  for(i=1; i<num_args; i++) replay(args[i]);
  printf("%lu inputs\n", (unsigned long)num_inputs);
  return num_inputs==0;
}
