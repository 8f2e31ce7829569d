internal import Bytes
internal import Mail
internal import Text

/// Sorts a mailbox's messages into the folders of its views.
struct GroupsBuilder {
  private var dates = NamedGroups()
  private var senders = NamedGroups()
  private var labels = NamedGroups()
  private var deleted: [UInt32] = []
  private var threads = ThreadFinder()
  private(set) var facts = MessageFacts()
  private var position: UInt32 = 0

  /// Adds the next message of the archive.
  mutating func add(_ row: MessageRow) {
    dates.add(Array((row.month ?? "undated").utf8), position)
    senders.add(Self.sender(of: row), position)
    var paths: [[UInt8]] = []
    for label in row.labels {
      let path = Self.path(ofLabel: label)
      if !path.isEmpty, !paths.contains(path) { paths.append(path) }
    }
    for path in paths { labels.add(path, position) }
    if row.isDeleted { deleted.append(position) }
    threads.add(row)
    facts.add(row)
    position += 1
  }

  consuming func finished() -> [Sorting: MessageGroups] {
    [
      .date: dates.groups, .sender: senders.groups, .label: labels.groups, .deleted: MessageGroups(single: deleted),
      .thread: Self.threads(threads.threads()),
    ]
  }

  /// Addresses are one in any case of their letters; where there is none, the name stands for it.
  private static func sender(of row: MessageRow) -> [UInt8] {
    let shown = MessageRow.folderText(row.address.isEmpty ? row.sender : row.address)
    if shown.isEmpty { return Array("unknown sender".utf8) }
    let name = row.address.isEmpty ? Array(shown.utf8) : shown.utf8.map { $0.asciiLower }
    return Array(SafeName.safe(name[...]))
  }

  /// A label's folders, each made safe.
  private static func path(ofLabel label: String) -> [UInt8] {
    var path: [UInt8] = []
    for part in label.split(separator: "/") {
      let text = MessageRow.folderText(String(part))
      guard !text.isEmpty else { continue }
      var name = Array(SafeName.safe(Array(text.utf8)[...]))
      // It must not be taken for a message's folder beside it.
      if MessageRow.position(inFolderName: FileName(name)) != nil { name = Array("label ".utf8) + name }
      if !path.isEmpty { path.append(0x2f) }
      path += name
    }
    return path
  }

  /// Threads of one subject get numbers, in the order of their first messages.
  private static func threads(_ found: ThreadFinder.Threads) -> MessageGroups {
    var names = UniqueThreadNames()
    return MessageGroups(
      names: found.subjects.map { names.name($0) },
      members: found.numbers.enumerated().map { (group: $0.element, position: UInt32($0.offset)) })
  }
}

/// Groups that come to be as their names occur.
private struct NamedGroups {
  private var places: [[UInt8]: UInt32] = [:]
  private var names: [[UInt8]] = []
  private var members: [(group: UInt32, position: UInt32)] = []

  mutating func add(_ name: [UInt8], _ position: UInt32) {
    let place = places[name] ?? UInt32(names.count)
    if place == names.count {
      places[name] = place
      names.append(name)
    }
    members.append((place, position))
  }

  var groups: MessageGroups { MessageGroups(names: names, members: members) }
}

/// Names of threads, each given once: `Subject`, `Subject (1)`, …
private struct UniqueThreadNames {
  private var taken: Set<[UInt8]> = []
  private var numbers: [[UInt8]: Int] = [:]

  mutating func name(_ subject: String) -> [UInt8] {
    let text = MessageRow.folderText(subject)
    let name = Array(SafeName.safe(Array((text.isEmpty ? "no subject" : text).utf8)[...]))
    if taken.insert(name).inserted { return name }
    var number = numbers[name] ?? 1
    while true {
      let candidate = name + Array(" (\(number))".utf8)
      number += 1
      if taken.insert(candidate).inserted {
        numbers[name] = number
        return candidate
      }
    }
  }
}

extension UInt8 {
  fileprivate var asciiLower: UInt8 { self >= 0x41 && self <= 0x5a ? self | 0x20 : self }
}
