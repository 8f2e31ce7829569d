import Bytes

/// The actions that an account may take in a part of the tree.
struct Rights: OptionSet, Sendable {
  let rawValue: UInt8

  /// To list directories and read files.
  static let read = Rights(rawValue: 1)
  /// To add files and directories, without replacing any.
  static let drop = Rights(rawValue: 2)
  /// To replace, rename and remove files and directories, and to set their properties.
  static let change = Rights(rawValue: 4)
  static let write: Rights = [.read, .drop, .change]

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Parses `read`, `drop`, `read+drop` or `write`. Returns `nil` for other words.
  init?(_ word: Substring) {
    self = []
    for part in word.split(separator: "+", omittingEmptySubsequences: false) {
      switch part {
      case "read": insert(.read)
      case "drop": insert(.drop)
      case "write": formUnion(.write)
      default: return nil
      }
    }
  }

  /// The names of the rights, for users and files.
  var words: [String] {
    (contains(.read) ? ["read"] : []) + (contains(.drop) ? ["drop"] : []) + (contains(.change) ? ["write"] : [])
  }

  /// The rights as in a file of users.
  var text: String { contains(.write) ? "write" : words.joined(separator: "+") }
}

/// A part of the tree, with the rights of an account there.
struct Grant: Sendable {
  /// The path of a directory with everything below it, or of a file with its views.
  let path: [FileName]
  let rights: Rights
}
