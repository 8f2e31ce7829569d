internal import Catalogue
internal import Text
internal import WorkerKit

/// The properties of a message, a recipient or an attachment in an Outlook message file (MS-OXMSG, section 2.4). Short
/// ones are in one stream. Each of the others has a stream of its own.
struct OutlookProperties: MessageProperties {
  /// The size of the header before the properties in their stream, in bytes.
  enum Head: Int {
    case file = 32
    case embedded = 24
    case part = 8
  }

  let storage: CompoundStorage
  /// The short properties. A tag is a property's number and its type.
  private var short: [UInt32: UInt64] = [:]
  /// The code page of text without a character set.
  let page: Int

  private static let most = 4096
  private static let longestText = 64 << 20

  /// - Parameter page: the code page of the enclosing message; `nil` for a message, which records it.
  init(_ storage: CompoundStorage, _ head: Head, page: Int? = nil) throws(JobFailure) {
    self.storage = storage
    var bytes: [UInt8] = []
    if let stream = storage.stream(named: "__properties_version1.0") {
      bytes = try stream.next(head.rawValue + 16 * Self.most)
    }
    var place = head.rawValue
    while place <= bytes.count - 16 {
      short[UInt32(bytes, at: place)] =
        UInt64(UInt32(bytes, at: place + 12)) << 32 | UInt64(UInt32(bytes, at: place + 8))
      place += 16
    }
    let known = short
    func number(_ id: UInt16) -> Int? { known[UInt32(id) << 16 | 3].map { Int(UInt32(truncatingIfNeeded: $0)) } }
    self.page = page ?? number(0x3ffd) ?? number(0x3ff1).map(CodePage.page) ?? number(0x3fde) ?? 1252
  }

  func number(_ id: UInt16) -> Int? { short[UInt32(id) << 16 | 3].map { Int(UInt32(truncatingIfNeeded: $0)) } }

  /// Returns a time in seconds since 1970.
  func time(_ id: UInt16) -> Int64? {
    short[UInt32(id) << 16 | 0x40].flatMap(WindowsTime.seconds)
  }

  func stream(_ id: UInt16, _ type: UInt16) -> CompoundStream? {
    storage.stream(named: Self.name(id, type))
  }

  func storage(_ id: UInt16) -> CompoundStorage? { storage.storage(named: Self.name(id, 0x0d)) }

  func bytes(_ id: UInt16) throws(JobFailure) -> [UInt8]? {
    guard let stream = stream(id, 0x102) else { return nil }
    return try Self.all(of: stream)
  }

  func text(_ id: UInt16) throws(JobFailure) -> String? {
    if let stream = stream(id, 0x1f) { return decoded(try Self.all(of: stream), isWide: true) }
    return try stream(id, 0x1e).flatMap { stream throws(JobFailure) in decoded(try Self.all(of: stream), isWide: false)
    }
  }

  func content() throws(JobFailure) -> AttachedContent {
    if let stream = stream(0x3701, 0x102) { return .stream(stream) }
    guard number(0x3705) == 5, let storage = storage(0x3701) else { return .other }
    return .message(try OutlookMessage(storage, .embedded))
  }

  private static func all(of stream: CompoundStream) throws(JobFailure) -> [UInt8] {
    guard stream.size <= longestText else {
      throw JobFailure(.limit, "has a text of more than \(longestText >> 20) MiB")
    }
    return try stream.next(stream.size)
  }

  private static func name(_ id: UInt16, _ type: UInt16) -> String {
    let digits = String(UInt32(id) << 16 | UInt32(type), radix: 16, uppercase: true)
    return "__substg1.0_" + String(repeating: "0", count: 8 - digits.count) + digits
  }
}

extension UInt32 {
  /// Reads four little-endian bytes, which must exist.
  init(_ bytes: [UInt8], at place: Int) {
    self = (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
  }
}
