/*
** Shows: a BloomFile tested without SQLite.  The file of 32 sets, written by SQL, is mapped
** into memory; each key on a line of standard input is asked for all 32 at once, by the AND
** of a few units, as a server would for each request.  Only what is touched is read.
**
**     which_logs FILE <KEYS
**
** Prints a line for each key: it, and the numbers of the sets that may hold it.  The format
** is in ext/FORMATS.md, "BloomFile".  which_logs.sh builds and runs this.
*/
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define HEADER_BYTES 32
#define UNIT_BYTES   4

/* Little-endian numbers, on any machine. */
static uint32_t load32(const unsigned char *p){
  return (uint32_t)p[0] | (uint32_t)p[1]<<8 | (uint32_t)p[2]<<16 | (uint32_t)p[3]<<24;
}

static uint64_t load64(const unsigned char *p){
  return load32(p) | (uint64_t)load32(p + 4) << 32;
}

typedef struct bloom_file {
  const unsigned char *units;
  uint64_t num_units;
  uint32_t num_probes;
} bloom_file;

/* 0 if the bytes are no BloomFile of 32 sets. */
static int read_header(const unsigned char *bytes, size_t num_bytes, bloom_file *file){
  if( num_bytes<=HEADER_BYTES || load32(bytes)!=0xfa9734ed || load32(bytes + 4)!=0x0100 ) return 0;
  file->units = bytes + HEADER_BYTES;
  file->num_units = load64(bytes + 8);
  file->num_probes = load32(bytes + 16);
  return load32(bytes + 20)==UNIT_BYTES && load64(bytes + 24)==0
      && file->num_probes>=1 && file->num_probes<=100
      && (num_bytes - HEADER_BYTES)%UNIT_BYTES==0 && file->num_units==(num_bytes - HEADER_BYTES)/UNIT_BYTES;
}

/* The sets that may hold the key, a bit each. */
static uint32_t sets_of(const bloom_file *file, const char *key, size_t num_bytes){
  uint64_t probe = XXH64(key, num_bytes, 0);
  const uint64_t delta = probe >> 33 | probe << 31;
  uint32_t sets = UINT32_MAX;
  uint32_t i;
  for(i=0; i<file->num_probes && sets; i++, probe+=delta){
    sets &= load32(file->units + probe % file->num_units * UNIT_BYTES);
  }
  return sets;
}

int main(int num_args, char **args){
  char line[4096];
  struct stat status;
  bloom_file file;
  void *bytes;
  const int fd = num_args==2 ? open(args[1], O_RDONLY) : -1;
  if( fd<0 || fstat(fd, &status)!=0 ){
    fprintf(stderr, "usage: which_logs FILE <KEYS\n");
    return 2;
  }
  bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if( bytes==MAP_FAILED || !read_header(bytes, (size_t)status.st_size, &file) ){
    fprintf(stderr, "%s is no BloomFile of 32 sets\n", args[1]);
    return 1;
  }
  while( fgets(line, sizeof(line), stdin) ){
    const size_t num_bytes = strcspn(line, "\n");
    uint32_t sets = sets_of(&file, line, num_bytes);
    int set;
    printf("%.*s", (int)num_bytes, line);
    for(set=0; sets; set++, sets>>=1){
      if( sets & 1 ) printf(" %d", set);
    }
    printf("\n");
  }
  munmap(bytes, (size_t)status.st_size);
  return 0;
}
