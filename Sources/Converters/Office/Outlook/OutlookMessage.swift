internal import Bytes
internal import Catalogue
internal import Mail
internal import WorkerKit

/// A message of Outlook, or one attached to another.
struct OutlookMessage {
  let properties: any MessageProperties
  /// The recipients and attachments, in stored order.
  let recipients: [any MessageProperties]
  let attachments: [any MessageProperties]

  /// The maximum number of recipients and of attachments that are read.
  static let mostParts = 65_536

  init(properties: any MessageProperties, recipients: [any MessageProperties], attachments: [any MessageProperties]) {
    self.properties = properties
    self.recipients = recipients
    self.attachments = attachments
  }

  /// Reads the message in a message file.
  init(_ storage: CompoundStorage, _ head: OutlookProperties.Head) throws(JobFailure) {
    let properties = try OutlookProperties(storage, head)
    self.properties = properties
    let names = storage.names.prefix(Self.mostParts)
    func parts(_ prefix: String) throws(JobFailure) -> [OutlookProperties] {
      var parts: [OutlookProperties] = []
      for name in names.filter({ $0.hasPrefix(prefix) }).sorted() {
        guard let part = storage.storage(named: name) else { continue }
        parts.append(try OutlookProperties(part, .part, page: properties.page))
      }
      return parts
    }
    recipients = try parts("__recip_version1.0_#")
    attachments = try parts("__attach_version1.0_#")
  }

  /// Returns the bodies and their types, plain text first.
  func bodies() throws(JobFailure) -> [(type: String, bytes: [UInt8])] {
    var bodies: [(type: String, bytes: [UInt8])] = []
    if let text = try properties.text(0x1000) { bodies.append(("text/plain; charset=utf-8", Array(text.utf8))) }
    let rich = try Self.rich(properties.bytes(0x1009))
    let own = try page()
    if let page = own ?? rich.flatMap(RichTextPage.page) {
      bodies.append(("text/html; charset=utf-8", Array(page.utf8)))
    } else if let rich {
      bodies.append(("application/rtf; name=message.rtf", rich))
    }
    return bodies
  }

  /// Decompresses RTF in its compressed form.
  private static func rich(_ compressed: [UInt8]?) throws(JobFailure) -> [UInt8]? {
    guard let compressed else { return nil }
    do throws(Fault) {
      guard let plain = try CompressedRTF.plain(ByteArraySource(compressed)) else { return nil }
      return try plain.bytes(at: 0, count: Int(min(plain.size, longestText)))
    } catch {
      throw JobFailure(.damaged, "has RTF that cannot be read", saying: error.reason)
    }
  }

  private static let longestText: Int64 = 64 << 20

  private func page() throws(JobFailure) -> String? {
    if let text = try properties.text(0x1013) { return text }
    guard let bytes = try properties.bytes(0x1013), !bytes.isEmpty else { return nil }
    let name = Array("cp\(properties.number(0x3fde) ?? properties.page)".utf8)
    return String(decoding: DecodedText.utf8(bytes, declared: name[...]), as: UTF8.self)
  }
}
