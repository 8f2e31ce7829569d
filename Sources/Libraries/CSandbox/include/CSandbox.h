#pragma once

#include <stdint.h>

// System calls without a wrapper in glibc, and the variadic prctl and syscall. Each returns -1 with errno on failure.

/// landlock(7): from now on the process and its children can open files only for reading at or below `places`, which
/// are separated by colons; missing ones are skipped. Below `workplace`, unless it is NULL, they can make and change files,
/// too. No TCP, and no abstract sockets or signals outside, if the kernel can refuse them. Returns the ABI in force, or -1
/// if the kernel lacks Landlock.
int ffconvert_landlock(const char *places, const char *workplace);
/// PR_SET_NO_NEW_PRIVS.
int ffconvert_no_new_privileges(void);
/// Whether the process has only one thread: the functions below apply to the calling thread only.
int ffconvert_is_alone(void);
/// Creates a mount namespace that contains nothing but `folders` and `libraries`, each separated by colons, read-only, and
/// an empty file `scratch`; code can be loaded from `libraries` only. Instead of a missing one of `folders` there is the
/// one of that path below `substitutes`, unless that is NULL. With `workplace`, unless it is NULL, there are also a
/// folder of that name for writing and /dev/urandom. All that is written has at most `room` bytes.
/// Returns a descriptor for writing `scratch`.
int ffconvert_empty_root(
    const char *folders, const char *substitutes, const char *libraries, const char *scratch, const char *workplace,
    int64_t room);
/// Drops all groups and capabilities, and becomes `user` if it was root; the process can no longer be inspected, and
/// ends with the thread that started it. A root whose user namespace has no other user keeps its user ID, without
/// capabilities.
int ffconvert_give_up_privileges(uint32_t user);
/// memfd_create(2).
int ffconvert_memory_file(void);
/// syscall(2).
long ffconvert_call(long number, const long *arguments);
