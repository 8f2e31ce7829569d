#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// As in <linux/mount.h>, which conflicts with <sys/mount.h> in some versions.
struct attributes {
  uint64_t set, cleared, propagation, user_namespace;
};
enum { READ_ONLY = 1, NO_SUID = 2, NO_DEVICES = 4, NO_PROGRAMS = 8, RECURSIVE = 0x8000 };

// Creates `path` with its parent folders.
static void make_folders(char *path) {
  for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    mkdir(path, 0755);
    *slash = '/';
  }
  mkdir(path, 0755);
}

static int is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// Bind-mounts a folder, or its substitute, if one exists, read-only into the new root; `blocked` are attributes besides
// that.
static int take_along(const char *root, const char *folder, const char *substitutes, uint64_t blocked) {
  char substitute[PATH_MAX];
  const char *source = folder;
  if (!is_folder(source)) {
    if (!substitutes) return 0;
    if (snprintf(substitute, sizeof substitute, "%s%s", substitutes, folder) >= (int)sizeof substitute) return 0;
    source = substitute;
    if (!is_folder(source)) return 0;
  }
  char target[PATH_MAX];
  if (snprintf(target, sizeof target, "%s%s", root, folder) >= (int)sizeof target) return -1;
  make_folders(target);
  if (mount(source, target, NULL, MS_BIND | MS_REC, NULL) < 0) return -1;
  struct attributes attributes = {.set = READ_ONLY | NO_SUID | NO_DEVICES | blocked};
  return (int)syscall(SYS_mount_setattr, AT_FDCWD, target, RECURSIVE, &attributes, sizeof attributes);
}

// Bind-mounts each of several folders, separated by colons.
static int take_all(const char *root, const char *folders, const char *substitutes, uint64_t blocked) {
  for (const char *end; *folders; folders = *end ? end + 1 : end) {
    end = strchrnul(folders, ':');
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(end - folders), folders);
    if (take_along(root, folder, substitutes, blocked) < 0) return -1;
  }
  return 0;
}

// Makes, in the current folder, a folder that anybody may write in, and the device that libraries take random numbers from.
static int make_workplace(const char *folder) {
  if (mkdir(folder, 0700) < 0 || chmod(folder, 0777) < 0 || mkdir("dev", 0755) < 0) return -1;
  int file = open("dev/urandom", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (file < 0) return -1;
  close(file);
  if (mount("/dev/urandom", "dev/urandom", NULL, MS_BIND, NULL) < 0) return -1;
  struct attributes attributes = {.set = READ_ONLY | NO_SUID | NO_PROGRAMS};
  return (int)syscall(SYS_mount_setattr, AT_FDCWD, "dev/urandom", 0, &attributes, sizeof attributes);
}

// Whether the root is a mount that pivot_root can replace.
static int can_move_root(void) {
  struct statx status;
  if (statx(AT_FDCWD, "/", 0, 0, &status) < 0 || !(status.stx_attributes & STATX_ATTR_MOUNT_ROOT)) return 0;
  // The kernel's initial root cannot be moved.
  FILE *mounts = fopen("/proc/self/mountinfo", "re");
  if (!mounts) return 0;
  char line[PATH_MAX];
  int is_first = 0;
  while (!is_first && fgets(line, sizeof line, mounts)) is_first = strstr(line, " - rootfs ") != NULL;
  fclose(mounts);
  return !is_first;
}

// Whether one of several paths, separated by colons, is below a folder. `paths` may be NULL.
static int has_path_below(const char *paths, const char *folder) {
  size_t length = strlen(folder);
  for (const char *path = paths; path && *path; path = strchrnul(path, ':'), path += *path == ':')
    if (strncmp(path, folder, length) == 0 && path[length] == '/') return 1;
  return 0;
}

int ffconvert_empty_root(
    const char *folders, const char *substitutes, const char *libraries, const char *scratch, const char *workplace,
    int64_t room) {
  // Any folder that every system has and that hides nothing that is taken along: covered by the new root until that
  // becomes the root.
  static const char *const places[] = {"/tmp", "/mnt", "/proc"};
  if (!can_move_root() || unshare(CLONE_NEWNS) < 0) return -1;
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) return -1;
  char options[64];
  snprintf(options, sizeof options, "mode=755,nr_inodes=%d,size=%lld", workplace ? 8192 : 256, (long long)room);
  const char *root = NULL;
  for (size_t index = 0; !root && index < sizeof places / sizeof *places; index++) {
    const char *place = places[index];
    if (has_path_below(substitutes, place) || has_path_below(libraries, place)) continue;
    if (mount("none", place, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0) root = place;
  }
  if (!root) return -1;
  if (take_all(root, folders, substitutes, NO_PROGRAMS) < 0 || take_all(root, libraries, NULL, 0) < 0) return -1;
  if (chdir(root) < 0 || (workplace && make_workplace(workplace + 1) < 0)) return -1;
  int file = open(scratch + 1, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
  if (file < 0) return -1;
  // Stacks the old root on top of the new one, at the current folder.
  if (chmod(".", 0555) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 &&
      chdir("/") == 0)
    return file;
  close(file);
  return -1;
}
