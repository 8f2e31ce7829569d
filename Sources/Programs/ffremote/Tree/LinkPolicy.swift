import Bytes
import ServerAnswers
import Tree

/// The policy for symbolic links of the server. A server could otherwise lead any program that follows links in its
/// tree to any file of this machine.
enum LinkPolicy {
  /// Only links that cannot leave the server's tree are links. Others are text files that contain the target.
  case inside
  case all

  /// Returns the type of an entry of a directory at `depth` below the root.
  func kind(of item: ServerItem, depth: Int) -> Kind {
    guard item.kind == .link, self == .inside, !Self.staysInside(item.target ?? [], depth: depth) else {
      return Kind(item.kind)
    }
    return .file
  }

  /// Returns whether a target is relative and has `..` only at its beginning, at most once for each parent directory.
  /// After another component, which may be a link itself, the result would be unknown.
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
