internal import Bytes
internal import Mail

/// `NAME.views/attachments/`: the attachments of all messages.
final class AttachmentsFolder: ViewFolder {
  let sorted: SortedMailbox
  let place = ViewPlace.of(0x66, [])
  /// Sizes are known once they have been decoded.
  var attributeCost: AttributeCost { .large }

  private static let blockSize = 256

  init(_ sorted: SortedMailbox) { self.sorted = sorted }

  func child(named name: FileName, _ patience: Patience) throws(Fault) -> Found? {
    let list = try sorted.attachments.whole(patience)
    guard let index = list.index(named: name) else { return nil }
    let (position, number) = list.place(index)
    let file = MessageFile(try sorted.message(at: position, patience), .attachment(number))
    return Found(file, try file.attributes(patience))
  }

  func listing(_ patience: Patience) throws(Fault) -> any Listing {
    AllAttachments(self, try sorted.attachments.whole(patience))
  }

  private final class AllAttachments: Listing {
    private let folder: AttachmentsFolder
    private let list: AttachmentList

    init(_ folder: AttachmentsFolder, _ list: AttachmentList) {
      self.folder = folder
      self.list = list
    }

    func entries(after place: Int64, _ patience: Patience) throws(Fault) -> [ListedEntry] {
      guard place >= 0, place < list.count else { return [] }
      return (Int(place)..<min(list.count, Int(place) + AttachmentsFolder.blockSize)).map { index in
        let (position, number) = list.place(index)
        return ListedEntry(
          name: ListedName(FileName(list.name(index))),
          inode: ShownMessage.inode(folder.sorted.file, position, MessagePart.attachment(number).number), kind: .file,
          next: Int64(index) + 1)
      }
    }
  }
}
