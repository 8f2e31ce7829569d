#pragma once

#include <stdarg.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What Swift's Glibc module leaves out, because it is Linux only, variadic, a macro, or marked unavailable.
// Each returns what the call returns and leaves errno alone.

/// openat2(2): glibc has no wrapper; `syscall` is variadic.
int ffmount_openat2(int folder, const char *path, uint64_t flags, uint64_t resolve);
/// getdents64(2): hidden behind _GNU_SOURCE.
ssize_t ffmount_getdents64(int folder, void *buffer, size_t count);
/// xattr(7), not following a link in the last component: <sys/xattr.h> is not in Swift's Glibc.
ssize_t ffmount_lgetxattr(const char *path, const char *name, void *value, size_t count);
ssize_t ffmount_llistxattr(const char *path, char *list, size_t count);
/// fork(2): unavailable in Swift. Called once, before any second thread exists.
pid_t ffmount_fork(void);
/// posix_spawn_file_actions_addclosefrom_np(3) and memfd_create(2), closed on exec: hidden behind _GNU_SOURCE.
int ffmount_spawn_close_from(posix_spawn_file_actions_t *actions, int first);
int ffmount_memfd(const char *name);
/// mallopt(3) is in no header of Swift's Glibc: at most so many malloc arenas, each of which keeps what it once had.
void ffmount_limit_arenas(int count);
/// memfd_create(2), hidden behind _GNU_SOURCE: a file that is in memory only.
int ffmount_memory_file(void);
/// mallinfo2(3), how many bytes are allocated, and malloc_trim(3), which gives back what is not: as before.
size_t ffmount_heap(void);
void ffmount_trim_heap(void);
/// gettid(2): hidden behind _GNU_SOURCE.
pid_t ffmount_thread(void);
/// syslog(3) is variadic.
void ffmount_syslog(int priority, const char *line);
void ffmount_openlog(const char *name);
/// Calls `line` with each message that libfuse logs: a va_list cannot be read from Swift.
void ffmount_format(char *buffer, size_t count, const char *format, va_list arguments);
/// sendmsg(2) with SCM_RIGHTS, whose buffer is laid out by macros: one message and at most FFMOUNT_MOST_DESCRIPTORS open
/// descriptors. A closed socket is EPIPE, never SIGPIPE.
ssize_t ffmount_send(int socket, const void *message, size_t count, const int *descriptors, size_t descriptor_count);
/// recvmsg(2), its counterpart: `descriptors` has room for FFMOUNT_MOST_DESCRIPTORS; those that came are closed on exec.
/// Returns 0 at the end of the socket.
ssize_t ffmount_receive(int socket, void *message, size_t count, int *descriptors, size_t *descriptor_count);
enum { FFMOUNT_MOST_DESCRIPTORS = 4 };
/// <sys/sysmacros.h> and <fcntl.h> macros and values hidden behind _GNU_SOURCE.
extern const int ffmount_O_PATH, ffmount_O_NOATIME, ffmount_O_TMPFILE;
extern const uint64_t ffmount_RESOLVE_BENEATH, ffmount_RESOLVE_NO_SYMLINKS, ffmount_RESOLVE_NO_MAGICLINKS;
