internal import Catalogue
public import WorkerKit

/// The kind of a document, as far as an office suite determines it by the file's name.
public enum OfficeKind {
  /// Returns the extension that a file with these bytes needs: `.docx`. Empty if it does not matter.
  public static func ending(of input: JobInput) -> String {
    if input.starts(with: compoundFile) {
      return streams.first(where: { hasEntry($0.name, in: input) })?.ending ?? ""
    }
    if input.starts(with: Array("{\\rt".utf8)) { return ".rtf" }
    guard input.starts(with: [0x50, 0x4b]), let package = try? OfficePackage(input) else { return "" }
    if let type = package.bytes("mimetype", upTo: 256) {
      let types = openDocuments.map { "application/vnd.oasis.opendocument.\($0.type)" }
      return zip(types, openDocuments).first(where: { type.elementsEqual($0.0.utf8) })?.1.ending ?? ""
    }
    return folders.first(where: { !package.names(in: $0.name).isEmpty })?.ending ?? ""
  }

  /// A failure due to an encryption that nothing here decrypts.
  public static var locked: JobFailure {
    JobFailure(.locked, "is encrypted with a password in a way that is not supported")
  }

  /// Returns whether LibreOffice opens documents of this kind with a password in a sandbox. Other kinds need services
  /// that it does not have there.
  public static func opensWithPassword(_ input: JobInput) -> Bool { [".doc", ".xls"].contains(ending(of: input)) }

  /// Returns whether the document needs a password and is in a form for which LibreOffice does not ask for one.
  public static func isEncrypted(_ input: JobInput) -> Bool {
    guard input.starts(with: compoundFile) else { return false }
    return hasEntry("EncryptedPackage", in: input) || hasEncryptedSlides(input)
  }

  private static let compoundFile: [UInt8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]
  private static let streams: [(name: String, ending: String)] = [
    ("WordDocument", ".doc"), ("Workbook", ".xls"), ("Book", ".xls"), ("PowerPoint Document", ".ppt"),
  ]
  private static let openDocuments: [(type: String, ending: String)] = [
    ("text", ".odt"), ("spreadsheet", ".ods"), ("presentation", ".odp"),
  ]
  private static let folders: [(name: String, ending: String)] = [
    ("word", ".docx"), ("xl", ".xlsx"), ("ppt", ".pptx"),
  ]

  /// Returns whether a compound file has a stream of that name. The name starts an entry of 128 bytes, and entries fill
  /// sectors. Case-insensitive ([MS-CFB] 2.6.4).
  static func hasEntry(_ name: String, in input: JobInput) -> Bool {
    func upper(_ byte: UInt8) -> UInt8 { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte ? byte - 0x20 : byte }
    let name = (name + "\0").utf16.flatMap { [upper(UInt8($0 & 0xff)), UInt8($0 >> 8)] }
    return withExtendedLifetime(input) {
      stride(from: 0, to: input.count, by: 128).contains { place in
        unsafe input.bytes[place...].prefix(name.count).lazy.map(upper).elementsEqual(name)
      }
    }
  }

  /// Returns whether the user record of slides has the mark of encryption ([MS-PPT] 2.3.2).
  private static func hasEncryptedSlides(_ input: JobInput) -> Bool {
    let mark: [UInt8] = [0x14, 0, 0, 0, 0xdf, 0xc4, 0xd1, 0xf3]
    // A stream starts a sector of at least 64 bytes, with a header of eight.
    return withExtendedLifetime(input) {
      stride(from: 8, to: input.count, by: 64).contains { unsafe input.bytes[$0...].starts(with: mark) }
    }
  }
}
