/// The state of a message that a mail program records outside its header.
public struct MessageState: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let unread = MessageState(rawValue: 1)
  public static let flagged = MessageState(rawValue: 2)
  public static let replied = MessageState(rawValue: 4)
  /// Forwarded, resent or bounced.
  public static let passed = MessageState(rawValue: 8)
  public static let draft = MessageState(rawValue: 16)
  public static let deleted = MessageState(rawValue: 32)

  /// Splits the name of a Maildir's file into its base and the flags: `1700000000.M1P2.host:2,FS`. If a file system
  /// does not allow a colon, programs use another character. There are no flags in `new`.
  public static func parts(
    ofMaildirName name: ArraySlice<UInt8>
  ) -> (base: ArraySlice<UInt8>, flags: ArraySlice<UInt8>?) {
    guard let comma = name.lastIndex(of: UInt8(ascii: ",")), comma - name.startIndex > 2,
      name[comma - 1] == UInt8(ascii: "2"), ":;!".utf8.contains(name[comma - 2])
    else { return (name, nil) }
    return (name[..<(comma - 2)], name[(comma + 1)...])
  }

  /// Parses the letters after `:2,` in the name of a Maildir's file. Unknown letters are ignored.
  public init(maildirFlags flags: some Sequence<UInt8>) {
    self = .unread
    for flag in flags {
      switch flag {
      case UInt8(ascii: "S"): remove(.unread)
      case UInt8(ascii: "F"): insert(.flagged)
      case UInt8(ascii: "R"): insert(.replied)
      case UInt8(ascii: "P"): insert(.passed)
      case UInt8(ascii: "D"): insert(.draft)
      case UInt8(ascii: "T"): insert(.deleted)
      default: break
      }
    }
  }

  /// The labels that the states are shown as, which are notmuch's tags.
  public var labels: [String] {
    let names: [(state: MessageState, label: String)] = [
      (.draft, "draft"), (.flagged, "flagged"), (.passed, "passed"), (.replied, "replied"), (.unread, "unread"),
    ]
    return names.filter { contains($0.state) }.map(\.label)
  }
}

extension MessageRow {
  /// Adds a recorded state: labels, and whether the message is deleted.
  public mutating func note(_ state: MessageState) {
    for label in state.labels where labels.count < MessageRow.listLimit && !labels.contains(label) {
      labels.append(label)
    }
    if state.contains(.deleted) { isDeleted = true }
  }
}
