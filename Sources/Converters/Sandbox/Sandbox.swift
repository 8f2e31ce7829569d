internal import CSandbox
internal import Glibc

/// What a worker gives up before it looks at a file: the network, other programs, its user's rights, and all files but those
/// that it is handed and what packages share with everybody.
public enum Sandbox {
  /// What a worker needs.
  public struct Needs: Sendable {
    /// Folders to read from.
    public var folders: [String] = []
    /// In bytes, of the process's own.
    public var memory: Int
    /// In bytes, for any file.
    public var largestFile: Int

    public init(folders: [String], memory: Int, largestFile: Int) {
      self.folders = folders
      self.memory = memory
      self.largestFile = largestFile
    }
  }

  /// Fonts and their configuration, character maps, and colour profiles.
  public static let sharedFolders = [
    "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/etc/fonts", "/var/cache/fontconfig",
    "/usr/lib/fontconfig", "/usr/share/poppler", "/usr/share/color",
  ]

  /// For what reads by name only, in bytes.
  public static let scratchRoom = 256 << 20
  private static let scratchPath = "/scratch"
  /// Nobody's: the kernel's number for a user who has none here.
  private static let user: UInt32 = 65534
  /// More threads are no use to a converter.
  private static let threads = 512

  /// Shuts the process in, for good, and says what is in force. Where the kernel lacks one wall, the others stand.
  ///
  /// - Parameter walls: which to build; all but in tests of one.
  public static func close(_ needs: Needs, walls: Set<Wall> = Set(Wall.allCases)) -> Enclosure {
    var enclosure = Enclosure()
    limit(needs)
    // Of several threads the others would stay outside. A sanitizer has some of its own.
    guard ffconvert_is_alone() != 0 || hasShadowMemory else { return enclosure }
    let isBound = ffconvert_no_new_privileges() == 0
    if walls.contains(.namespaces) { emptyRoot(needs, &enclosure) }
    if enclosure.scratch == nil {
      let scratch = ffconvert_memory_file()
      if scratch >= 0 { enclosure.scratch = (scratch, "/proc/self/fd/\(scratch)") }
    }
    if walls.contains(.user), ffconvert_give_up_privileges(user) == 0 {
      enclosure.add(.user, "user \(geteuid())")
    }
    if walls.contains(.landlock) {
      let places = needs.folders + (enclosure.scratch.map { [$0.path] } ?? [])
      let version = unsafe ffconvert_landlock(places.joined(separator: ":"))
      if version > 0 { enclosure.add(.landlock, "landlock \(version)") }
    }
    if walls.contains(.seccomp), isBound, filterCalls() { enclosure.add(.seccomp, "seccomp") }
    return enclosure
  }

  private static func emptyRoot(_ needs: Needs, _ enclosure: inout Enclosure) {
    // Who started this process gave it all other namespaces or none.
    guard getpid() == 1 else { return }
    let folders = needs.folders.joined(separator: ":")
    let scratch = unsafe ffconvert_empty_root(folders, scratchPath, Int64(scratchRoom))
    guard scratch >= 0 else { return }
    enclosure.scratch = (scratch, scratchPath)
    enclosure.add(.namespaces, "namespaces")
  }

  private static func limit(_ needs: Needs) {
    // A write beyond the limit is to fail, not to kill.
    signal(SIGXFSZ, SIG_IGN)
    var limits: [(__rlimit_resource, Int)] = [
      (RLIMIT_CORE, 0), (RLIMIT_NOFILE, 256), (RLIMIT_FSIZE, needs.largestFile), (__RLIMIT_NPROC, threads),
    ]
    if !hasShadowMemory { limits.append((RLIMIT_DATA, needs.memory)) }
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

extension Enclosure {
  fileprivate mutating func add(_ wall: Wall, _ words: String) {
    standing.insert(wall)
    walls.append(words)
  }
}
