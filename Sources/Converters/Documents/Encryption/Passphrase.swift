internal import Catalogue
public import WorkerKit

/// The encodings of a password to try on a PDF.
public enum Passphrase {
  /// As given, and as in documents before PDF 2.0, with one byte per character.
  static func spellings(of password: [UInt8]) -> [[UInt8]] {
    guard password.contains(where: { $0 >= 0x80 }), let text = String(validating: password, as: UTF8.self) else {
      return [password]
    }
    let narrow = text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
    return narrow.count == text.unicodeScalars.count ? [password, narrow] : [password]
  }

  /// The candidates for opening a document, in order: the empty password comes last, because the owner password permits
  /// more.
  static func toTry(_ passwords: [[UInt8]]) -> [[UInt8]] { passwords.flatMap(spellings(of:)) + [[]] }

  /// The encoded password that opens a document, the owner password if it is among them; nil if none opens it or the
  /// document needs none.
  public static func opening(_ input: JobInput, among passwords: [[UInt8]]) -> [UInt8]? {
    var first: [UInt8]?
    for spelling in passwords.flatMap(spellings(of:)) {
      guard let key = unsafe try? EncryptionKey(of: input.bytes, spelling) else { continue }
      if key.isOwners { return spelling }
      first = first ?? spelling
    }
    return first
  }
}
