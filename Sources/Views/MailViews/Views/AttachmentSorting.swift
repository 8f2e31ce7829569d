internal import Bytes
internal import Tree

/// A sorting of the attachments of all messages into directories of `NAME.views/`.
enum AttachmentSorting: UInt8, CaseIterable, Sendable {
  case type = 0x21
  case sender
  case year

  /// Returns groups of indices into `list`. `senders` returns the messages grouped by sender.
  func groups(_ list: AttachmentList, senders: () throws(Fault) -> MessageGroups) throws(Fault) -> MessageGroups {
    var names = NameList()
    var groups: [UInt32] = []
    groups.reserveCapacity(list.count)
    switch self {
    case .type: for number in 0..<list.count { groups.append(names.add(Self.type(list.name(number))).number) }
    case .year: for number in 0..<list.count { groups.append(names.add(Self.year(list.name(number))).number) }
    case .sender:
      let senders = try senders()
      // The sender of each message. In the index, attachments and senders may be of different messages.
      var sent = [UInt32](repeating: UInt32(senders.count), count: list.shapes.count)
      for sender in 0..<senders.count {
        for position in senders.members(sender) where Int(position) < sent.count {
          sent[Int(position)] = UInt32(sender)
        }
      }
      for number in 0..<list.count {
        let position = list.place(number).position
        let sender = position < sent.count ? Int(sent[position]) : senders.count
        groups.append(names.add(sender < senders.count ? senders.name(sender) : Self.unknown).number)
      }
    }
    names.finish()
    return MessageGroups(names, of: groups)
  }

  private static let unknown = Array("unknown sender".utf8)[...]

  private static let spellings: [[UInt8]: String] = [
    Array("jpeg".utf8): "jpg", Array("tiff".utf8): "tif", Array("htm".utf8): "html", Array("mpeg".utf8): "mpg",
    Array("yml".utf8): "yaml",
  ]

  /// Returns the lowercase extension, with spelling variants unified, or `other` if it is not 1 to 10 letters and
  /// digits.
  private static func type(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let other = Array("other".utf8)[...]
    guard let dot = name.lastIndex(of: 0x2e) else { return other }
    let ending = name[(dot + 1)...].map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 }
    let isType = ending.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 >= 0x61 && $0 <= 0x7a }
    guard isType, (1...10).contains(ending.count) else { return other }
    return spellings[ending].map { Array($0.utf8)[...] } ?? ending[...]
  }

  /// Returns the year of the message according to the name, or `undated`.
  private static func year(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let start = name.prefix { $0 != 0x2d && $0 != 0x20 }
    return start.count == 4 && start.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) ? start : Array("undated".utf8)[...]
  }
}
