#define _GNU_SOURCE
#include "CPosix.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <syslog.h>
#include <unistd.h>

int ffmount_openat2(int folder, const char *path, uint64_t flags, uint64_t resolve) {
  struct open_how how = {.flags = flags, .resolve = resolve};
  return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

ssize_t ffmount_getdents64(int folder, void *buffer, size_t count) { return getdents64(folder, buffer, count); }

ssize_t ffmount_lgetxattr(const char *path, const char *name, void *value, size_t count) {
  return lgetxattr(path, name, value, count);
}

ssize_t ffmount_llistxattr(const char *path, char *list, size_t count) { return llistxattr(path, list, count); }

pid_t ffmount_fork(void) { return fork(); }

void ffmount_limit_arenas(int count) { mallopt(M_ARENA_MAX, count); }

void ffmount_syslog(int priority, const char *line) { syslog(priority, "%s", line); }

void ffmount_openlog(const char *name) { openlog(name, LOG_PID, LOG_DAEMON); }

void ffmount_format(char *buffer, size_t count, const char *format, va_list arguments) {
  vsnprintf(buffer, count, format, arguments);
}

const int ffmount_O_PATH = O_PATH, ffmount_O_NOATIME = O_NOATIME, ffmount_O_TMPFILE = O_TMPFILE;
const uint64_t ffmount_RESOLVE_BENEATH = RESOLVE_BENEATH, ffmount_RESOLVE_NO_SYMLINKS = RESOLVE_NO_SYMLINKS,
               ffmount_RESOLVE_NO_MAGICLINKS = RESOLVE_NO_MAGICLINKS;
