#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int ffconvert_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// Changes nothing, and fails if there are several threads.
int ffconvert_is_alone(void) {
  if (unshare(CLONE_THREAD) == 0) return 1;
  // EINVAL: there are others. A sandbox around this program may refuse the call: then a folder for each thread is counted.
  struct stat tasks;
  return errno != EINVAL && stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 2 + 1;
}

int ffconvert_give_up_privileges(uint32_t user) {
  for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  int is_root = geteuid() == 0;
  if (is_root) {
    // EINVAL: the user namespace has no such user, so its root is not the system's.
    if (setgroups(0, NULL) < 0 && errno != EINVAL) return -1;
    if (setresgid(user, user, user) < 0 && errno != EINVAL) return -1;
    if (setresuid(user, user, user) < 0 && errno != EINVAL) return -1;
  }
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}};
  if (syscall(SYS_capset, &header, none) < 0) return -1;
  // The process ends with its parent. Set here because changing the user clears it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) return -1;
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int ffconvert_memory_file(void) { return memfd_create("scratch", MFD_CLOEXEC); }

long ffconvert_call(long number, const long *arguments) {
  return syscall(
      number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
