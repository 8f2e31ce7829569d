/// The outline of a book in EPUB 2 or 3: its title, and the files of its chapters in the order of the spine.
package struct BookOutline: Sendable {
  package private(set) var title = ""
  package private(set) var authors: [String] = []
  /// The declared language, as written. `nil` if there is none.
  package private(set) var language: String?
  /// The paths of the chapters' files in the archive.
  package private(set) var chapters: [[UInt8]] = []

  /// The path of the file that leads to that of the outline.
  package static let container = "META-INF/container.xml"
  /// The maximum size of either file, in bytes.
  package static let longest = 4 << 20
  /// The maximum number of chapters.
  private static let most = 5000

  /// Returns the path of the outline's file that a container names. Returns `nil` if it names none.
  package static func path(in container: [UInt8]) -> [UInt8]? {
    var tags = StartTags(of: container)
    while let tag = tags.next() {
      if tags.name(of: tag) == "rootfile", let path = tags.value("full-path", of: tag) {
        return resolved(Array(path.utf8), from: [])
      }
    }
    return nil
  }

  /// Reads an outline.
  ///
  /// - Parameter path: its own path in the archive.
  package init(_ package: [UInt8], at path: [UInt8]) {
    let folder = Array(path[..<(path.lastIndex(of: Self.slash) ?? 0)])
    var files: [String: [UInt8]] = [:]
    var tags = StartTags(of: package)
    while let tag = tags.next() {
      switch tags.name(of: tag) {
      case "title": if title.isEmpty { title = tags.words(after: tag) }
      case "creator": if authors.count < 10 { authors.append(tags.words(after: tag)) }
      case "language": language = language ?? tags.words(after: tag)
      case "item":
        guard let id = tags.value("id", of: tag), let link = tags.value("href", of: tag),
          tags.value("media-type", of: tag)?.contains("html") ?? false
        else { continue }
        files[id] = Self.resolved(Self.unescaped(link), from: folder)
      case "itemref":
        if chapters.count < Self.most, let id = tags.value("idref", of: tag), let file = files.removeValue(forKey: id) {
          chapters.append(file)
        }
      default: break
      }
    }
  }

  private static let slash = UInt8(ascii: "/")

  /// Returns a path below the archive's root. `nil` if it leads out of it.
  private static func resolved(_ link: [UInt8], from folder: [UInt8]) -> [UInt8]? {
    var parts = link.first == slash ? [] : folder.split(separator: slash).map { Array($0) }
    for part in link.split(separator: slash) where !part.elementsEqual(".".utf8) {
      if part.elementsEqual("..".utf8) {
        if parts.popLast() == nil { return nil }
      } else {
        parts.append(Array(part))
      }
    }
    return parts.isEmpty ? nil : Array(parts.joined(separator: [slash]))
  }

  /// Returns a link without its fragment, with escaped bytes decoded.
  private static func unescaped(_ link: String) -> [UInt8] {
    var bytes = Array(link.utf8.prefix { $0 != UInt8(ascii: "#") })[...]
    var result: [UInt8] = []
    while let byte = bytes.popFirst() {
      if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: bytes.prefix(2), as: UTF8.self), radix: 16),
        bytes.count >= 2
      {
        result.append(value)
        bytes = bytes.dropFirst(2)
      } else {
        result.append(byte)
      }
    }
    return result
  }
}
