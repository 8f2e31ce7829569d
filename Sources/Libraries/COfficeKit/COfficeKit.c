#define _GNU_SOURCE
#include "COfficeKit.h"

#include <LibreOfficeKit/LibreOfficeKitInit.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *library;

int ffmount_office_load(const char *folder) {
  char *path = NULL;
  library = lok_dlopen(folder, &path);
  free(path);
  return library ? 0 : -1;
}

LibreOfficeKit *ffmount_office_start(const char *folder, const char *profile) {
  LokHookFunction2 *start = library ? (LokHookFunction2 *)lok_dlsym(library, "libreofficekit_hook_2") : NULL;
  return start ? start(folder, profile) : NULL;
}

static int64_t time_of_day = -1;

void ffmount_office_set_time(int64_t seconds) { time_of_day = seconds; }

int clock_gettime(clockid_t clock, struct timespec *result) {
  static int (*others)(clockid_t, struct timespec *);
  if (time_of_day >= 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    *result = (struct timespec){.tv_sec = time_of_day};
    return 0;
  }
  // Two threads may do this at once, with one result.
  int (*call)(clockid_t, struct timespec *) = __atomic_load_n(&others, __ATOMIC_RELAXED);
  if (!call) {
    *(void **)&call = dlsym(RTLD_NEXT, "clock_gettime");
    __atomic_store_n(&others, call, __ATOMIC_RELAXED);
  }
  return call ? call(clock, result) : (int)syscall(SYS_clock_gettime, clock, result);
}

int rtl_random_getBytes(void *pool, void *buffer, size_t count);

// A step of SplitMix64 for each byte; its state is one for all threads.
int rtl_random_getBytes(void *pool, void *buffer, size_t count) {
  static uint64_t state = 0;
  (void)pool;
  for (size_t index = 0; index < count; index++) {
    uint64_t mixed = __atomic_add_fetch(&state, 0x9E3779B97F4A7C15, __ATOMIC_RELAXED);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    ((unsigned char *)buffer)[index] = (unsigned char)(mixed >> 56);
  }
  return 0;
}

time_t time(time_t *result) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
