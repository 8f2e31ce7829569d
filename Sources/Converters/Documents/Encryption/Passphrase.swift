public import JobFiles

/// The ways to try a password on a PDF.
public enum Passphrase {
  /// As it was given, and as documents of before PDF 2.0 have it, in one byte a character.
  static func spellings(of password: [UInt8]) -> [[UInt8]] {
    guard password.contains(where: { $0 >= 0x80 }), let text = String(validating: password, as: UTF8.self) else {
      return [password]
    }
    let narrow = text.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
    return narrow.count == text.unicodeScalars.count ? [password, narrow] : [password]
  }

  /// What to open a document with, one after the other: none is last, since who knows its owner's may do more.
  static func toTry(_ passwords: [[UInt8]]) -> [[UInt8]] { passwords.flatMap(spellings(of:)) + [[]] }

  /// Those bytes by which one of some passwords opens a document, its owner's if that is among them; nil: it asks for none, or
  /// for another one.
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
