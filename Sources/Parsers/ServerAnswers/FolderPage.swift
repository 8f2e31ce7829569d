package import Bytes
internal import Text

/// A parser of the pages by which web servers list their folders: those of nginx, Apache, lighttpd and Python.
///
/// Only the links count, since sizes and times are rounded and have no common format.
package enum FolderPage {
  /// Returns whether a page is such a listing, by its title.
  package static func isListing(_ page: [UInt8]) -> Bool {
    let start = String(decoding: page.prefix(4096), as: UTF8.self)
    return ["Index of", "Directory listing for"].contains { start.contains($0) }
  }

  /// Returns the entries of the folder at a URL path, which ends in a slash. Other links are left out. O(n).
  package static func entries(of page: [UInt8], at path: [UInt8]) throws(Fault) -> [ServerItem] {
    let slash = UInt8(ascii: "/")
    let folder = Percent.decoded(path) ?? path
    var items: [ServerItem] = []
    for link in links(in: page) where !link.contains(UInt8(ascii: "?")) && !link.contains(UInt8(ascii: "#")) {
      guard var name = Percent.decoded(link) else { continue }
      if name.first == slash {
        guard name.starts(with: folder) else { continue }
        name.removeFirst(folder.count)
      } else if name.starts(with: "./".utf8) {
        name.removeFirst(2)
      }
      var item = ServerItem()
      if name.last == slash {
        name.removeLast()
        item.kind = .folder
      }
      // Excludes other servers, too: their addresses have more slashes.
      guard ServerItem.isName(name) else { continue }
      item.name = FileName(name)
      guard items.count < ServerAnswer.mostItems else { throw ServerAnswer.tooManyItems }
      items.append(item)
    }
    return items
  }

  /// Returns the values of all `href` attributes.
  private static func links(in page: [UInt8]) -> [[UInt8]] {
    var links: [[UInt8]] = []
    var index = 0
    let mark = Array("href=".utf8)
    while let found = page[index...].firstIndex(where: { $0 | 0x20 == mark[0] }) {
      index = found + 1
      let value = found + mark.count + 1
      guard value < page.count, zip(page[found...], mark).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { continue }
      let quote = page[value - 1]
      guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"), let end = page[value...].firstIndex(of: quote)
      else { continue }
      let text = String(decoding: page[value..<end], as: UTF8.self)
      // All other bytes of names are percent-encoded.
      links.append(Array(text.replacing("&amp;", with: "&").utf8))
      index = end + 1
    }
    return links
  }
}
