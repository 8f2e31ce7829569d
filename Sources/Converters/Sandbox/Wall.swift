/// One of the things that stand between a worker and everything else.
public enum Wall: String, CaseIterable, Sendable {
  /// Namespaces of its own, of which the root is empty but for what it reads.
  case namespaces
  /// No capability, and a user who is not root.
  case user
  /// No file but what it reads, no TCP, no signals to others.
  case landlock
  /// No system call but those that computing takes.
  case seccomp
}

/// What stands around a process that has shut itself in.
public struct Enclosure: Sendable {
  /// In words: `landlock 7`.
  public internal(set) var walls: [String] = []
  var standing: Set<Wall> = []
  /// A file with a name, empty, for what reads by name only, and the descriptor to write it by; nil where there is none.
  public internal(set) var scratch: (descriptor: Int32, path: String)?

  /// What is missing that has to be there: then nothing that a stranger made may be looked at. nil: nothing is.
  ///
  /// System calls are what everything else is refused by, and files have to be refused by one of two walls.
  public var gap: String? {
    if !standing.contains(.seccomp) { return "no seccomp" }
    if standing.isDisjoint(with: [.landlock, .namespaces]) { return "neither Landlock nor namespaces" }
    return standing.contains(.user) ? nil : "no user to become who is not root"
  }
}
