// Tells the thread sanitizer that a Swift Mutex orders the threads that wait for it. Without contention it is acquired
// by an atomic operation that is inlined into the program and instrumented; with contention by Swift's library and the
// kernel, which are not.
//
// scripts/test links it with ld's --wrap, so that each of these functions is called instead of Swift's own.

#include <stdbool.h>
#include <stdint.h>

#define METHOD(prefix, name) __asm__(prefix "$s15Synchronization12_MutexHandleV" name)
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

void __tsan_acquire(void *place);
void __tsan_release(void *place);

SWIFT void real_lock(uint32_t thread, SELF void *mutex) METHOD("__real_", "9_lockSlowyys6UInt32VF");
SWIFT bool real_try_lock(SELF void *mutex) METHOD("__real_", "12_tryLockSlowSbyF");
SWIFT void real_unlock(SELF void *mutex) METHOD("__real_", "11_unlockSlowyyF");

SWIFT void wrapped_lock(uint32_t thread, SELF void *mutex) METHOD("__wrap_", "9_lockSlowyys6UInt32VF");
SWIFT bool wrapped_try_lock(SELF void *mutex) METHOD("__wrap_", "12_tryLockSlowSbyF");
SWIFT void wrapped_unlock(SELF void *mutex) METHOD("__wrap_", "11_unlockSlowyyF");

SWIFT void wrapped_lock(uint32_t thread, SELF void *mutex) {
  real_lock(thread, mutex);
  __tsan_acquire(mutex);
}

SWIFT bool wrapped_try_lock(SELF void *mutex) {
  const bool is_locked = real_try_lock(mutex);
  if (is_locked) __tsan_acquire(mutex);
  return is_locked;
}

SWIFT void wrapped_unlock(SELF void *mutex) {
  __tsan_release(mutex);
  real_unlock(mutex);
}
