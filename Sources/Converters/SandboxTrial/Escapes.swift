internal import CPosix
internal import Catalogue
internal import Glibc
internal import Sandbox
internal import WorkerKit

/// Operations that a worker controlled by a hostile file might attempt. A worker runs them that is started and
/// sandboxed like the others.
struct Escapes {
  /// The argument that precedes the names of the sandbox layers to apply.
  static let argument = "--try-escapes"

  private let stage: Stage
  /// A file that the worker may read and write.
  private let file: Int

  /// Makes all attempts after `prepare` has closed the sandbox. Reports the results to the other end of the socket.
  static func run(_ prepare: () -> Void) -> Int32 {
    var message = [UInt8](repeating: 0, count: Job.messageLimit)
    var descriptors = [Int32](repeating: -1, count: Int(FFMOUNT_MOST_DESCRIPTORS))
    var came = 0
    let count = unsafe ffmount_receive(socket, &message, message.count, &descriptors, &came)
    guard count > 0, came == 1, let stage = Stage(message: Array(message[..<count])) else { return 64 }
    prepare()
    // The other end now inspects the process from outside.
    tell("ready")
    unsafe _ = ffmount_receive(socket, &message, message.count, &descriptors, &came)
    let escapes = Escapes(stage: stage, file: Int(descriptors[0]))
    for (name, attempt) in escapes.all {
      let code = attempt()
      let isAllowed = code == 0 || Escapes.argumentErrors.contains(code)
      tell("\(name): \(isAllowed ? "allowed" : unsafe String(cString: strerror(code)))")
    }
    return 0
  }

  private static let socket: Int32 = 3
  /// The errors of a call that was permitted but got invalid arguments.
  private static let argumentErrors: Set<Int32> = [EINVAL, EFAULT, EBADF, ENOTTY, ENOTDIR, EEXIST, E2BIG]

  private static func tell(_ line: String) {
    let bytes = Array(line.utf8)
    unsafe _ = ffmount_send(socket, bytes, bytes.count, nil, 0)
  }

  private typealias Attempt = (name: String, attempt: () -> Int32)
  private var all: [Attempt] { reading + writing + talking + processes + resources + kernel + leaving }

  // MARK: Attempts

  /// Makes a system call. Its first arguments are paths, absolute or relative to the stage's directory.
  private func call(_ name: String, at folder: Int? = nil, _ paths: String..., and rest: Int...) -> Int32 {
    let strings = unsafe paths.map { unsafe strdup($0.hasPrefix("/") ? $0 : "\(stage.folder)/\($0)") }
    defer { for index in unsafe strings.indices { unsafe free(strings[index]) } }
    let addresses = unsafe strings.map { Int(bitPattern: $0) }
    return Sandbox.attempt(name, all: (folder.map { [$0] } ?? []) + addresses + rest)
  }

  /// Makes a system call with a buffer for its output. The buffer starts with `words`.
  private func call(_ name: String, _ before: Int..., telling words: [Int] = [], _ rest: Int...) -> Int32 {
    var room = words + [Int](repeating: 0, count: 64)
    return unsafe room.withUnsafeMutableBytes { room in
      Sandbox.attempt(name, all: before + [Int(bitPattern: room.baseAddress)] + rest)
    }
  }

  private var here: Int { Int(AT_FDCWD) }
  private var parent: Int { Int(stage.process) }

  private var reading: [Attempt] {
    [
      ("open a file", { call("openat", at: here, "secret", and: Int(O_RDONLY)) }),
      ("open /etc/passwd", { call("openat", at: here, "/etc/passwd", and: Int(O_RDONLY)) }),
      ("open a file in /proc", { call("openat", at: here, "/proc/\(parent)/stat", and: Int(O_RDONLY)) }),
      ("list a folder", { call("openat", at: here, "", and: Int(O_RDONLY | O_DIRECTORY)) }),
      ("see a file's size", { withPath("secret") { call("newfstatat", here, $0, telling: [], 0) } }),
      ("see where a link leads", { withPath("link") { call("readlink", $0, telling: [], 64) } }),
      ("query a file's permissions", { call("access", "secret", and: Int(R_OK)) }),
      ("see how full a disk is", { withPath("") { call("statfs", $0, telling: []) } }),
    ]
  }

  private func withPath(_ name: String, _ body: (Int) -> Int32) -> Int32 {
    unsafe "\(stage.folder)/\(name)".withCString { body(Int(bitPattern: $0)) }
  }

  private var writing: [Attempt] {
    [
      ("create a file", { call("openat", at: here, "new", and: Int(O_WRONLY | O_CREAT), 0o600) }),
      ("write to a file", { call("openat", at: here, "open", and: Int(O_WRONLY)) }),
      ("change a file's mode", { call("chmod", "open", and: 0o600) }),
      ("make a folder", { call("mkdir", "made", and: 0o700) }),
      ("link a file", { call("link", "open", "linked") }),
      ("rename a file", { call("rename", "open", "moved") }),
      ("remove a file", { call("unlink", "link") }),
    ]
  }

  private var talking: [Attempt] {
    [
      ("connect to a socket by its path", { SocketAddress(path: "\(stage.folder)/listening").connect() }),
      ("connect to a socket by its name", { SocketAddress(abstractName: stage.abstractName).connect() }),
      ("connect to a TCP port", { SocketAddress(port: stage.port).connect() }),
      ("type on a terminal", { call("ioctl", 0, Int(TIOCSTI), telling: []) }),
    ]
  }

  private var processes: [Attempt] {
    let seize = 0x4206
    return [
      ("start a process", fork),
      ("send a signal", { Sandbox.attempt("kill", parent, 0) }),
      ("send a thread a signal", { Sandbox.attempt("tgkill", parent, parent, 0) }),
      ("have signals sent", { Sandbox.attempt("fcntl", file, Int(F_SETOWN), parent) }),
      ("get hold of a process", { Sandbox.attempt("pidfd_open", parent, 0) }),
      ("trace a process", { Sandbox.attempt("ptrace", seize, parent, 0, 0) }),
      ("read a process's memory", readMemory),
      ("see a process's limits", { call("prlimit64", parent, Int(RLIMIT_NOFILE.rawValue), 0, telling: []) }),
      ("set a process's limits", { call("prlimit64", parent, Int(RLIMIT_NOFILE.rawValue), telling: [200, 200], 0) }),
      ("see a process's processors", { call("sched_getaffinity", parent, 128, telling: []) }),
      ("set a process's processors", { call("sched_setaffinity", parent, 8, telling: [1]) }),
      ("slow a process down", { Sandbox.attempt("setpriority", Int(PRIO_PROCESS.rawValue), parent, 19) }),
      // The clock of a process: see clock_getcpuclockid(3).
      ("see how busy a process is", { call("clock_gettime", Int(~stage.process << 3 | 2), telling: []) }),
    ]
  }

  private func readMemory() -> Int32 {
    // Pairs of address and size, remote and local.
    let theirs = [stage.address, 8]
    var room = 0
    return unsafe withUnsafeMutablePointer(to: &room) { room in
      let ours = [Int(bitPattern: room), 8]
      return unsafe theirs.withUnsafeBytes { theirs in
        call("process_vm_readv", parent, telling: ours, 1, Int(bitPattern: theirs.baseAddress), 1, 0)
      }
    }
  }

  private func fork() -> Int32 {
    let child = ffmount_fork()
    if child == 0 { _exit(0) }
    return child < 0 ? errno : 0
  }

  private var resources: [Attempt] {
    let most = Int(bitPattern: UInt(rlim_t.max))
    return [
      ("lift its own limits", { call("prlimit64", 0, Int(RLIMIT_FSIZE.rawValue), telling: [most, most], 0) }),
      ("set its own limits", { call("prlimit64", 0, Int(RLIMIT_NOFILE.rawValue), telling: [100, 100], 0) }),
      (
        "have more memory than a worker may have",
        {
          let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
          return Sandbox.attempt("mmap", 0, 5 << 30, Int(PROT_READ | PROT_WRITE), Int(flags), -1, 0)
        }
      ),
      ("write more than a file may have", { call("pwrite64", file, telling: [], 8, Int(Job.usualOutput)) }),
      ("take room on a disk", { Sandbox.attempt("fallocate", file, 1, 0, 1 << 20) }),
      ("make a file in memory", { call("memfd_create", telling: [0x78], 0) }),
      (
        "have memory that is shared",
        { Sandbox.attempt("mmap", 0, 1 << 20, Int(PROT_READ | PROT_WRITE), Int(MAP_SHARED | MAP_ANONYMOUS), -1, 0) }
      ),
      ("have memory that others can name", { Sandbox.attempt("shmget", 0, 4096, 0o1600) }),
    ]
  }

  private var kernel: [Attempt] {
    [
      ("use keys", { Sandbox.attempt("keyctl", 0, -3, 0) }), ("load a program", { call("bpf", 0, telling: [], 0) }),
      ("measure others", { call("perf_event_open", telling: [1 | 112 << 32], parent, -1, -1, 0) }),
      ("use a ring of calls", { call("io_uring_setup", 1, telling: []) }),
      ("handle page faults", { Sandbox.attempt("userfaultfd", 1) }),
    ]
  }

  /// The attempts made last. Once one of them is permitted, later results mean nothing.
  private var leaving: [Attempt] {
    let newUser = 0x1000_0000
    let bindMount = 4096
    return [
      ("become root", { Sandbox.attempt("setresuid", 0, 0, 0) }),
      ("mount", { withPath("") { place in Sandbox.attempt("mount", place, place, 0, bindMount, 0) } }),
      ("enter a namespace", { Sandbox.attempt("setns", 0, 0) }),
      ("change its root", { call("chroot", "/") }),
      ("make a namespace", { Sandbox.attempt("unshare", newUser) }),
      ("become a program", execute),
    ]
  }

  /// Executes a program. Does not return if permitted. The report then ends early.
  private func execute() -> Int32 {
    let name = unsafe strdup("/bin/true")
    var arguments = unsafe [name, nil]
    return unsafe execv("/bin/true", &arguments) < 0 ? errno : 0
  }
}
