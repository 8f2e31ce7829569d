// failing RULES FOLDER MOUNTPOINT [OPTIONS]: a file system that shows FOLDER and fails as the file RULES says, which is read with
// each operation. Its lines are `OPERATION ERRNO PERCENT`: so many of these operations fail, before they do anything; OPERATION is
// a name below, or `any`. A `write` whose ERRNO is 0 writes the first half only.
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *rules, *base;
static atomic_uint chance = 1;

/// The errno that an operation fails with now: -1 without a rule for it.
static int rule(const char *operation) {
  FILE *file = fopen(rules, "re");
  if (!file) return -1;
  char name[32];
  int number, percent, found = -1;
  while (found < 0 && fscanf(file, "%31s %d %d", name, &number, &percent) == 3) {
    unsigned value = atomic_fetch_add(&chance, 1) * 2654435761u >> 8;
    if ((!strcmp(name, operation) || !strcmp(name, "any")) && (int)(value % 100) < percent) found = number;
  }
  fclose(file);
  return found;
}

#define FAIL(operation)                       \
  do {                                        \
    int number = rule(operation);             \
    if (number > 0) return -number;           \
  } while (0)
#define DONE(call) return (call) < 0 ? -errno : 0
/// A path below FOLDER; `path` is from the root.
#define AT(path, full)                        \
  char full[4200];                            \
  snprintf(full, sizeof full, "%s%s", base, path)

static int get_state(const char *path, struct stat *state, struct fuse_file_info *file) {
  FAIL("getattr");
  if (file) DONE(fstat((int)file->fh, state));
  AT(path, full);
  DONE(lstat(full, state));
}
static int read_link(const char *path, char *text, size_t size) {
  FAIL("readlink");
  AT(path, full);
  ssize_t count = readlink(full, text, size - 1);
  if (count < 0) return -errno;
  text[count] = 0;
  return 0;
}
static int make_node(const char *path, mode_t mode, dev_t device) { FAIL("mknod"); AT(path, full); DONE(mknod(full, mode, device)); }
static int make_folder(const char *path, mode_t mode) { FAIL("mkdir"); AT(path, full); DONE(mkdir(full, mode)); }
static int remove_file(const char *path) { FAIL("unlink"); AT(path, full); DONE(unlink(full)); }
static int remove_folder(const char *path) { FAIL("rmdir"); AT(path, full); DONE(rmdir(full)); }
static int make_link(const char *text, const char *path) { FAIL("symlink"); AT(path, full); DONE(symlink(text, full)); }
static int move(const char *path, const char *other, unsigned flags) {
  FAIL("rename");
  AT(path, full);
  AT(other, new);
  DONE(renameat2(AT_FDCWD, full, AT_FDCWD, new, flags));
}
static int make_name(const char *path, const char *other) { FAIL("link"); AT(path, full); AT(other, new); DONE(link(full, new)); }
static int set_mode(const char *path, mode_t mode, struct fuse_file_info *file) {
  FAIL("chmod");
  AT(path, full);
  DONE(file ? fchmod((int)file->fh, mode) : chmod(full, mode));
}
static int set_owner(const char *path, uid_t user, gid_t group, struct fuse_file_info *file) {
  FAIL("chown");
  AT(path, full);
  DONE(file ? fchown((int)file->fh, user, group) : lchown(full, user, group));
}
static int set_size(const char *path, off_t size, struct fuse_file_info *file) {
  FAIL("truncate");
  AT(path, full);
  DONE(file ? ftruncate((int)file->fh, size) : truncate(full, size));
}
static int set_times(const char *path, const struct timespec times[2], struct fuse_file_info *file) {
  FAIL("utimens");
  AT(path, full);
  DONE(file ? futimens((int)file->fh, times) : utimensat(AT_FDCWD, full, times, AT_SYMLINK_NOFOLLOW));
}
static int open_file(const char *path, struct fuse_file_info *file) {
  FAIL("open");
  AT(path, full);
  int number = open(full, (file->flags & ~O_NOFOLLOW) | O_CLOEXEC);
  if (number < 0) return -errno;
  file->fh = (uint64_t)number;
  return 0;
}
static int make_file(const char *path, mode_t mode, struct fuse_file_info *file) {
  FAIL("create");
  AT(path, full);
  int number = open(full, file->flags | O_CLOEXEC, mode);
  if (number < 0) return -errno;
  file->fh = (uint64_t)number;
  return 0;
}
static int read_file(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
  FAIL("read");
  ssize_t count = pread((int)file->fh, bytes, size, offset);
  return count < 0 ? -errno : (int)count;
}
static int write_file(const char *path, const char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
  int number = rule("write");
  if (number > 0) return -number;
  ssize_t count = pwrite((int)file->fh, bytes, number == 0 ? (size + 1) / 2 : size, offset);
  return count < 0 ? -errno : (int)count;
}
static int say_state(const char *path, struct statvfs *state) { FAIL("statfs"); DONE(statvfs(base, state)); }
static int flush_file(const char *path, struct fuse_file_info *file) { FAIL("flush"); DONE(close(dup((int)file->fh))); }
static int release_file(const char *path, struct fuse_file_info *file) { DONE(close((int)file->fh)); }
static int sync_file(const char *path, int data, struct fuse_file_info *file) {
  FAIL("fsync");
  DONE(data ? fdatasync((int)file->fh) : fsync((int)file->fh));
}
static int sync_folder(const char *path, int data, struct fuse_file_info *file) { FAIL("fsyncdir"); return 0; }
static int set_attribute(const char *path, const char *key, const char *value, size_t size, int flags) {
  FAIL("setxattr");
  AT(path, full);
  DONE(lsetxattr(full, key, value, size, flags));
}
static int get_attribute(const char *path, const char *key, char *value, size_t size) {
  FAIL("getxattr");
  AT(path, full);
  ssize_t count = lgetxattr(full, key, value, size);
  return count < 0 ? -errno : (int)count;
}
static int list_attributes(const char *path, char *list, size_t size) {
  FAIL("listxattr");
  AT(path, full);
  ssize_t count = llistxattr(full, list, size);
  return count < 0 ? -errno : (int)count;
}
static int remove_attribute(const char *path, const char *key) {
  FAIL("removexattr");
  AT(path, full);
  DONE(lremovexattr(full, key));
}
static int read_folder(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *file,
                       enum fuse_readdir_flags flags) {
  FAIL("readdir");
  AT(path, full);
  DIR *folder = opendir(full);
  if (!folder) return -errno;
  for (struct dirent *entry; (entry = readdir(folder));) {
    struct stat state = {.st_ino = entry->d_ino, .st_mode = DTTOIF(entry->d_type)};
    if (fill(buffer, entry->d_name, &state, 0, 0)) break;
  }
  closedir(folder);
  return 0;
}
static int allocate(const char *path, int mode, off_t offset, off_t length, struct fuse_file_info *file) {
  FAIL("fallocate");
  DONE(fallocate((int)file->fh, mode, offset, length));
}
static ssize_t copy(const char *path, struct fuse_file_info *file, off_t offset, const char *other, struct fuse_file_info *to,
                    off_t place, size_t size, int flags) {
  FAIL("copy_file_range");
  ssize_t count = copy_file_range((int)file->fh, &offset, (int)to->fh, &place, size, 0);
  return count < 0 ? -errno : count;
}
static void *begin(struct fuse_conn_info *connection, struct fuse_config *settings) {
  settings->use_ino = 1;
  settings->hard_remove = 1;
  settings->nullpath_ok = 0;
  settings->entry_timeout = settings->attr_timeout = settings->negative_timeout = 0;
  return NULL;
}

static const struct fuse_operations operations = {
  .init = begin, .getattr = get_state, .readlink = read_link, .mknod = make_node, .mkdir = make_folder, .unlink = remove_file,
  .rmdir = remove_folder, .symlink = make_link, .rename = move, .link = make_name, .chmod = set_mode, .chown = set_owner,
  .truncate = set_size, .open = open_file, .read = read_file, .write = write_file, .statfs = say_state, .flush = flush_file,
  .release = release_file, .fsync = sync_file, .setxattr = set_attribute, .getxattr = get_attribute, .listxattr = list_attributes,
  .removexattr = remove_attribute, .readdir = read_folder, .fsyncdir = sync_folder, .create = make_file, .utimens = set_times,
  .fallocate = allocate, .copy_file_range = copy,
};

int main(int count, char **words) {
  if (count < 4) return 64;
  rules = words[1];
  base = words[2];
  umask(0);
  words[2] = words[0];
  return fuse_main(count - 2, words + 2, &operations, NULL);
}
