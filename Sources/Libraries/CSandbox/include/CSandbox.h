#pragma once

#include <stdint.h>

// System calls without a wrapper in glibc, and prctl and syscall, which are variadic. Each returns -1 with errno on failure.

/// landlock(7): from now on the process, and what it starts, opens nothing but for reading at or below `places`, which
/// a colon parts; those that do not exist are passed over. No TCP, and no abstract sockets or signals outside, where the kernel can refuse them.
/// Returns the ABI that is in force, or -1 where the kernel has no Landlock.
int ffconvert_landlock(const char *places);
/// PR_SET_NO_NEW_PRIVS.
int ffconvert_no_new_privileges(void);
/// Whether the process has one thread: what follows is for the calling thread alone.
int ffconvert_is_alone(void);
/// Makes a mount namespace, and leaves in it nothing but `folders`, which a colon parts, read-only, and an empty file `scratch`
/// that holds `room` bytes at most. Returns a descriptor to write that file by.
int ffconvert_empty_root(const char *folders, const char *scratch, int64_t room);
/// Gives up all groups and capabilities, and becomes `user` if it was root; nobody may look into the process any more, and it
/// ends with the thread that started it. A root that is no other user's in its user namespace stays what it is called, without a capability.
int ffconvert_give_up_privileges(uint32_t user);
/// memfd_create(2).
int ffconvert_memory_file(void);
/// syscall(2).
long ffconvert_call(long number, const long *arguments);
