internal import Mail
internal import WorkerKit

/// The properties of a message, a recipient or an attachment (MS-OXPROPS), by their numbers, regardless of their
/// storage.
protocol MessageProperties {
  /// The code page of text without a character set.
  var page: Int { get }

  func number(_ id: UInt16) -> Int?
  /// Returns a time in seconds since 1970.
  func time(_ id: UInt16) -> Int64?
  func bytes(_ id: UInt16) throws(JobFailure) -> [UInt8]?
  /// Returns text without zeros at its end. Returns `nil` if there is none, or it is empty.
  func text(_ id: UInt16) throws(JobFailure) -> String?
  /// Returns the number in this file of a named property, by its long number (MS-OXPROPS). Returns `nil` if it is
  /// unknown.
  func tag(named id: UInt32) -> UInt16?
  /// Returns the content of an attachment.
  func content() throws(JobFailure) -> AttachedContent
}

extension MessageProperties {
  func tag(named id: UInt32) -> UInt16? { nil }

  /// Returns the first of these texts that exists.
  func text(anyOf ids: [UInt16]) throws(JobFailure) -> String? {
    for id in ids { if let text = try text(id) { return text } }
    return nil
  }

  /// Decodes text in the character set of the properties, or in UTF-16, whatever its type is.
  func decoded(_ bytes: [UInt8], isWide: Bool) -> String? {
    var text: String
    if isWide {
      let units = stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
      text = String(decoding: units, as: UTF16.self)
    } else {
      let name = Array("cp\(page)".utf8)
      text = String(decoding: DecodedText.utf8(bytes, declared: name[...]), as: UTF8.self)
    }
    while text.unicodeScalars.last == "\0" { text.unicodeScalars.removeLast() }
    return text.isEmpty ? nil : text
  }
}

/// The content of an attachment.
enum AttachedContent {
  /// The bytes, from first to last.
  case stream(CompoundStream)
  /// A file, by its size in bytes, that is inserted when the message is read.
  case later(Int64, address: [UInt32])
  case message(OutlookMessage)
  /// An object of another program.
  case other
}

/// The times of Windows, which count tenths of microseconds since 1601.
enum WindowsTime {
  /// Returns a time in seconds since 1970. Returns `nil` if it is 0 or too large.
  static func seconds(_ ticks: UInt64) -> Int64? {
    ticks > 0 && ticks < 1 << 62 ? Int64(ticks / 10_000_000) - 11_644_473_600 : nil
  }
}
