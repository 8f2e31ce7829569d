internal import Catalogue
public import WorkerKit

/// The encodings of a password to try on a PDF.
public enum Passphrase {
  /// Returns the spellings of a password: as given, and as in documents before PDF 2.0, with one byte per character.
  static func spellings(of password: [UInt8]) -> [[UInt8]] {
    guard password.contains(where: { $0 >= 0x80 }), let text = String(validating: password, as: UTF8.self) else {
      return [password]
    }
    let narrow = text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
    return narrow.count == text.unicodeScalars.count ? [password, narrow] : [password]
  }

  /// Returns the candidates for opening a document, in order. The empty password comes last, because the owner password
  /// permits more.
  static func toTry(_ passwords: [[UInt8]]) -> [[UInt8]] { passwords.flatMap(spellings(of:)) + [[]] }

  /// Returns the encoded password that opens a document, preferably the owner password. Returns `nil` if none opens it
  /// or the document needs none.
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
