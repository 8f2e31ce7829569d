internal import Mail
internal import WorkerKit

/// The properties of a message, a recipient or an attachment (MS-OXPROPS), by their numbers, wherever they are kept.
protocol MessageProperties {
  /// What text without a character set is in.
  var page: Int { get }

  func number(_ id: UInt16) -> Int?
  /// In seconds since 1970.
  func time(_ id: UInt16) -> Int64?
  func bytes(_ id: UInt16) throws(JobFailure) -> [UInt8]?
  /// Without zeros at its end; nil if there is none, or it is empty.
  func text(_ id: UInt16) throws(JobFailure) -> String?
  /// The number here of one that has a long number by its name (MS-OXPROPS); nil if it is not known.
  func tag(named id: UInt32) -> UInt16?
  /// What an attachment has attached.
  func content() throws(JobFailure) -> AttachedContent
}

extension MessageProperties {
  func tag(named id: UInt32) -> UInt16? { nil }

  /// The first of these that there is.
  func text(anyOf ids: [UInt16]) throws(JobFailure) -> String? {
    for id in ids { if let text = try text(id) { return text } }
    return nil
  }

  /// Text in the character set of the properties, or in UTF-16, whatever its type is.
  func decoded(_ bytes: [UInt8], isWide: Bool) -> String? {
    var text: String
    if isWide {
      let units = stride(from: 0, to: bytes.count - 1, by: 2).map { UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8 }
      text = String(decoding: units, as: UTF16.self)
    } else {
      let name = Array(CodePage.name(page).utf8)
      text = String(decoding: DecodedText.utf8(bytes, declared: name[...]), as: UTF8.self)
    }
    while text.unicodeScalars.last == "\0" { text.unicodeScalars.removeLast() }
    return text.isEmpty ? nil : text
  }
}

/// What an attachment is.
enum AttachedContent {
  /// Its bytes, from the first to the last.
  case stream(CompoundStream)
  /// A file of so many bytes that goes where the message is read.
  case later(Int64, address: [UInt32])
  case message(OutlookMessage)
  /// An object of another program's.
  case other
}

/// Windows' times, which count tenths of microseconds from 1601 on.
enum WindowsTime {
  /// In seconds since 1970; nil for none.
  static func seconds(_ ticks: UInt64) -> Int64? {
    ticks > 0 && ticks < 1 << 62 ? Int64(ticks / 10_000_000) - 11_644_473_600 : nil
  }
}
