#define _GNU_SOURCE
#include "CSandbox.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// As in <linux/landlock.h> of ABI 6: the system's header may be older than the kernel.
struct ruleset {
  uint64_t files, network, scopes;
};
struct __attribute__((packed)) beneath {
  uint64_t allowed;
  int32_t place;
};
enum { VERSION_FLAG = 1, PATH_BENEATH = 1, READ_FILE = 1 << 2, READ_FOLDER = 1 << 3 };
// Running programs, making devices, sockets and fifos, and ioctl(2) on devices.
enum { NEVER = 1 | 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 15 };

static void allow(int ruleset, const char *path, uint64_t rights) {
  struct beneath rule = {.allowed = rights, .place = open(path, O_PATH | O_CLOEXEC)};
  if (rule.place < 0) return;
  syscall(SYS_landlock_add_rule, ruleset, PATH_BENEATH, &rule, 0);
  close(rule.place);
}

int ffconvert_landlock(const char *places, const char *workplace) {
  int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION_FLAG);
  if (version < 1) return -1;
  // The number of access rights of each ABI: 2 added refer, 3 truncate, 5 ioctl.
  int rights = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
  struct ruleset all = {
      .files = (1u << rights) - 1, .network = version >= 4 ? 3 : 0, .scopes = version >= 6 ? 3 : 0};
  size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
  if (ruleset < 0) return -1;
  for (const char *end; *places; places = *end ? end + 1 : end) {
    end = strchrnul(places, ':');
    char place[PATH_MAX];
    snprintf(place, sizeof place, "%.*s", (int)(end - places), places);
    struct stat status;
    int is_folder = stat(place, &status) == 0 && S_ISDIR(status.st_mode);
    allow(ruleset, place, is_folder ? READ_FILE | READ_FOLDER : READ_FILE);
  }
  if (workplace) allow(ruleset, workplace, all.files & ~(uint64_t)NEVER);
  int result = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
  close(ruleset);
  return result < 0 ? -1 : version;
}
