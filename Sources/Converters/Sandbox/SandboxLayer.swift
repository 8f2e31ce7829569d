/// A layer of the sandbox around a worker.
public enum SandboxLayer: String, CaseIterable, Sendable {
  /// Separate namespaces, with a root that contains only the files that the worker reads.
  case namespaces
  /// No capabilities, and a user other than root.
  case user
  /// No files except those that the worker reads, no TCP, no signals to other processes.
  case landlock
  /// Only the system calls needed for computing.
  case seccomp
}

/// The layers in force around a sandboxed process.
public struct Enclosure: Sendable {
  /// Descriptions such as `landlock 7`.
  public internal(set) var walls: [String] = []
  var standing: Set<SandboxLayer> = []
  /// An empty named file, for libraries that read only named files, and a descriptor for writing it. `nil` if there is
  /// none.
  public internal(set) var scratch: (descriptor: Int32, path: String)?
  /// A private directory for files, which is removed with the process. `nil` if there is none. Requires namespaces.
  public internal(set) var workplace: String?

  /// The mandatory layer that is missing. `nil` if none is. If one is missing, untrusted files must not be read.
  ///
  /// seccomp is mandatory because it refuses everything but files. For files, one of two layers is needed.
  public var gap: String? {
    if !standing.contains(.seccomp) { return "no seccomp" }
    if standing.isDisjoint(with: [.landlock, .namespaces]) { return "neither Landlock nor namespaces" }
    return standing.contains(.user) ? nil : "no unprivileged user"
  }
}
