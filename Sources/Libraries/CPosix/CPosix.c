#define _GNU_SOURCE
#include "CPosix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <syslog.h>
#include <time.h>
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

ssize_t ffmount_fgetxattr(int file, const char *name, void *value, size_t count) {
  return fgetxattr(file, name, value, count);
}

ssize_t ffmount_flistxattr(int file, char *list, size_t count) { return flistxattr(file, list, count); }

int ffmount_refresh_size(int folder, const char *path) {
  struct statx status;
  int flags = AT_STATX_FORCE_SYNC | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  return statx(folder, path, flags, STATX_SIZE, &status);
}

static struct timespec timespec_of(struct statx_timestamp time) {
  return (struct timespec){.tv_sec = time.tv_sec, .tv_nsec = time.tv_nsec};
}

int ffmount_status(int folder, const char *name, void *status, int64_t *seconds, int32_t *nanoseconds) {
  struct statx found;
  int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name == NULL ? AT_EMPTY_PATH : 0);
  if (statx(folder, name == NULL ? "" : name, flags, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) return -1;
  *(struct stat *)status = (struct stat){
      .st_dev = makedev(found.stx_dev_major, found.stx_dev_minor),
      .st_ino = found.stx_ino,
      .st_mode = found.stx_mode,
      .st_nlink = found.stx_nlink,
      .st_uid = found.stx_uid,
      .st_gid = found.stx_gid,
      .st_rdev = makedev(found.stx_rdev_major, found.stx_rdev_minor),
      .st_size = (off_t)found.stx_size,
      .st_blksize = found.stx_blksize,
      .st_blocks = (blkcnt_t)found.stx_blocks,
      .st_atim = timespec_of(found.stx_atime),
      .st_mtim = timespec_of(found.stx_mtime),
      .st_ctim = timespec_of(found.stx_ctime),
  };
  *seconds = found.stx_btime.tv_sec;
  *nanoseconds = found.stx_mask & STATX_BTIME ? (int32_t)found.stx_btime.tv_nsec : -1;
  return found.stx_attributes & STATX_ATTR_APPEND ? 1 : 0;
}

int ffmount_may_hold_folders(int folder, const char *name, unsigned count) {
  struct statx status;
  int flags = AT_STATX_DONT_SYNC | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  int error = errno;
  int failed = statx(folder, name, flags, STATX_TYPE | STATX_NLINK, &status) != 0;
  errno = error;
  return !failed && S_ISDIR(status.stx_mode) && !(status.stx_attributes & STATX_ATTR_MOUNT_ROOT) &&
         (status.stx_nlink < 2 || status.stx_nlink >= 2 + count);
}

pid_t ffmount_fork(void) { return fork(); }

struct ffmount_child {
  void (*body)(void *);
  void *context;
  sigset_t signals;
};

static void *ffmount_run_child(void *given) {
  const struct ffmount_child *child = given;
  pthread_sigmask(SIG_SETMASK, &child->signals, NULL);
  child->body(child->context);
  return NULL;
}

pid_t ffmount_fork_into_thread(void (*body)(void *), void *context) {
  pid_t process = fork();
  if (process != 0) return process;
  struct ffmount_child child = {.body = body, .context = context};
  sigset_t all;
  pthread_t thread;
  sigfillset(&all);
  // Signals are for the other threads.
  pthread_sigmask(SIG_SETMASK, &all, &child.signals);
  if (pthread_create(&thread, NULL, ffmount_run_child, &child) == 0) pthread_join(thread, NULL);
  _exit(1);
}

uint64_t ffmount_processor_time(pid_t process) {
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int ffmount_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int ffmount_memfd(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

void ffmount_limit_arenas(int count) { mallopt(M_ARENA_MAX, count); }

void ffmount_map_from(int size) {
  mallopt(M_MMAP_THRESHOLD, size);
  // Setting one disables the dynamic adjustment of both; this is the value that malloc would have chosen.
  mallopt(M_TRIM_THRESHOLD, 2 * size);
}

pid_t ffmount_thread(void) { return gettid(); }

size_t ffmount_heap(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void ffmount_trim_heap(void) { malloc_trim(0); }

static int release_pages(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size;
  const uintptr_t page = sysconf(_SC_PAGESIZE);
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
    // Without pages that a writable segment may share.
    uintptr_t start = (object->dlpi_addr + segment->p_vaddr + page - 1) / page * page;
    uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) / page * page;
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void ffmount_release_program_pages(void) { dl_iterate_phdr(release_pages, NULL); }

void ffmount_syslog(int priority, const char *line) { syslog(priority, "%s", line); }

void ffmount_openlog(const char *name) { openlog(name, LOG_PID, LOG_DAEMON); }

void ffmount_format(char *buffer, size_t count, const char *format, va_list arguments) {
  vsnprintf(buffer, count, format, arguments);
}

const int ffmount_O_PATH = O_PATH, ffmount_O_NOATIME = O_NOATIME, ffmount_O_TMPFILE = O_TMPFILE;
const uint64_t ffmount_RESOLVE_BENEATH = RESOLVE_BENEATH, ffmount_RESOLVE_NO_SYMLINKS = RESOLVE_NO_SYMLINKS,
               ffmount_RESOLVE_NO_MAGICLINKS = RESOLVE_NO_MAGICLINKS;

// A buffer for the descriptors of one message, aligned for its header.
union rights {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(FFMOUNT_MOST_DESCRIPTORS * sizeof(int))];
};

ssize_t ffmount_send(int socket, const void *message, size_t count, const int *descriptors, size_t descriptor_count) {
  if (descriptor_count > FFMOUNT_MOST_DESCRIPTORS) {
    errno = EINVAL;
    return -1;
  }
  union rights rights = {0};
  struct iovec bytes = {.iov_base = (void *)message, .iov_len = count};
  struct msghdr header = {.msg_iov = &bytes, .msg_iovlen = 1};
  if (descriptor_count > 0) {
    header.msg_control = &rights;
    header.msg_controllen = CMSG_SPACE(descriptor_count * sizeof(int));
    struct cmsghdr *control = CMSG_FIRSTHDR(&header);
    *control = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(descriptor_count * sizeof(int))};
    memcpy(CMSG_DATA(control), descriptors, descriptor_count * sizeof(int));
  }
  return sendmsg(socket, &header, MSG_NOSIGNAL);
}

ssize_t ffmount_receive(int socket, void *message, size_t count, int *descriptors, size_t *descriptor_count) {
  *descriptor_count = 0;
  union rights rights;
  struct iovec bytes = {.iov_base = message, .iov_len = count};
  struct msghdr header = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
  ssize_t received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  if (received < 0) return received;
  for (struct cmsghdr *control = CMSG_FIRSTHDR(&header); control; control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    *descriptor_count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(descriptors, CMSG_DATA(control), *descriptor_count * sizeof(int));
  }
  return received;
}

int ffmount_lock_byte(int file, int64_t place) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
    while (fcntl(file, F_OFD_SETLK, &lock) != 0)
        if (errno != EINTR) return errno;
    return 0;
}

uint32_t ffmount_file_system(int file) {
    struct statfs status;
    return fstatfs(file, &status) == 0 ? (uint32_t)status.f_type : 0;
}
