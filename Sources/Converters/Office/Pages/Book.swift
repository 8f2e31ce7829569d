internal import Catalogue
internal import WorkerKit

/// A reader of books in EPUB 2 and 3. The chapters are in the order of the spine.
struct Book {
  private let package: OfficePackage

  init(_ package: OfficePackage) { self.package = package }

  func read(into taker: any BlockTaker) throws(JobFailure) {
    guard let main = try mainPath(), let reader = try package.reader(main) else {
      throw JobFailure(.damaged, "has no list of chapters")
    }
    let folder = main.lastIndex(of: "/").map { String(main[...$0]) } ?? ""
    var paths: [String: String] = [:]
    while let event = try reader.next() {
      guard case .start(let element) = event else { continue }
      switch element.name {
      case "item":
        guard let id = element["id"], let target = element["href"], Self.isPage(element) else { continue }
        paths[id] = OfficePackage.resolve(Self.unescaped(target), from: folder)
      case "itemref":
        guard let path = element["idref"].flatMap({ paths[$0] }) else { continue }
        try readChapter(path, into: taker)
      default: break
      }
    }
  }

  private static func isPage(_ element: Element) -> Bool { element["media-type"]?.contains("html") ?? false }

  private func mainPath() throws(JobFailure) -> String? {
    guard let reader = try package.reader("META-INF/container.xml") else { return nil }
    while let event = try reader.next() {
      if case .start(let element) = event, element.name == "rootfile" { return element["full-path"] }
    }
    return nil
  }

  private func readChapter(_ path: String, into taker: any BlockTaker) throws(JobFailure) {
    guard let part = try package.part(path) else { return }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    try WebText(WebPage.reader(part), into: taker) { source in
      source.contains(":") ? nil : OfficePackage.resolve(Self.unescaped(source), from: folder)
    }.read()
  }

  /// Returns a link without its fragment, and with `%20` decoded to a space.
  private static func unescaped(_ link: String) -> String {
    let bytes = Array(link.prefix { $0 != "#" }.utf8)
    var (result, index): ([UInt8], Int) = ([], 0)
    while index < bytes.count {
      if bytes[index] == 0x25, index + 2 < bytes.count,
        let value = UInt8(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
      {
        result.append(value)
        index += 3
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
