internal import CSandbox
internal import CSeccomp
internal import Glibc

extension Sandbox {
  /// The system calls needed for computing on open files. None reaches another process or the network. All others fail
  /// with EPERM, which libraries tolerate.
  private static let allowed = [
    "read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "close", "dup", "ftruncate",
    "fstat", "newfstatat", "stat", "lstat", "statx", "fstatfs", "statfs", "access", "faccessat", "faccessat2",
    "readlink", "readlinkat", "getdents64", "getcwd", "fadvise64",
    "munmap", "mremap", "mprotect", "madvise", "brk", "membarrier", "mbind", "get_mempolicy",
    "futex", "set_robust_list", "rseq", "set_tid_address", "sched_yield",
    "gettid", "getpid", "getuid", "geteuid", "getgid", "getegid", "exit", "exit_group",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
    "gettimeofday", "time", "nanosleep", "getrandom", "uname", "sysinfo", "getrusage", "times", "getrlimit",
    "poll", "ppoll", "eventfd2",
  ]

  /// The additional system calls of a worker with a private directory. Landlock and the root restrict where they apply.
  private static let writing = [
    "openat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "fsync",
    "fdatasync",
    "flock", "chmod", "fchmod", "umask", "utimensat", "utime", "utimes", "pipe2",
  ]

  /// A condition on one argument of a call.
  private struct Argument {
    let index: UInt32
    var test = SCMP_CMP_MASKED_EQ
    let mask: UInt64
    var value: UInt64 = 0

    /// Returns a condition on a 32-bit number. The kernel ignores the upper half.
    static func number(_ index: UInt32, is value: Int32) -> Argument {
      Argument(index: index, mask: 0xFFFF_FFFF, value: UInt64(UInt32(bitPattern: value)))
    }

    static func bits(_ index: UInt32, _ mask: Int, are value: Int = 0) -> Argument {
      Argument(index: index, mask: UInt64(UInt(bitPattern: mask)), value: UInt64(UInt(bitPattern: value)))
    }

    static func upTo(_ index: UInt32, _ most: UInt64) -> Argument {
      Argument(index: index, test: SCMP_CMP_LE, mask: most)
    }
  }

  /// System calls that are permitted only with some arguments. If a call has several entries, any one may match.
  private static var bounded: [(name: String, when: [Argument])] {
    let jobs: Int32 = 3
    let own = getpid()
    // Only the clocks with fixed numbers: others belong to other processes.
    let clocks = ["clock_gettime", "clock_getres", "clock_nanosleep"].map { ($0, [Argument.upTo(0, 15)]) }
    // Operations on descriptors only. Excludes the owner of signals (F_SETOWN), locks, leases and seals.
    let control = [F_DUPFD, F_GETFD, F_SETFD, F_GETFL, duplicateClosing].map { ("fcntl", [Argument.number(1, is: $0)]) }
    return clocks + control + [
      // Read-only; Landlock and the root decide which files. glibc uses only `openat`.
      ("openat", [.bits(2, Int(O_ACCMODE | O_CREAT | O_TRUNC))]),
      // Shared mappings of files, whose size is limited, or private ones. Shared anonymous memory does not count
      // towards the limit.
      ("mmap", [.bits(3, Int(MAP_SHARED))]), ("mmap", [.bits(3, Int(MAP_ANONYMOUS))]),
      // Threads of this process only. Excludes new processes and namespaces.
      ("clone", [.bits(0, threadFlag | otherwise, are: threadFlag)]),
      ("prctl", [.bits(0, -1, are: setName)]),
      // Queries about this process only.
      ("prlimit64", [.number(0, is: 0), .bits(2, -1)]),
      ("sched_getaffinity", [.number(0, is: 0)]), ("sched_getaffinity", [.number(0, is: own)]),
      ("tgkill", [.number(0, is: own)]),
      ("recvmsg", [.number(0, is: jobs)]), ("sendmsg", [.number(0, is: jobs)]), ("sendto", [.number(0, is: jobs)]),
    ]
  }

  // <linux/sched.h> and <linux/prctl.h> are not in Swift's Glibc.
  private static let threadFlag = 0x10000
  /// CLONE_PTRACE and all CLONE_NEW….
  private static let otherwise = 0x2000 | 0x2_0000 | 0x7E00_0000
  private static let setName = 15
  /// F_DUPFD_CLOEXEC.
  private static let duplicateClosing: Int32 = 1030
  // SCMP_ACT_ALLOW and SCMP_ACT_ERRNO are macros.
  private static let allow: UInt32 = 0x7FFF_0000
  private static func refuse(_ code: Int32) -> UInt32 { 0x0005_0000 | UInt32(code) }

  /// Installs the filter. Returns false if the kernel lacks seccomp.
  static func filterCalls(andWrites: Bool) -> Bool {
    guard let filter = unsafe seccomp_init(refuse(EPERM)) else { return false }
    defer { unsafe seccomp_release(filter) }
    let allowed = allowed + (andWrites ? writing : [])
    for name in allowed where unsafe !add(name, to: filter) { return false }
    for (name, arguments) in bounded where !allowed.contains(name) {
      guard unsafe add(name, to: filter, when: arguments) else { return false }
    }
    // The flags of clone3 are in memory, which a filter cannot read. With ENOSYS, glibc falls back to `clone`.
    guard unsafe add("clone3", to: filter, action: refuse(ENOSYS)) else { return false }
    return unsafe seccomp_load(filter) == 0
  }

  /// Adds a rule for a call. Does nothing if the architecture lacks the call.
  private static func add(
    _ name: String, to filter: scmp_filter_ctx, action: UInt32 = allow, when arguments: [Argument] = []
  ) -> Bool {
    let call = unsafe seccomp_syscall_resolve_name(name)
    if call < 0 { return true }
    let tests = arguments.map { scmp_arg_cmp(arg: $0.index, op: $0.test, datum_a: $0.mask, datum_b: $0.value) }
    return unsafe seccomp_rule_add_array(filter, action, call, UInt32(tests.count), tests) == 0
  }

  /// Makes a system call by name, to test whether it is refused. Returns its errno, or 0 on success.
  public static func attempt(_ name: String, _ arguments: Int...) -> Int32 { attempt(name, all: arguments) }

  public static func attempt(_ name: String, all arguments: [Int]) -> Int32 {
    let call = unsafe seccomp_syscall_resolve_name(name)
    guard call >= 0 else { return ENOSYS }
    let six = (0..<6).map { $0 < arguments.count ? arguments[$0] : 0 }
    return unsafe ffconvert_call(Int(call), six) < 0 ? errno : 0
  }
}
