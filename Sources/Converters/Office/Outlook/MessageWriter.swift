internal import Catalogue
internal import Text
internal import WorkerKit

/// A writer of a message in the format of RFC 5322 and MIME.
struct MessageWriter {
  private let output: DocumentTextOutput
  /// The number of omitted attachments, which are objects of other programs.
  private(set) var leftOut = 0
  /// The attached files that are not written: the offset of each in the output and its size, in bytes, and its address.
  private(set) var files: [(place: Int64, size: Int64, address: [UInt32])] = []

  private static let deepest = 16
  /// The number of bytes encoded at a time, a multiple of the 57 bytes in a line of Base64.
  private static let piece = 57 << 10

  init(_ output: DocumentTextOutput) { self.output = output }

  mutating func write(_ message: OutlookMessage, depth: Int = 0) throws(JobFailure) {
    guard depth <= Self.deepest else {
      throw JobFailure(.limit, "has messages nested more than \(Self.deepest) deep")
    }
    let header = try MessageHeader(message).lines
    let bodies = try message.bodies()
    // `Format.eml` relies on this beginning.
    try output.write("MIME-Version: 1.0\n")
    if let signed = try SignedContent(of: message) { return try signed.write(to: output, behind: header) }
    let entry = try OutlookEntry(message)
    if message.attachments.isEmpty, entry == nil { return try write(bodies, depth, header) }
    let mark = Self.mark("mixed", depth)
    try start("mixed", mark, header)
    try next(mark)
    try write(bodies, depth)
    for attachment in message.attachments { try write(attachment, mark, depth) }
    if let entry {
      try next(mark)
      let disposition = "Content-Disposition: attachment; filename=\(entry.name)"
      try write(Array(entry.text.utf8), entry.type, [disposition])
    }
    try end(mark)
  }

  // MARK: Parts

  /// Returns a boundary. No line of a part begins with it, since Base64 has `=` only at the end of a line.
  private static func boundary(_ mark: String) -> String { "=_ffmount-\(mark)" }

  /// Returns a mark that does not begin with another one.
  private static func mark(_ kind: String, _ depth: Int) -> String { "\(kind)-\(depth)-" }

  private func start(_ kind: String, _ mark: String, _ header: [String]) throws(JobFailure) {
    try output.write("Content-Type: multipart/\(kind); boundary=\"\(Self.boundary(mark))\"\n")
    try endHeader(header)
  }

  private func endHeader(_ lines: [String]) throws(JobFailure) {
    for line in lines { try output.write(line + "\n") }
    try output.write("\n")
  }

  private func next(_ mark: String) throws(JobFailure) { try output.write("--\(Self.boundary(mark))\n") }
  private func end(_ mark: String) throws(JobFailure) { try output.write("--\(Self.boundary(mark))--\n") }

  private func write(
    _ bodies: [(type: String, bytes: [UInt8])], _ depth: Int, _ header: [String] = []
  ) throws(JobFailure) {
    guard bodies.count > 1 else {
      return try write(bodies.first?.bytes ?? [], bodies.first?.type ?? "text/plain; charset=utf-8", header)
    }
    let mark = Self.mark("alternative", depth)
    try start("alternative", mark, header)
    for body in bodies {
      try next(mark)
      try write(body.bytes, body.type)
    }
    try end(mark)
  }

  private func write(_ bytes: [UInt8], _ type: String, _ header: [String] = []) throws(JobFailure) {
    try output.write("Content-Type: \(type)\nContent-Transfer-Encoding: base64\n")
    try endHeader(header)
    for start in stride(from: 0, to: bytes.count, by: Self.piece) {
      try writeLines(Array(bytes[start..<min(start + Self.piece, bytes.count)]))
    }
    try output.write("\n")
  }

  private func writeLines(_ bytes: [UInt8]) throws(JobFailure) {
    for start in stride(from: 0, to: bytes.count, by: 57) {
      try output.write(Base64.text(Array(bytes[start..<min(start + 57, bytes.count)])) + "\n")
    }
  }

  private mutating func write(
    _ attachment: any MessageProperties, _ mark: String, _ depth: Int
  ) throws(JobFailure) {
    let name = try attachment.text(anyOf: [0x3707, 0x3704, 0x3001])
    switch try attachment.content() {
    case .stream(let stream):
      try startFile(attachment, name, mark)
      while true {
        let bytes = try stream.next(Self.piece)
        if bytes.isEmpty { break }
        try writeLines(bytes)
      }
      try output.write("\n")
    case .later(let size, let address):
      try startFile(attachment, name, mark)
      files.append((Int64(output.count), size, address))
      try output.write("\n")
    case .message(let message):
      try next(mark)
      try output.write("Content-Type: message/rfc822\nContent-Transfer-Encoding: 8bit\n")
      try writeDisposition("attachment", name.map { $0.hasSuffix(".eml") || $0.hasSuffix(".msg") ? $0 : $0 + ".eml" })
      try write(message, depth: depth + 1)
    case .other: leftOut += 1
    }
  }

  private func startFile(
    _ attachment: any MessageProperties, _ name: String?, _ mark: String
  ) throws(JobFailure) {
    try next(mark)
    let type = try attachment.text(0x370e).flatMap(Self.type)
    try output.write("Content-Type: \(type ?? "application/octet-stream")\nContent-Transfer-Encoding: base64\n")
    if let id = try attachment.text(0x3712), let plain = MessageHeader.plain(id) {
      try output.write("Content-ID: <\(plain.filter { $0 != "<" && $0 != ">" })>\n")
    }
    // The file is shown within the page.
    let isInline = (attachment.number(0x3714) ?? 0) & 4 != 0
    try writeDisposition(isInline ? "inline" : "attachment", name)
  }

  private func writeDisposition(_ kind: String, _ name: String?) throws(JobFailure) {
    let name = name.map { String($0.prefix(255)) }
    let parameter = name.map { "; filename*=utf-8''\(MessageHeader.escaped($0))" } ?? ""
    try output.write("Content-Disposition: \(kind)\(parameter)\n\n")
  }

  /// Returns `text` if it is a MIME type.
  private static func type(_ text: String) -> String? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let isType =
      parts.count == 2
      && parts.allSatisfy { part in
        !part.isEmpty && part.utf8.count < 100
          && part.utf8.allSatisfy { MessageHeader.isTokenByte($0) }
      }
    // Types with parts of their own would also need their boundary.
    return isType && !text.lowercased().hasPrefix("multipart/") && !text.lowercased().hasPrefix("message/") ? text : nil
  }
}
