internal import Bytes
internal import Mail
internal import Tree

/// `NAME.views/attachments/`: the attachments of all messages.
final class AttachmentsFolder: MailViewDirectory {
  let sorted: SortedMailbox
  let place = ViewPlace.of(0x66, [])
  /// Sizes are known only after decoding.
  var attributeCost: AttributeCost { .large }

  init(_ sorted: SortedMailbox) { self.sorted = sorted }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    let list = try sorted.attachments.whole(blocking)
    guard let number = list.index(named: name) else { return nil }
    return try attachment(number, in: list, blocking)
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    let list = try sorted.attachments.whole(blocking)
    return AttachmentListing(self, list, 0..<UInt32(list.count))
  }
}

extension MailViewDirectory {
  /// Returns the file of an attachment, by its index in the list.
  func attachment(_ number: Int, in list: AttachmentList, _ blocking: BlockingMode) throws(Fault) -> LookupResult {
    let (position, place) = list.place(number)
    let file = MessageFile(try sorted.message(at: position, blocking), .attachment(place))
    return LookupResult(file, try file.attributes(blocking))
  }
}

/// A listing of some attachments of a mailbox.
final class AttachmentListing<Numbers: RandomAccessCollection & Sendable>: DirectoryCursor
where Numbers.Element == UInt32 {
  private let folder: any MailViewDirectory
  private let list: AttachmentList
  /// Indices into the list.
  private let numbers: Numbers

  private var blockSize: Int { 256 }

  init(_ folder: any MailViewDirectory, _ list: AttachmentList, _ numbers: Numbers) {
    self.folder = folder
    self.list = list
    self.numbers = numbers
  }

  func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
    guard place >= 0, place < numbers.count else { return [] }
    var entries: [ListedEntry] = []
    for number in numbers.dropFirst(Int(place)).prefix(blockSize) {
      let (position, part) = list.place(Int(number))
      let serial = try folder.sorted.mailbox.serial(at: position, blocking)
      entries.append(
        ListedEntry(
          name: ListedName(FileName(list.name(Int(number)))),
          inode: ShownMessage.inode(folder.sorted.file, serial, MessagePart.attachment(part).number), kind: .file,
          next: place + Int64(entries.count) + 1))
    }
    return entries
  }
}
