import Bytes
import Text

/// A path of the tree in a request. Anything that is not a plain name in each directory is refused.
struct TreePath: Sendable {
  let names: [FileName]

  /// The maximum depth. Each directory costs a lookup.
  private static let deepest = 1024

  /// Parses a decoded parameter such as `/a/b`. Returns `nil` for `.` and `..`, NUL, and a path that is too deep.
  init?(_ bytes: [UInt8]) {
    self.init(components: bytes.split(separator: UInt8(ascii: "/")))
  }

  /// Parses the percent-encoded rest of a target's path. Also returns `nil` for a name with an encoded slash. An
  /// unencoded `.` is ignored (RFC 3986, section 5.2.4): rclone writes `./a:b`.
  init?(encoded text: Substring) {
    var components: [ArraySlice<UInt8>] = []
    for part in text.utf8.split(separator: UInt8(ascii: "/")) where !part.elementsEqual(".".utf8) {
      guard let bytes = Percent.decoded(part), !bytes.contains(UInt8(ascii: "/")) else { return nil }
      components.append(bytes[...])
    }
    self.init(components: components)
  }

  private init?(components: [ArraySlice<UInt8>]) {
    guard components.count <= Self.deepest else { return nil }
    for name in components {
      let isStep = name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
      guard !isStep, !name.isEmpty, !name.contains(0) else { return nil }
    }
    names = components.map { FileName($0) }
  }

  init(names: [FileName]) { self.names = names }

  var bytes: [UInt8] { names.isEmpty ? [UInt8(ascii: "/")] : names.flatMap { [UInt8(ascii: "/")] + $0.bytes } }

  /// The path for display, with a leading slash.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The path for URLs, with a leading slash.
  var encoded: String { Percent.encoded(bytes, keepingSlash: true) }
}
