internal import Glibc
internal import Workshop

/// `--check-sandbox`: tries what a worker must not be able to do, and says how each attempt ended.
enum SandboxCheck {
  /// The exit status: 0 when everything was refused.
  static func run() -> Int32 {
    _ = FFConvert.makeBench()
    Workshop.closeSandbox()
    let attempts: [(name: String, attempt: () -> Int32)] = [
      ("open /etc/passwd", { unsafe open("/etc/passwd", O_RDONLY) < 0 ? errno : 0 }),
      ("create a file", { unsafe open("/tmp/ffconvert-check", O_WRONLY | O_CREAT, 0o600) < 0 ? errno : 0 }),
      ("connect a socket", connect),
      ("start a program", start),
    ]
    var refused = true
    for (name, attempt) in attempts {
      let code = attempt()
      refused = refused && code != 0
      print("\(name): \(code == 0 ? "allowed" : unsafe String(cString: strerror(code)))")
    }
    return refused ? 0 : 1
  }

  private static func connect() -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    if descriptor < 0 { return errno }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) < 0 ? errno : 0
      }
    }
  }

  /// When it is allowed it does not return, and the status is not 0 either.
  private static func start() -> Int32 {
    let name = unsafe strdup("/bin/false")
    defer { unsafe free(name) }
    var arguments = unsafe [name, nil]
    return unsafe execv("/bin/false", &arguments) < 0 ? errno : 0
  }
}
