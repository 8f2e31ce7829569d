#pragma once

// System calls without a wrapper in glibc, and prctl, which is variadic. Each returns -1 with errno on failure.

/// landlock(7): from now on the process, and what it starts, opens nothing but for reading below `folders`, which
/// a colon parts; those that do not exist are passed over. No TCP, and no abstract sockets or signals outside, where the kernel can refuse them.
/// Returns the ABI that is in force, or -1 where the kernel has no Landlock.
int ffconvert_landlock(const char *folders);
/// PR_SET_NO_NEW_PRIVS.
int ffconvert_no_new_privileges(void);
