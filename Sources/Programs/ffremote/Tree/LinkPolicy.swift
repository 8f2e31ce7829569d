import Bytes
import ServerAnswers
import Tree

/// Which symbolic links of the server are links here. A server could otherwise lead any program that follows links in its
/// tree to any file of this machine.
enum LinkPolicy {
  /// Links that cannot leave the server's tree; others are text files that contain the target.
  case inside
  case all

  /// The type of an entry of a folder that is `depth` folders below the root.
  func kind(of item: ServerItem, depth: Int) -> Kind {
    guard item.kind == .link, self == .inside, !Self.staysInside(item.target ?? [], depth: depth) else {
      return Kind(item.kind)
    }
    return .file
  }

  /// Whether a target is relative and has `..` only at its beginning, at most once for each folder above: behind another
  /// component, which may be a link itself, nothing can be said of it.
  static func staysInside(_ target: [UInt8], depth: Int) -> Bool {
    let slash = UInt8(ascii: "/")
    guard let first = target.first, first != slash else { return false }
    var (steps, hasName) = (0, false)
    for part in target.split(separator: slash) where !part.elementsEqual(".".utf8) {
      guard part.elementsEqual("..".utf8) else {
        hasName = true
        continue
      }
      steps += 1
      if hasName || steps > depth { return false }
    }
    return true
  }
}
