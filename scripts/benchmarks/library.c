// What a C program does beside `librarybench`: `library chunks|list PATH ROUNDS` prints the nanoseconds of each round, and what
// was counted in it.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long long chunks(const char *path) {
  static char buffer[512 << 10];
  long long count = 0;
  ssize_t got;
  int file = open(path, O_RDONLY);
  while ((got = read(file, buffer, sizeof buffer)) > 0) count += got;
  close(file);
  return count;
}

static long long list(const char *path) {
  long long size = 0;
  DIR *folder = opendir(path);
  struct dirent *entry;
  struct stat status;
  while (folder && (entry = readdir(folder))) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) size += status.st_size;
  }
  closedir(folder);
  return size;
}

int main(int count, char **words) {
  if (count < 4) return 64;
  for (int round = 0; round < atoi(words[3]); round++) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    long long counted = strcmp(words[1], "chunks") == 0 ? chunks(words[2]) : list(words[2]);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%lld %lld\n", (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec, counted);
  }
}
