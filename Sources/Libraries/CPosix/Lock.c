#define _GNU_SOURCE
#include "CPosix.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

// A futex in three states, as in Drepper's "Futexes Are Tricky". In C, so that the thread sanitizer sees the atomic
// operations.

enum { FREE, HELD, WAITED_FOR };

// The maximum number of attempts before a thread sleeps, which take about as long as a system call.
enum { ATTEMPTS = 100 };

static void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void futex(uint32_t *word, int operation, uint32_t value) {
  const int error = errno;
  syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
  errno = error;
}

int ffmount_try_lock(uint32_t *word) {
  uint32_t expected = FREE;
  return __atomic_compare_exchange_n(word, &expected, HELD, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void ffmount_lock(uint32_t *word) {
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (__atomic_load_n(word, __ATOMIC_RELAXED) == FREE && ffmount_try_lock(word)) return;
    pause_briefly();
  }
  // Also when this takes the lock: other threads may be waiting, and the unlock has to wake one.
  while (__atomic_exchange_n(word, WAITED_FOR, __ATOMIC_ACQUIRE) != FREE) futex(word, FUTEX_WAIT_PRIVATE, WAITED_FOR);
}

void ffmount_unlock(uint32_t *word) {
  if (__atomic_exchange_n(word, FREE, __ATOMIC_RELEASE) == WAITED_FOR) futex(word, FUTEX_WAKE_PRIVATE, 1);
}
