internal import CSandbox
internal import Glibc

/// What a worker gives up before it looks at a file: the network, other programs, and all files but those that it is
/// handed and what packages share with everybody.
public enum Sandbox {
  /// Fonts and their configuration, character maps, colour profiles, and kinds of files.
  private static let readable = [
    "/usr/share", "/usr/local/share", "/etc/fonts", "/var/cache/fontconfig",
  ]

  /// Shuts the process in, for good, and says what is in force. Where the kernel lacks one wall, the others stand.
  ///
  /// - Parameter memory: how much the process may have of its own.
  public static func close(memory: Int) -> [String] {
    limit(memory: memory)
    var walls: [String] = []
    let isBound = ffconvert_no_new_privileges() == 0
    let version = unsafe ffconvert_landlock(readable.joined(separator: ":"))
    if version > 0 { walls.append("landlock \(version)") }
    if filterCalls() { walls.append("seccomp") }
    if isBound { walls.append("no_new_privs") }
    return walls
  }

  private static func limit(memory: Int) {
    // A write beyond the limit is to fail, not to kill.
    signal(SIGXFSZ, SIG_IGN)
    var limits: [(__rlimit_resource, Int)] = [(RLIMIT_CORE, 0), (RLIMIT_NOFILE, 256)]
    if !hasShadowMemory { limits.append((RLIMIT_DATA, memory)) }
    for (resource, value) in limits {
      var both = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
      _ = unsafe setrlimit(__rlimit_resource_t(resource.rawValue), &both)
    }
  }

  /// Whether the program was built with a sanitizer, which lays out terabytes that nobody touches.
  private static var hasShadowMemory: Bool {
    ["__asan_init", "__tsan_init"].contains { (symbol: String) in unsafe dlsym(nil, symbol) != nil }
  }
}
