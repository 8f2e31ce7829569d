internal import Bytes
internal import PersonalFolders
internal import Text
internal import WorkerKit

/// The properties of a message, a recipient or an attachment in an Outlook store.
struct StoreProperties: MessageProperties {
  private enum Values {
    case list(PropertyList)
    case row(StoreTable, StoreTable.Row)
  }

  private let values: Values
  let page: Int
  /// The path of an attachment in the message.
  private let path: [UInt32]
  private let names: StoreNames?

  private static let longestText = 64 << 20

  /// - Parameter page: the code page of the enclosing message; `nil` for a message, which records it.
  init(_ list: PropertyList, page: Int? = nil, at path: [UInt32] = [], _ names: StoreNames? = nil) {
    self.init(.list(list), page, path, names)
  }

  init(_ row: StoreTable.Row, of table: StoreTable, page: Int) { self.init(.row(table, row), page, [], nil) }

  private init(_ values: Values, _ page: Int?, _ path: [UInt32], _ names: StoreNames?) {
    self.values = values
    self.path = path
    self.names = names
    func number(_ id: UInt16) -> Int? { Self.number(values, id) }
    self.page = page ?? number(0x3ffd) ?? number(0x3ff1).map(CodePage.page) ?? number(0x3fde) ?? 1252
  }

  /// Returns a value. Returns `nil` if it cannot be read.
  private static func value(_ values: Values, _ id: UInt16, atMost most: Int) -> (type: UInt16, bytes: [UInt8])? {
    do throws(Fault) {
      switch values {
      case .list(let list): return try list.value(id, atMost: most)
      case .row(let table, let row): return try table.value(id, in: row, atMost: most)
      }
    } catch { return nil }
  }

  func number(_ id: UInt16) -> Int? { Self.number(values, id) }

  private static func number(_ values: Values, _ id: UInt16) -> Int? {
    guard let (type, bytes) = value(values, id, atMost: 8), bytes.count >= 2 else { return nil }
    switch type {
    case 2, 0xb: return Int(bytes[0]) | Int(bytes[1]) << 8
    case 3: return bytes.count >= 4 ? Int(UInt32(bytes, at: 0)) : nil
    default: return nil
    }
  }

  func time(_ id: UInt16) -> Int64? {
    guard let (type, bytes) = Self.value(values, id, atMost: 8), type == 0x40, bytes.count == 8 else { return nil }
    return WindowsTime.seconds(UInt64(UInt32(bytes, at: 4)) << 32 | UInt64(UInt32(bytes, at: 0)))
  }

  func bytes(_ id: UInt16) throws(JobFailure) -> [UInt8]? {
    guard let (type, bytes) = Self.value(values, id, atMost: Self.longestText), type == 0x102 else { return nil }
    return bytes
  }

  func text(_ id: UInt16) throws(JobFailure) -> String? {
    guard let (type, bytes) = Self.value(values, id, atMost: Self.longestText), type == 0x1f || type == 0x1e,
      let text = decoded(bytes, isWide: type == 0x1f)
    else { return nil }
    // A subject starts with the length of its prefix, such as `Re: ` (MS-PST, section 2.5.3.1.1.1).
    guard id == 0x37, text.unicodeScalars.first == "\u{1}" else { return text }
    let rest = String(text.unicodeScalars.dropFirst(2))
    return rest.isEmpty ? nil : rest
  }

  func tag(named id: UInt32) -> UInt16? { names?[id] }

  func content() throws(JobFailure) -> AttachedContent {
    guard case .list(let list) = values else { return .other }
    switch AttachedItem(list) {
    case .file(let size): return .later(size, address: path)
    case .message(let node): return OutlookMessage(node, page: page, at: path, names).map { .message($0) } ?? .other
    case .other: return .other
    }
  }
}

/// The content of an attachment in a store (MS-OXCMSG, section 2.2.2.9).
enum AttachedItem {
  /// A file, by its size in bytes.
  case file(Int64)
  case message(StoreNode)
  case other

  init(_ list: PropertyList) {
    self = .other
    do throws(Fault) {
      let method = try list.value(0x3705, atMost: 4).map { UInt32($0.bytes, at: 0) }
      if method == 5 {
        if let node = try list.object(0x3701) { self = .message(node) }
      } else if let data = try list.data(0x3701), try list.object(0x3701) == nil {
        self = .file(data.size)
      } else if let (type, bytes) = try list.value(0x3701, atMost: 1 << 16), type == 0x102 {
        self = .file(Int64(bytes.count))
      }
    } catch {}
  }
}

extension OutlookMessage {
  /// Reads a message in a store. `path` is that of an attached message in the enclosing one. Returns `nil` if the
  /// message cannot be read.
  init?(_ node: StoreNode, page: Int? = nil, at path: [UInt32] = [], _ names: StoreNames?) {
    guard let list = try? PropertyList(node) else { return nil }
    let properties = StoreProperties(list, page: page, names)
    var recipients: [any MessageProperties] = []
    if let table = list.table(0x692) {
      for row in table.rows.prefix(Self.mostParts) {
        recipients.append(StoreProperties(row, of: table, page: properties.page))
      }
    }
    var attachments: [any MessageProperties] = []
    for (index, attachment) in list.attachments.prefix(Self.mostParts).enumerated() {
      guard let inner = try? PropertyList(attachment) else { continue }
      attachments.append(StoreProperties(inner, page: properties.page, at: path + [UInt32(index)], names))
    }
    self.init(properties: properties, recipients: recipients, attachments: attachments)
  }
}

extension PropertyList {
  /// Returns a table of a message (MS-PST, section 2.4.1). Returns `nil` if there is none that can be read.
  fileprivate func table(_ number: UInt32) -> StoreTable? { node(number).flatMap { try? StoreTable($0) } }

  /// The attachments of a message, in the order of its table.
  var attachments: [StoreNode] { (table(0x671)?.rows ?? []).compactMap { node($0.number) } }
}
