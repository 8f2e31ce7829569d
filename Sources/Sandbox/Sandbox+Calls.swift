internal import CSeccomp
internal import Glibc

extension Sandbox {
  /// The system calls that computing on files that are open needs, and nothing that reaches another process or the
  /// network: every other is refused with EPERM, which libraries live with.
  private static let allowed = [
    "read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "close", "fcntl", "dup", "ftruncate",
    "fallocate",
    "fstat", "newfstatat", "stat", "lstat", "statx", "fstatfs", "statfs", "access", "faccessat", "faccessat2",
    "readlink",
    "readlinkat", "getdents64", "getcwd", "fadvise64", "memfd_create",
    "mmap", "munmap", "mremap", "mprotect", "madvise", "brk", "membarrier", "mbind", "get_mempolicy",
    "futex", "set_robust_list", "rseq", "set_tid_address", "sched_yield", "sched_getaffinity", "sched_setaffinity",
    "gettid", "getpid", "getuid", "geteuid", "getgid", "getegid", "tgkill", "exit", "exit_group",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
    "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "getrandom", "uname",
    "sysinfo",
    "getrusage", "times", "prlimit64", "getrlimit", "setrlimit", "poll", "ppoll", "eventfd2",
    "recvmsg", "sendmsg", "sendto",
  ]

  // <linux/sched.h> and <linux/prctl.h> are not in Swift's Glibc.
  private static let threadFlag: UInt64 = 0x10000
  private static let setName: UInt64 = 15
  // SCMP_ACT_ALLOW and SCMP_ACT_ERRNO are macros.
  private static let allow: UInt32 = 0x7FFF_0000
  private static func refuse(_ code: Int32) -> UInt32 { 0x0005_0000 | UInt32(code) }

  /// False where there is no seccomp.
  static func filterCalls() -> Bool {
    guard let filter = unsafe seccomp_init(refuse(EPERM)) else { return false }
    defer { unsafe seccomp_release(filter) }
    for name in allowed where unsafe !add(name, to: filter) { return false }
    // For reading; Landlock says what. glibc opens by `openat` alone.
    let writing = UInt64(O_ACCMODE | O_CREAT | O_TRUNC)
    guard unsafe add("openat", to: filter, when: 2, masked: writing, is: 0),
      // Threads of this process, no other process. `clone3` has its flags in memory, where a filter cannot look: without
      // it glibc uses `clone`.
      unsafe add("clone", to: filter, when: 0, masked: threadFlag, is: threadFlag),
      unsafe add("clone3", to: filter, action: refuse(ENOSYS)),
      unsafe add("prctl", to: filter, when: 0, masked: .max, is: setName)
    else { return false }
    return unsafe seccomp_load(filter) == 0
  }

  /// A rule for one call, for all its uses or where an argument has some bits. A call that this architecture does not have
  /// needs no rule.
  private static func add(
    _ name: String, to filter: scmp_filter_ctx, action: UInt32 = allow, when argument: UInt32? = nil,
    masked mask: UInt64 = 0, is value: UInt64 = 0
  ) -> Bool {
    let call = unsafe seccomp_syscall_resolve_name(name)
    if call < 0 { return true }
    guard let argument else { return unsafe seccomp_rule_add_array(filter, action, call, 0, nil) == 0 }
    var test = scmp_arg_cmp(arg: argument, op: SCMP_CMP_MASKED_EQ, datum_a: mask, datum_b: value)
    return unsafe seccomp_rule_add_array(filter, action, call, 1, &test) == 0
  }
}
