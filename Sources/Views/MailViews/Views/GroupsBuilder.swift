internal import Bytes
internal import Mail
internal import Text
internal import Tree

/// Groups a mailbox's messages for all sortings except threads.
struct GroupsBuilder {
  private var senders = NameList()
  /// The sender's number, by message.
  private var sent: [UInt32] = []
  private var labels = NameList()
  private var labelled: [MessageGroups.Member] = []
  private var deleted: [UInt32] = []
  private(set) var facts: MessageFacts
  private var position: UInt32 = 0

  /// `count` is the number of messages to come.
  init(expecting count: Int = 0) {
    facts = MessageFacts(expecting: count)
    sent.reserveCapacity(count)
  }

  /// Adds the next message of the mailbox.
  mutating func add(_ row: MessageRow) {
    sent.append(senders.add(Self.sender(of: row)[...]).number)
    var paths: [[UInt8]] = []
    for label in row.labels {
      let path = Self.path(ofLabel: label)
      if !path.isEmpty, !paths.contains(path) { paths.append(path) }
    }
    for path in paths { labelled.append((labels.add(path[...]).number, position)) }
    if row.isDeleted { deleted.append(position) }
    facts.add(row)
    position += 1
  }

  /// Returns the groups of one sorting and frees their source data. Called once per sorting.
  mutating func take(_ sorting: Sorting) -> MessageGroups {
    switch sorting {
    case .date: return dates
    case .sender:
      defer { (senders, sent) = (NameList(), []) }
      senders.finish()
      return MessageGroups(senders, of: sent)
    case .label:
      defer { (labels, labelled) = (NameList(), []) }
      labels.finish()
      return MessageGroups(labels, labelled)
    case .deleted: return MessageGroups(single: deleted)
    case .thread, .attachments: return MessageGroups(single: [])
    }
  }

  /// The groups by month of writing.
  private var dates: MessageGroups {
    var names = NameList()
    var months: [UInt32] = []
    months.reserveCapacity(facts.count)
    var last: (day: Int32, number: UInt32)?
    for day in facts.days {
      if last?.day != day {
        let month = day == .min ? nil : MessageRow.month(ofDay: Int(day))
        last = (day, names.add(Array((month ?? "undated").utf8)[...]).number)
      }
      months.append(last?.number ?? 0)
    }
    return MessageGroups(names, of: months)
  }

  /// Returns the group name of a sender: the address, which is case-insensitive, or else the name.
  private static func sender(of row: MessageRow) -> [UInt8] {
    let shown = MessageRow.folderText(row.address.isEmpty ? row.sender : row.address)
    if shown.isEmpty { return Array("unknown sender".utf8) }
    let name = row.address.isEmpty ? Array(shown.utf8) : shown.utf8.map { $0.asciiLower }
    return Array(SafeName.safe(name[...]))
  }

  /// Returns a label's path, with each component made safe.
  private static func path(ofLabel label: String) -> [UInt8] {
    var path: [UInt8] = []
    for part in label.split(separator: "/") {
      let text = MessageRow.folderText(String(part))
      guard !text.isEmpty else { continue }
      var name = Array(SafeName.safe(Array(text.utf8)[...]))
      // A label must not look like the name of a message's directory.
      if MessageRow.position(inFolderName: FileName(name)) != nil { name = Array("label ".utf8) + name }
      if !path.isEmpty { path.append(0x2f) }
      path += name
    }
    return path
  }
}

extension UInt8 {
  fileprivate var asciiLower: UInt8 { self >= 0x41 && self <= 0x5a ? self | 0x20 : self }
}
