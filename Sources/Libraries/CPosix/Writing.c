#define _GNU_SOURCE
#include "CPosix.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

int ffmount_create(int folder, const char *name, uint64_t flags, uint64_t mode, uint64_t resolve) {
  // struct open_how of <linux/openat2.h>.
  uint64_t how[3] = {flags, mode, resolve};
  return (int)syscall(SYS_openat2, folder, name, how, sizeof how);
}

int ffmount_rename(int folder, const char *name, int new_folder, const char *new_name, unsigned flags) {
  return renameat2(folder, name, new_folder, new_name, flags);
}

int ffmount_chown(int file, uid_t owner, gid_t group) { return fchownat(file, "", owner, group, AT_EMPTY_PATH); }

int ffmount_set_times(int file, int64_t accessed, int32_t accessed_part, int64_t modified, int32_t modified_part) {
  struct timespec times[2] = {{accessed, accessed_part}, {modified, modified_part}};
  return (int)syscall(SYS_utimensat, file, "", times, AT_EMPTY_PATH);
}

ssize_t ffmount_append(int file, const void *bytes, size_t count) {
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  return pwritev2(file, &part, 1, 0, RWF_APPEND);
}

int ffmount_allocate(int file, int mode, off_t offset, off_t count) { return fallocate(file, mode, offset, count); }

ssize_t ffmount_copy(int from, off_t from_offset, int to, off_t to_offset, size_t count) {
  return copy_file_range(from, &from_offset, to, &to_offset, count, 0);
}

int ffmount_clone(int from, int to) { return ioctl(to, FICLONE, from); }

int ffmount_set_attribute(const char *path, const char *name, const void *value, size_t count, int flags) {
  return setxattr(path, name, value, count, flags);
}

int ffmount_remove_attribute(const char *path, const char *name) { return removexattr(path, name); }

int ffmount_set_lock(int file, short type, off_t start, off_t count) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = count};
  return fcntl(file, F_OFD_SETLK, &lock);
}

int ffmount_get_lock(int file, short *type, off_t *start, off_t *count, pid_t *process) {
  struct flock lock = {.l_type = *type, .l_whence = SEEK_SET, .l_start = *start, .l_len = *count};
  if (fcntl(file, F_OFD_GETLK, &lock) != 0) return -1;
  *type = lock.l_type;
  *start = lock.l_start;
  *count = lock.l_len;
  *process = lock.l_pid;
  return 0;
}

int ffmount_flock(int file, int operation) { return flock(file, operation); }

// capset(2) has no wrapper in glibc; it changes the calling thread alone.
static void use_capabilities(uint32_t but) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct sets[2] = {0};
  if (syscall(SYS_capget, &header, sets) != 0) return;
  sets[0].effective = sets[0].permitted & ~but;
  sets[1].effective = sets[1].permitted;
  syscall(SYS_capset, &header, sets);
}

void ffmount_act_as(uid_t user, gid_t group) {
  int error = errno;
  setfsgid(group);
  setfsuid(user);
  use_capabilities(0);
  errno = error;
}

void ffmount_act_as_oneself(void) {
  int error = errno;
  setfsuid(geteuid());
  setfsgid(getegid());
  use_capabilities(0);
  errno = error;
}

void ffmount_clear_set_ids(int clears) {
  int error = errno;
  use_capabilities(clears ? 1u << CAP_FSETID : 0);
  errno = error;
}

int ffmount_lend_file(int wire, int file) {
  // struct fuse_backing_map and FUSE_DEV_IOC_BACKING_OPEN of <linux/fuse.h> since Linux 6.9.
  struct {
    int32_t file;
    uint32_t flags;
    uint64_t padding;
  } map = {.file = file};
  return ioctl(wire, _IOW(229, 1, map), &map);
}

void ffmount_take_back_file(int wire, int lent) {
  // FUSE_DEV_IOC_BACKING_CLOSE.
  uint32_t id = (uint32_t)lent;
  ioctl(wire, _IOW(229, 2, id), &id);
}
