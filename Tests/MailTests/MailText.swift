import Bytes
import TestSupport

@testable import HTML
@testable import Mail

/// A message for a test, from its text.
struct OpenMail {
  let message: Message

  init(_ text: String, isQuoted: Bool = false) throws {
    try self.init(Array(text.utf8), isQuoted: isQuoted)
  }

  init(_ bytes: [UInt8], isQuoted: Bool = false) throws {
    message = try Message(reading: ByteArraySource(bytes), isQuoted: isQuoted)
  }

  func bytes(_ source: any ByteSource) throws -> [UInt8] { try source.bytes(at: 0, count: Int(source.size)) }

  var body: String { get throws { String(decoding: try bytes(message.open(message.body)), as: UTF8.self) } }
  /// The safe page, without the common head.
  var html: String? {
    get throws {
      try message.html.map {
        String(decoding: try bytes(message.open($0)), as: UTF8.self).replacing(SafeHTML.head, with: "")
      }
    }
  }
  var originalHTML: String? {
    get throws { try message.originalHTML.map { String(decoding: try bytes(message.open($0)), as: UTF8.self) } }
  }
  var names: [String] { message.attachments.map(\.name.text) }

  func file(_ name: String) throws -> [UInt8]? {
    try message.attachments.first { $0.name.text == name }.map { try bytes(message.open($0)) }
  }

  func text(_ name: String) throws -> String? { try file(name).map { String(decoding: $0, as: UTF8.self) } }
}
