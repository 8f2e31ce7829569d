internal import Bytes
internal import Catalogue
internal import PersonalFolders
internal import WorkerKit

/// A writer of the list of a store's messages.
struct StoreList {
  private let output: JobOutput
  private let expected: Int
  private let names: StoreNames?
  private var waiting: [UInt8] = []
  private var written: Int64 = 0
  private var count = 0
  private var lost = 0
  private var shown: Set<UInt32> = []
  private var toldAt = ContinuousClock.now

  private static let piece = 1 << 20
  private static let pause = Duration.milliseconds(100)

  /// - Parameter expected: the approximate number of messages.
  init(_ output: JobOutput, expected: Int, _ names: StoreNames?) {
    self.output = output
    self.names = names
    self.expected = max(1, expected)
  }

  /// Appends a message unless it is already listed. Counts a message that cannot be read.
  ///
  /// - Parameters:
  ///   - isHidden: whether the message is appended only if it is mail.
  ///   - isOrphan: whether no folder lists the message.
  mutating func add(
    _ file: StoreFile, _ number: UInt32, in folder: String, isHidden: Bool, isOrphan: Bool = false
  ) throws(JobFailure) {
    guard shown.insert(number).inserted else { return }
    guard let node = (try? file.node(number)) ?? nil, let message = OutlookMessage(node, names) else {
      // Messages that no folder lists may be incomplete.
      if !isOrphan { lost += 1 }
      return
    }
    do throws(JobFailure) {
      // Folders that Outlook does not show contain settings as messages.
      if isHidden, try !(message.properties.text(0x1a) ?? "").hasPrefix("IPM.Note") { return }
      let text = DocumentTextOutput(nil)
      var writer = MessageWriter(text)
      try writer.write(message)
      var record = MailRecord(.message)
      record.folder = Array(folder.utf8)
      record.state = Self.state(of: message.properties, isOrphan: isOrphan)
      record.files = writer.files.map { file in
        MailRecord.File(
          place: file.place, size: file.size, address: MailFileAddress(message: number, path: file.address))
      }
      record.text = text.take()
      try write(record)
    } catch {
      if error.failure == .system || error.failure == .memory { throw error }
      lost += 1
    }
  }

  mutating func finish(lostFolders: Int) throws(JobFailure) {
    var end = MailRecord(.end)
    let parts = [(lost, "messages"), (lostFolders, "lists of folders")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    if !parts.isEmpty { end.text = Array("has \(parts.joined(separator: " and ")) that cannot be read".utf8) }
    try write(end)
  }

  /// Returns the bits of `MessageState`, as Outlook records them (MS-OXCMSG, section 2.2.1.6; MS-OXOMSG, section
  /// 2.2.1).
  private static func state(of properties: any MessageProperties, isOrphan: Bool) -> UInt8 {
    var state: UInt8 = 0
    let flags = properties.number(0x0e07) ?? 1
    if flags & 1 == 0 { state |= 1 }
    if properties.number(0x1090) == 2 { state |= 2 }
    let last = properties.number(0x1081) ?? 0
    if last == 102 || last == 103 { state |= 4 }
    if last == 104 { state |= 8 }
    if flags & 8 != 0 { state |= 16 }
    if isOrphan { state |= 32 }
    return state
  }

  private mutating func write(_ record: MailRecord) throws(JobFailure) {
    waiting += record.bytes
    count += 1
    let isDue = count == 1 || toldAt.duration(to: .now) > Self.pause
    guard isDue || record.kind == .end || waiting.count >= Self.piece else { return }
    try unsafe output.write(waiting.span.bytes)
    written += Int64(waiting.count)
    waiting.removeAll(keepingCapacity: true)
    guard isDue else { return }
    output.tell(bytes: written, thousandths: Int64(min(999, count * 1000 / expected)))
    toldAt = .now
  }
}
