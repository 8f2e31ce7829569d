internal import Mail
internal import WorkerKit

/// The content of a clear-signed message (MS-OXOSMIME, section 2.1.3). Outlook keeps it as the only attachment, a MIME
/// entity with a header of its own.
struct SignedContent {
  private let header: Header
  private let body: ArraySlice<UInt8>

  /// Returns `nil` if the message is not clear-signed.
  init?(of message: OutlookMessage) throws(JobFailure) {
    guard message.attachments.count == 1, let attachment = message.attachments.first,
      try attachment.text(0x370e)?.lowercased() == "multipart/signed",
      let bytes = try attachment.bytes(0x3701), let start = Header.end(of: bytes[...])
    else { return nil }
    header = Header(bytes[...])
    guard let type = header.contentType, type.isMultipart, type.boundary != nil else { return nil }
    body = bytes[start...]
  }

  /// Writes the fields of the content after those of the message, and the signed bytes unchanged.
  func write(to output: DocumentTextOutput, behind lines: [String]) throws(JobFailure) {
    for line in lines { try output.write(line + "\n") }
    for field in header.fields {
      let name = header.name(of: field)
      guard String(decoding: name, as: UTF8.self).lowercased().hasPrefix("content-") else { continue }
      try output.write(name + [0x3a, 0x20] + header.value(of: field) + [0x0a])
    }
    try output.write("\n")
    try output.write(body)
  }
}
