internal import Bytes
internal import CSandbox
internal import Glibc

/// The sandbox that a worker enters before it reads a file. It has no network, no other programs and no rights of its
/// user. Its only files are those it is handed and shared data of packages.
public enum Sandbox {
  /// The resources of a worker.
  public struct Needs: Sendable {
    public var places: Places
    /// The process's own memory, in bytes.
    public var memory: Int
    /// The maximum size of any file, in bytes.
    public var largestFile: Int

    public init(_ places: Places, memory: Int, largestFile: Int) {
      self.places = places
      self.memory = memory
      self.largestFile = largestFile
    }
  }

  /// Fonts and their configuration, character maps, and colour profiles. A missing one is taken from `PackagedData` if
  /// the system has namespaces.
  public static let sharedFolders: Places = [
    "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/etc/fonts", "/var/cache/fontconfig",
    "/usr/lib/fontconfig", "/usr/share/poppler", "/usr/share/color",
  ]

  /// The size of the scratch file, for libraries that read only named files, in bytes.
  public static let scratchRoom = 256 << 20
  private static let scratchPath = "/scratch"
  private static let workplacePath = "/workplace"
  /// The overflow user ID: the kernel's number for a user without a mapping.
  private static let user: UInt32 = 65534
  /// The maximum number of threads. A converter needs fewer.
  private static let threads = 512

  /// Closes the sandbox permanently and returns the layers in force. If the kernel lacks one layer, the others still
  /// apply.
  ///
  /// - Parameter walls: the layers to apply. Only tests of a single layer pass fewer than all.
  public static func close(_ needs: Needs, walls: Set<SandboxLayer> = Set(SandboxLayer.allCases)) -> Enclosure {
    var enclosure = Enclosure()
    limit(needs)
    // Other threads would stay outside the sandbox. A sanitizer has threads of its own.
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
      let places = needs.places.readable + (enclosure.scratch.map { [$0.path] } ?? [])
      let version = unsafe ffconvert_landlock(places.joined(separator: ":"), enclosure.workplace)
      if version > 0 { enclosure.add(.landlock, "landlock \(version)") }
    }
    if walls.contains(.seccomp), isBound, filterCalls(andWrites: enclosure.workplace != nil) {
      enclosure.add(.seccomp, "seccomp")
    }
    return enclosure
  }

  private static func emptyRoot(_ needs: Needs, _ enclosure: inout Enclosure) {
    // PID 1 means that the parent process created all other namespaces. Any other PID means that it created none.
    guard getpid() == 1 else { return }
    let places = needs.places
    let workplace = places.room.map { _ in workplacePath }
    let scratch = unsafe ffconvert_empty_root(
      places.folders.joined(separator: ":"), PackagedData.folder, places.libraries.joined(separator: ":"), scratchPath,
      workplace,
      Int64(max(scratchRoom, places.room ?? 0)))
    guard scratch >= 0 else { return }
    enclosure.scratch = (scratch, scratchPath)
    enclosure.workplace = workplace
    enclosure.add(.namespaces, "namespaces")
  }

  private static func limit(_ needs: Needs) {
    // A write beyond the limit fails instead of killing the process.
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

  /// Whether the program was built with a sanitizer, which reserves terabytes of address space.
  private static var hasShadowMemory: Bool {
    ["__asan_init", "__tsan_init"].contains { (symbol: String) in unsafe dlsym(nil, symbol) != nil }
  }
}

extension Enclosure {
  fileprivate mutating func add(_ wall: SandboxLayer, _ words: String) {
    standing.insert(wall)
    walls.append(words)
  }
}
