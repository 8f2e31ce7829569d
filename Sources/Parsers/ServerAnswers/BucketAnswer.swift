package import Bytes
internal import Text
internal import XML

/// A parser of the responses of S3: pages of ListObjectsV2, and errors.
package struct BucketListing {
  /// The objects by their keys, and the prefixes up to the delimiter, which end in it.
  package private(set) var objects: [(key: [UInt8], item: ServerItem)] = []
  package private(set) var prefixes: [[UInt8]] = []
  /// The mark of the next page. Nil for the last one.
  package private(set) var next: String?

  /// The maximum number of entries in a page.
  private static let mostEntries = 10_000
  private static let longestMark = 4096

  /// Parses a page. O(n).
  package init(_ body: [UInt8]) throws(Fault) {
    var path: [String] = []
    var text = ""
    var isEncoded = false
    var isTruncated = false
    var entry = Entry()
    var found: [Entry] = []
    do throws(XMLScanner.Malformed) {
      var scanner = try XMLScanner(body)
      while let event = try scanner.next() {
        switch event {
        case .start(_, let name, _):
          guard !path.isEmpty || name == "ListBucketResult" else { throw XMLScanner.Malformed() }
          path.append(name)
          text = ""
          if path.count == 2 { entry = Entry(isPrefix: name == "CommonPrefixes") }
        case .text(let part): text += part
        case .end:
          let name = path.popLast() ?? ""
          switch (path.count, path.last ?? "", name) {
          case (1, _, "EncodingType"): isEncoded = text == "url"
          case (1, _, "IsTruncated"): isTruncated = text == "true"
          case (1, _, "NextContinuationToken"): next = text
          case (1, _, "Contents"), (1, _, "CommonPrefixes"): found.append(entry)
          case (2, "Contents", "Key"), (2, "CommonPrefixes", "Prefix"): entry.key = Array(text.utf8)
          case (2, "Contents", "Size"): entry.size = Int64(text)
          case (2, "Contents", "LastModified"): entry.modified = ISOTime.timestamp(Array(text.utf8))
          case (2, "Contents", "ETag"): entry.tag = EntityTag.strong(text.hasPrefix("\"") ? text : "\"\(text)\"")
          default: break
          }
          text = ""
        }
      }
    } catch { throw Fault(.damaged, "the server's answer is not a listing of S3") }
    guard found.count <= Self.mostEntries else { throw Fault(.damaged, "the server's page is too long") }
    if !isTruncated { next = nil }
    if isTruncated, next.map({ $0.isEmpty || $0.utf8.count > Self.longestMark }) ?? true {
      throw Fault(.damaged, "the server's listing breaks off (it lacks a continuation token)")
    }
    for entry in found {
      guard let key = isEncoded ? Percent.decoded(entry.key, plusIsBlank: true) : entry.key else {
        throw Fault(.damaged, "the server's listing has a key that is not a percent-encoded one")
      }
      if entry.isPrefix {
        prefixes.append(key)
      } else {
        guard let size = entry.size, Bounds.holds(size) else {
          throw Fault(.damaged, "the server's listing has an object without a size")
        }
        var item = ServerItem()
        item.size = .exact(size)
        item.tag = entry.tag
        item.modified = entry.modified ?? item.modified
        objects.append((key, item))
      }
    }
  }

  private struct Entry {
    var isPrefix = false
    var key: [UInt8] = []
    var size: Int64?
    var modified: Timestamp?
    var tag: String?
  }

  /// Returns the entries of the folder of a prefix, which is empty or ends in a slash. Keys whose last part is not a
  /// valid name are left out.
  package func entries(of prefix: [UInt8]) -> [ServerItem] {
    var items: [ServerItem] = []
    items.reserveCapacity(objects.count + prefixes.count)
    for (key, object) in objects where key.starts(with: prefix) {
      let name = key[prefix.count...]
      // The object of the prefix itself marks a folder that may be empty.
      guard ServerItem.isName(name) else { continue }
      var item = object
      item.name = FileName(name)
      items.append(item)
    }
    for folder in prefixes where folder.starts(with: prefix) && folder.last == UInt8(ascii: "/") {
      let name = folder[prefix.count...].dropLast()
      guard ServerItem.isName(name) else { continue }
      var item = ServerItem()
      item.kind = .folder
      item.name = FileName(name)
      items.append(item)
    }
    return items
  }
}

/// An error of S3.
package struct BucketError {
  /// The code, such as `NoSuchKey`.
  package private(set) var code = ""
  package private(set) var message = ""
  /// The region of the bucket, if the error says that the request was for another one.
  package private(set) var region: String?

  private static let longest = 300

  /// Returns `nil` for other text.
  package init?(_ body: [UInt8]) {
    guard var scanner = try? XMLScanner(body) else { return nil }
    var path: [String] = []
    var text = ""
    while let event = try? scanner.next() {
      switch event {
      case .start(_, let name, _):
        guard !path.isEmpty || name == "Error" else { return nil }
        path.append(name)
        text = ""
      case .text(let part): if text.utf8.count < Self.longest { text += part }
      case .end:
        let name = path.popLast()
        guard path.count == 1 else { continue }
        let value = String(text.map { $0.isNewline ? " " : $0 }.prefix(Self.longest))
        switch name {
        case "Code": code = value
        case "Message": message = value
        case "Region": region = Self.region(value)
        default: break
        }
      }
    }
    if code.isEmpty { return nil }
  }

  /// Returns the name of a region if it is valid.
  package static func region(_ text: some StringProtocol) -> String? {
    let isName = text.utf8.allSatisfy { byte in
      (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
    }
    return isName && (1...64).contains(text.utf8.count) ? String(text) : nil
  }
}
