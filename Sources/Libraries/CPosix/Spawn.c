#define _GNU_SOURCE
#include "CPosix.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Between clone(2) and exec(2) only C code runs that does not allocate: the child shares its parent's memory.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// It takes each clone for a fork, and would go on with the child's state. So the child has its own, and only ends where it
// cannot begin.
#define SHARING CLONE_VFORK
#endif
#endif
#ifndef SHARING
#define SHARING (CLONE_VM | CLONE_VFORK)
#endif

struct beginning {
  const char *program;
  char *const *arguments, *const *variables;
  int socket, errors;
  uid_t user;
  gid_t group;
  int is_mapped;
  // The child's errno, for the parent, which waits.
  int failure;
};

static int write_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t count = write(file, text, strlen(text));
  close(file);
  return count < 0 ? -1 : 0;
}

// In a new user namespace: the same user and group as outside, and the capabilities for setting up the other namespaces
// survive exec.
static int settle_user(const struct beginning *beginning) {
  char map[64];
  snprintf(map, sizeof map, "%u %u 1\n", beginning->user, beginning->user);
  if (write_file("/proc/self/uid_map", map) < 0 || write_file("/proc/self/setgroups", "deny") < 0) return -1;
  snprintf(map, sizeof map, "%u %u 1\n", beginning->group, beginning->group);
  if (write_file("/proc/self/gid_map", map) < 0) return -1;
  static const int kept[] = {CAP_SYS_ADMIN, CAP_SYS_CHROOT, CAP_SETPCAP};
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  if (syscall(SYS_capget, &header, data) < 0) return -1;
  for (size_t index = 0; index < sizeof kept / sizeof *kept; index++)
    data[CAP_TO_INDEX(kept[index])].inheritable |= CAP_TO_MASK(kept[index]);
  if (syscall(SYS_capset, &header, data) < 0) return -1;
  for (size_t index = 0; index < sizeof kept / sizeof *kept; index++)
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, kept[index], 0, 0) < 0) return -1;
  return 0;
}

static int settle_descriptors(const struct beginning *beginning) {
  // Moved above the descriptors that they are duplicated to.
  int errors = fcntl(beginning->errors, F_DUPFD, 10), jobs = fcntl(beginning->socket, F_DUPFD, 10);
  int nothing = open("/dev/null", O_RDWR);
  if (errors < 0 || jobs < 0 || nothing < 0) return -1;
  if (dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(errors, 2) < 0 || dup2(jobs, 3) < 0) return -1;
  if (syscall(SYS_close_range, 4, ~0U, 0) == 0) return 0;
  struct rlimit most;
  if (getrlimit(RLIMIT_NOFILE, &most) < 0) return -1;
  for (int descriptor = 4; descriptor < (int)most.rlim_cur; descriptor++) close(descriptor);
  return 0;
}

static int begin(void *given) {
  struct beginning *beginning = given;
  // A process group of its own: Ctrl-C in the terminal is for the daemon, which then ends its workers.
  if ((!beginning->is_mapped || settle_user(beginning) == 0) && settle_descriptors(beginning) == 0 &&
      setpgid(0, 0) == 0) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(beginning->program, beginning->arguments, beginning->variables);
  }
  beginning->failure = errno;
  _exit(127);
}

static pid_t start(struct beginning *beginning, int namespaces) {
  _Alignas(16) char stack[32 << 10];
  beginning->failure = 0;
  pid_t child = clone(begin, stack + sizeof stack, SHARING | SIGCHLD | namespaces, beginning);
  if (child < 0) return -errno;
  if (beginning->failure == 0) return child;
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
  }
  return -beginning->failure;
}

pid_t ffmount_spawn(
    const char *program, char *const *arguments, char *const *variables, int socket, int errors) {
  struct beginning beginning = {
      .program = program, .arguments = arguments, .variables = variables, .socket = socket, .errors = errors,
      .user = geteuid(), .group = getegid()};
  // No signal handler of the parent may run in the child.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  // Not a mount namespace: it would keep this program's own mount in use, which then could not be unmounted. A worker
  // creates one at the moment in which it drops the other mounts.
  int namespaces = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  pid_t child = -EPERM;
  // root in its own user namespace would still be the system's root for files: it changes the user later instead.
  if (beginning.user == 0) {
    child = start(&beginning, namespaces);
  } else {
    beginning.is_mapped = 1;
    child = start(&beginning, namespaces | CLONE_NEWUSER);
    beginning.is_mapped = 0;
  }
  if (child < 0) child = start(&beginning, 0);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return child;
}
