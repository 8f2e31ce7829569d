import Bytes
import Files
import Glibc
import Index
import ServerAnswers

/// The part of the `SourceCache` that belongs to one source.
struct KeptSource: Sendable {
  let cache: SourceCache
  /// The start of the URLs of the source's files. It can contain secrets.
  private let base: String
  /// The identity in the index.
  private let identity: [UInt8]
  /// Whether the tags of files are their sizes and times.
  private let tagsAreTimes: Bool

  /// The minimum age of a version whose tag is a time, in seconds. A younger one can change and keep its tag.
  private static let minimumAge: Int64 = 60

  /// Returns `nil` if nothing can be kept.
  ///
  /// - Parameters:
  ///   - cache: nil if nothing is kept.
  ///   - words: the source's address, and the options that lead it elsewhere.
  ///   - base: the start of the URLs of its files, by which mounts of other addresses find them, too.
  init?(_ cache: SourceCache?, _ words: [String], base: String, tagsAreTimes: Bool = false) {
    guard let cache, let identity = cache.digest(["source"] + words) else { return nil }
    (self.cache, self.base, self.identity, self.tagsAreTimes) = (cache, base, identity, tagsAreTimes)
  }

  var isOffline: Bool { cache.isOffline }

  // MARK: The source

  /// The kinds of sources.
  enum Kind: UInt8 {
    case file, folder, davFolder

    init(_ interface: any RemoteInterface) {
      self = interface is DAVFolder ? .davFolder : interface.file != nil ? .file : .folder
    }
  }

  /// The kind of the source. Nil if it has not been mounted.
  var kind: Kind? { value("s").flatMap { $0.first }.flatMap(Kind.init) }

  func keep(_ kind: Kind) { keep([kind.rawValue], "s") }

  // MARK: Listings

  /// The maximum size of a kept listing, in bytes: about 200,000 entries.
  private static let largestListing = 16 << 20
  /// The size of a record, in bytes.
  private static let part = 1 << 20

  /// Returns the entries of a directory. Returns `nil` if they are not kept. Blocks.
  func listing(of path: [UInt8]) -> [ServerItem]? {
    let key = Self.key("l", path)
    let records = cache.index.records(of: identity, .elsewhere, from: key + [0, 0], through: key + [255, 255])
    guard let count = records.first?.value.first.map(Int.init), records.count >= count else { return nil }
    return ServerItem.decoded(records.prefix(count).flatMap { $0.value.dropFirst() })
  }

  /// Keeps the entries of a directory. Does not block.
  func keep(_ items: [ServerItem], of path: [UInt8]) {
    guard !isOffline else { return }
    let cost = items.reduce(0) { $0 + 100 + $1.name.count }
    guard cost <= Self.largestListing else { return }
    cache.index.later(cost: cost) { [self] index in
      let bytes = ServerItem.encoded(items)
      let count = max(1, (bytes.count + Self.part - 1) / Self.part)
      guard count <= UInt8.max else { return }
      let key = Self.key("l", path)
      let records = (0..<count).map { number in
        IndexRecord(
          key: key + [UInt8](bigEndian: UInt16(number)),
          value: [UInt8(count)] + bytes[(number * Self.part)..<min(bytes.count, (number + 1) * Self.part)])
      }
      let known = index.records(
        of: identity, .elsewhere, from: key + [0, 0], through: key + [UInt8](bigEndian: UInt16(count - 1)))
      if known != records { index.store(records, .elsewhere, of: identity) }
    }
  }

  /// Returns an item that was requested by itself. Returns `nil` if it is not kept. Blocks.
  func item(at path: [UInt8]) -> ServerItem? { value("i", path).flatMap { ServerItem.decoded($0)?.first } }

  func keep(_ item: ServerItem, at path: [UInt8]) { keep(ServerItem.encoded([item]), "i", path) }

  // MARK: Files

  /// Returns the last known version of a file, with its first bytes if they are kept. Returns `nil` if none is kept.
  /// Blocks.
  func version(of target: String) -> OpenedFile? {
    guard let known = value("v", Array(target.utf8)).flatMap(OpenedFile.init(kept:)) else { return nil }
    var head = [UInt8](repeating: 0, count: Int(min(known.size, Int64(FileRecord.headSize))))
    let hasHead = unsafe head.withUnsafeMutableBytes { buffer in
      unsafe blocks(of: known, target)?.read(into: buffer, at: 0) ?? false
    }
    return hasHead ? known.with(head: head) : known
  }

  /// Keeps a version of a file and its first bytes, if it can be told from all others. Does not block.
  func keep(_ opened: OpenedFile, of target: String) {
    guard !isOffline, let blocks = blocks(of: opened, target) else { return }
    keep(opened.kept, "v", Array(target.utf8))
    blocks.keep(opened.head, at: 0)
  }

  /// Returns the blocks of a version of a file. Returns `nil` if it cannot be told from all others, so that none are
  /// kept.
  func blocks(of opened: OpenedFile, _ target: String) -> KeptBlocks? {
    guard let tag = opened.tag else { return nil }
    if tagsAreTimes, Timestamp.now.seconds - (opened.modified ?? Int64.max / 2) < Self.minimumAge { return nil }
    return cache.digest(["block", base + target, tag, "\(opened.size)"]).map {
      KeptBlocks(cache, $0, size: opened.size)
    }
  }

  // MARK: Records

  private static func key(_ kind: Character, _ path: [UInt8]) -> [UInt8] { Array(kind.utf8) + path + [0] }

  private func value(_ kind: Character, _ path: [UInt8] = []) -> [UInt8]? {
    cache.index.value(of: identity, .elsewhere, Self.key(kind, path))
  }

  private func keep(_ value: [UInt8], _ kind: Character, _ path: [UInt8] = []) {
    guard !isOffline else { return }
    let key = Self.key(kind, path)
    cache.index.later(cost: 500 + value.count) { [identity] index in
      guard index.value(of: identity, .elsewhere, key) != value else { return }
      index.store([IndexRecord(key: key, value: value)], .elsewhere, of: identity)
    }
  }
}
