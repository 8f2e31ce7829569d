import MailReading
import ZipReading

/// What the article ReadAZip quotes, step by step.
enum ReadAZip {
  static func list(_ path: String, print: (String) -> Void) throws {
    let zip = try ZipReader(at: path)
    for member in zip.members where member.kind == .file {
      print("\(member.size) \(member.path)")
    }
  }

  static func read(_ zip: ZipReader, print: (String) -> Void) throws {
    guard let member = zip.member(at: "letters/may.txt") else { return }
    let bytes = try member.bytes()
    print(String(decoding: bytes, as: UTF8.self))
  }

  static func copy(_ member: ZipMember, write: ([UInt8]) throws -> Void) throws {
    var chunks = try member.content().chunks(of: 1 << 20)
    while let chunk = try chunks.next() { try write(chunk) }
  }

  static func unlock(_ path: String, print: (String) -> Void) throws {
    do {
      let zip = try ZipReader(at: path, passwords: ["secret"])
      for member in zip.members where member.kind == .file { _ = try member.bytes() }
    } catch {
      guard error.code == .locked else { throw error }
      print("No password fits: \(error.reason)")
    }
  }

  static func find(_ message: MailMessage, print: (String) -> Void) throws {
    for attachment in try message.attachments() where attachment.name.hasSuffix(".zip") {
      let zip = try ZipReader(attachment.content())
      for member in zip.members where member.name.hasSuffix(".pdf") { print(member.path) }
    }
  }
}
