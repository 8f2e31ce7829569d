internal import Bytes
internal import Files
internal import Glibc

/// The index of the documents below one folder: one file, or several with the documents of a part of the sources each.
///
/// A source belongs to the part that a hash of its path determines, so that processes on several machines can make the
/// parts independently. Documents are identified by numbers that are not used again.
public final class DocumentParts: Sendable {
  /// A part with its index.
  public struct Part: Sendable {
    /// The number of the part, from 0.
    public let number: Int
    public let index: DocumentIndex

    /// Returns the number of a document among all parts.
    public func whole(_ local: UInt32) -> UInt64 { UInt64(number) << 32 | UInt64(local) }
  }

  /// The number of parts, of which some may be missing. 1 for an index in one file.
  public let count: Int
  /// The parts that can be opened, in ascending order.
  public let parts: [Part]
  /// Whether the parts are copies for several machines, which are not changed.
  public let isPublished: Bool

  /// The maximum number of parts.
  public static let most = 4096
  /// The key of checksums in parts, which other machines have to know.
  static let key = [UInt8](repeating: 0, count: 16)

  init(count: Int, _ parts: [Part], isPublished: Bool) {
    (self.count, self.parts, self.isPublished) = (count, parts, isPublished)
  }

  /// Creates the index in one file.
  public convenience init(_ index: DocumentIndex) {
    self.init(count: 1, [Part(number: 0, index: index)], isPublished: false)
  }

  /// Returns the part of a source. Returns `nil` if it is none of these.
  public func part(of path: [UInt8]) -> Part? {
    if count == 1 { return parts.first }
    var hash = StableHash()
    hash.combine(path)
    return part(Int(hash.value % UInt64(count)))
  }

  /// Returns the part with a number. Returns `nil` if it is none of these.
  public func part(_ number: Int) -> Part? {
    if parts.count == count { return parts.indices.contains(number) ? parts[number] : nil }
    return parts.first { $0.number == number }
  }

  private func part(of document: UInt64) -> Part? { part(Int(document >> 32)) }

  /// Returns exclusive locks for changes, held until they are released. Returns `nil` while another process has one of
  /// them.
  public func lock() -> [TextIndexLock]? {
    var locks: [TextIndexLock] = []
    for part in parts {
      guard let lock = part.index.lock() else { return nil }
      locks.append(lock)
    }
    return locks
  }

  /// Whether the documents are lost with this object.
  public var isTemporary: Bool { parts.contains { $0.index.isTemporary } }

  /// The number of times that a file was replaced since it was opened.
  public var replacements: Int { parts.reduce(0) { $0 + $1.index.replacements } }

  /// The size on disk, in bytes.
  public var size: Int64 { parts.reduce(0) { Bounds.sum($0, $1.index.size) } }

  /// The number of documents.
  public var documentCount: Int { parts.reduce(0) { $0 + ($1.index.counts?.documents ?? 0) } }

  /// Merges the words of many changes, so that queries are fast.
  public func optimize() { for part in parts { part.index.optimize() } }

  /// Empties the logs after many changes.
  public func settle() { for part in parts { part.index.settle() } }

  // MARK: Documents

  /// Returns a document. Returns `nil` if it has been removed.
  public func document(_ number: UInt64) -> FoundDocument? {
    guard let part = part(of: number), var found = part.index.document(UInt32(truncatingIfNeeded: number)) else {
      return nil
    }
    found.id = number
    return found
  }

  /// Returns the stored text of a document. Returns `nil` if there is none.
  public func text(of number: UInt64) -> [UInt8]? {
    part(of: number)?.index.text(of: UInt32(truncatingIfNeeded: number))
  }

  /// Returns the stored texts of a document's parts. Returns `nil` if they are not stored with it.
  public func partTexts(of number: UInt64) -> [[UInt8]]? {
    part(of: number)?.index.partTexts(of: UInt32(truncatingIfNeeded: number))
  }

  /// Returns whether one of a document and its `count` parts matches an FTS5 expression in its title, name or people.
  public func matches(_ expression: String, oneOf number: UInt64, andParts count: Int) -> Bool {
    let first = UInt32(truncatingIfNeeded: number)
    let last = first.addingReportingOverflow(UInt32(clamping: max(0, count)))
    let range = first...(last.overflow ? .max : last.partialValue)
    let found = part(of: number)?.index.numbers(matching: expression, in: .heads, among: range)
    return !(found?.isEmpty ?? true)
  }

  // MARK: Publishing

  /// Copies the parts to a directory that several machines mount. Each copy replaces an earlier one as a whole. Returns
  /// whether all are there.
  public func publish(to folder: String) -> Bool {
    guard let folder = Self.findFolder(in: folder, making: true) else { return false }
    return parts.allSatisfy { $0.index.publish(to: folder) }
  }

  fileprivate static func findFolder(in folder: String, making: Bool) -> String? {
    let path = folder + "/find"
    do throws(Fault) { try OwnFolder.check(path, making: making) } catch { return nil }
    return path
  }
}

/// The name of an index file of documents.
struct DocumentFileName: Hashable {
  /// The folder whose documents are indexed, in hexadecimal digits.
  let folder: String
  /// The number of the part, from 0, and of all parts. `nil` for an index in one file.
  let part: Division?

  struct Division: Hashable {
    let number: Int
    let count: Int
  }

  init(_ folder: [UInt8], part: Division? = nil) {
    self.folder = Index.hexadecimal(folder)
    self.part = part
  }

  var text: String { folder + (part.map { ".\($0.number + 1)-\($0.count)" } ?? "") + ".sqlite" }

  /// Returns the parts of a folder's index that are in a directory.
  static func parts(of folder: [UInt8], in directory: String) -> [Division] {
    let own = DocumentFileName(folder).folder + "."
    var found: [Division] = []
    for name in fileNames(inFolder: directory) where name.hasPrefix(own) && name.hasSuffix(".sqlite") {
      let numbers = name.dropFirst(own.count).dropLast(".sqlite".count).split(separator: "-").map { Int($0) }
      guard numbers.count == 2, let number = numbers[0], let count = numbers[1],
        (1...DocumentParts.most).contains(count), (1...count).contains(number)
      else { continue }
      let part = Division(number: number - 1, count: count)
      if DocumentFileName(folder, part: part).text == name { found.append(part) }
    }
    return found
  }

  /// Returns the number of parts of the division that is the most complete. Returns `nil` if there are no parts.
  static func division(of parts: [Division]) -> Int? {
    let counts = Dictionary(grouping: parts, by: \.count).mapValues(\.count)
    return counts.max { ($0.value * $1.key, $0.key) < ($1.value * $0.key, $1.key) }?.key
  }
}

extension Index {
  /// Returns the index of the documents below a folder: its parts in a directory of several machines, if any are there,
  /// or else the parts of this user, or one file. Returns `nil` if it cannot be stored.
  ///
  /// Blocks.
  ///
  /// - Parameters:
  ///   - version: identifies the code that makes the documents. An index of another is replaced.
  ///   - options: identifies what the documents contain, like `version`.
  ///   - division: the part to make, from 0, and the number of all. `nil` to search.
  ///   - shared: the directory of several machines. `nil` for none.
  public func documentParts(
    below folder: [UInt8], version: UInt64, options: UInt64, part division: (number: Int, count: Int)? = nil,
    shared: String? = nil
  ) -> DocumentParts? {
    let published = shared.flatMap { DocumentParts.findFolder(in: $0, making: false) }
    if division == nil, let published {
      let present = DocumentFileName.parts(of: folder, in: published)
      if let count = DocumentFileName.division(of: present) {
        let parts = present.filter { $0.count == count }.sorted { $0.number < $1.number }.compactMap { part in
          DocumentIndex(
            published: "\(published)/\(DocumentFileName(folder, part: part).text)", version: version, options: options
          ).map { DocumentParts.Part(number: part.number, index: $0) }
        }
        if !parts.isEmpty { return DocumentParts(count: count, parts, isPublished: true) }
      }
    }
    guard let base = self.folder, let own = DocumentParts.findFolder(in: base, making: true) else { return nil }
    let count = division?.count ?? DocumentFileName.division(of: DocumentFileName.parts(of: folder, in: own)) ?? 1
    guard count > 1 || division != nil else {
      return documents(below: folder, version: version, options: options).map { DocumentParts($0) }
    }
    var parts: [DocumentParts.Part] = []
    for number in division.map({ $0.number...$0.number }) ?? 0...count - 1 {
      let name = DocumentFileName(folder, part: .init(number: number, count: count)).text
      if let published, DatabaseFile.inode(of: "\(own)/\(name)") == nil {
        _ = PublishedFile.copy("\(published)/\(name)", to: "\(own)/\(name)")
      }
      // Without the key of this cache: other machines have other keys.
      guard
        let index = DocumentIndex(
          path: "\(own)/\(name)", key: DocumentParts.key, version: version, options: options, share: count)
      else { return nil }
      parts.append(DocumentParts.Part(number: number, index: index))
    }
    return DocumentParts(count: count, parts, isPublished: false)
  }

  /// Returns whether there is an index of the documents below a folder. Never creates one.
  public func hasDocuments(below folder: [UInt8], shared: String? = nil) -> Bool {
    [self.folder, shared].contains { base in
      guard let base else { return false }
      return OwnFolder.isOwn(file: "\(base)/find/\(DocumentFileName(folder).text)")
        || !DocumentFileName.parts(of: folder, in: base + "/find").isEmpty
    }
  }
}

/// Copies of index files.
enum PublishedFile {
  /// Copies a file of this user to a path, which exists complete or not at all. Returns whether it is there.
  static func copy(_ path: String, to target: String) -> Bool {
    guard OwnFolder.isOwn(file: path) else { return false }
    let fresh = "\(target).\(getpid())-copy"
    let source = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard source >= 0 else { return false }
    defer { close(source) }
    _ = unsafe unlink(fresh)
    let copy = unsafe open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard copy >= 0 else { return false }
    defer {
      close(copy)
      _ = unsafe unlink(fresh)
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(source, $0.baseAddress, $0.count) }
      if count == 0 { break }
      guard count > 0 else { return false }
      var written = 0
      while written < count {
        let more = unsafe buffer.withUnsafeBytes { bytes in
          unsafe write(copy, bytes.baseAddress.map { unsafe $0 + written }, count - written)
        }
        guard more > 0 else { return false }
        written += more
      }
    }
    guard fsync(copy) == 0 else { return false }
    return unsafe rename(fresh, target) == 0
  }
}
