/// A layer of the sandbox around a worker.
public enum SandboxLayer: String, CaseIterable, Sendable {
  /// Namespaces of its own, with a root that contains only what it reads.
  case namespaces
  /// No capabilities, and a user other than root.
  case user
  /// No files except what it reads, no TCP, no signals to other processes.
  case landlock
  /// Only the system calls needed for computing.
  case seccomp
}

/// The layers in force around a sandboxed process.
public struct Enclosure: Sendable {
  /// Descriptions such as `landlock 7`.
  public internal(set) var walls: [String] = []
  var standing: Set<SandboxLayer> = []
  /// An empty named file, for libraries that read only named files, and a descriptor for writing it; nil if there is
  /// none.
  public internal(set) var scratch: (descriptor: Int32, path: String)?
  /// A folder for files of the process's own, which is gone with it; nil if there is none: only with namespaces.
  public internal(set) var workplace: String?

  /// The mandatory layer that is missing; nil if none is. If there is one, no untrusted file may be read.
  ///
  /// seccomp is mandatory because it refuses everything but files, for which one of two layers is needed.
  public var gap: String? {
    if !standing.contains(.seccomp) { return "no seccomp" }
    if standing.isDisjoint(with: [.landlock, .namespaces]) { return "neither Landlock nor namespaces" }
    return standing.contains(.user) ? nil : "no user to become who is not root"
  }
}
