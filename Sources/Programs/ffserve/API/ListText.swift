import Bytes
import Glibc
import Text
import Tree

/// What `/api/list` answers, as bytes from the start: of a large folder, values that are encoded at the end would cost
/// more than to look at its files. Entries come in any order.
struct ListText {
  /// An entry: where its text and what it is sorted by are.
  private struct Row {
    /// The key's first bytes, by which most are told apart.
    let start: UInt64
    let key: Range<Int>
    let text: Range<Int>
  }

  private let path: TreePath
  /// The answer before its items.
  private var head: [UInt8] = []
  /// The folder's path on the machine that serves it, with a slash, as it stands in JSON.
  private var folder: [UInt8] = []
  private var rows: [Row] = []
  private var keys: [UInt8] = []
  private var text: [UInt8] = []
  private var times = ISOTimes()

  init(of path: TreePath, at absolutePath: String) {
    self.path = path
    JSONText.append("{\"path\":\"", to: &head)
    JSONText.append(escaped: path.text.utf8.span, to: &head)
    JSONText.append("\",\"absolutePath\":\"", to: &head)
    JSONText.append(escaped: absolutePath.utf8.span, to: &head)
    JSONText.append("\",\"items\":[", to: &head)
    JSONText.append(escaped: (absolutePath == "/" ? "/" : absolutePath + "/").utf8.span, to: &folder)
  }

  /// Of the entries so far, in bytes.
  var size: Int { text.count }

  /// Adds an entry with its attributes, those of what it leads to for a symbolic link.
  ///
  /// - Parameters:
  ///   - link: where that leads.
  ///   - special: what it is that is neither file, folder nor link.
  mutating func add(
    _ row: FolderRows.Row, _ attributes: Attributes, link: LinkText? = nil, special: String? = nil
  ) {
    let kind = ItemKind(attributes.kind)
    let (key, start) = (keys.count, text.count)
    addKey(row.name, kind)
    let bytes = row.name.bytes
    if bytes.span.isUTF8 {
      add(bytes.span, isWhole: true, row, attributes, kind)
    } else {
      add(row.name.text.utf8.span, isWhole: false, row, attributes, kind)
    }
    if let link {
      add("link", link.text)
      add("linkModified", link.modified)
      if let encoded = link.encoded { add("encodedLink", encoded) }
    }
    if let special { add("special", special) }
    append("}")
    rows.append(
      Row(
        start: UInt64(bigEndianBytes: keys[key...].prefix(8)) << UInt64(8 * max(0, 8 - (keys.count - key))),
        key: key..<keys.count, text: start..<text.count))
  }

  /// What entries are sorted by: folders come first; capitals (ASCII) count as small letters.
  private mutating func addKey(_ name: FileName, _ kind: ItemKind) {
    keys.append(kind == .directory ? 0 : 1)
    for byte in name.bytes { keys.append(byte >= 65 && byte <= 90 ? byte | 0x20 : byte) }
    keys.append(0)
    keys += name.bytes
  }

  /// - Parameter isWhole: whether the text says all of the name.
  private mutating func add(
    _ name: Span<UInt8>, isWhole: Bool, _ row: FolderRows.Row, _ attributes: Attributes, _ kind: ItemKind
  ) {
    append("{\"name\":\"")
    append(escaped: name)
    switch kind {
    case .directory: append("\",\"type\":\"directory\",\"size\":")
    case .file: append("\",\"type\":\"file\",\"size\":")
    case .other: append("\",\"type\":\"other\",\"size\":")
    }
    if kind == .file, !attributes.isPreliminary { append(attributes.size) } else { append("null") }
    append(",\"modified\":\"")
    times.append(attributes.modified, to: &text)
    append("\",\"extension\":")
    if kind != .directory, let ending = row.name.shownExtension {
      append("\"")
      append(escaped: ending.utf8.span)
      append("\"")
    } else {
      append("null")
    }
    append(",\"absolutePath\":\"")
    text += folder
    append(escaped: name)
    append("\"")
    if let view = row.view {
      append(",\"view\":\"")
      append(escaped: view.utf8.span)
      append("\"")
    }
    if kind == .file, attributes.isPreliminary {
      append(",\"estimate\":")
      append(attributes.size)
    }
    if !isWhole {
      append(",\"encodedPath\":\"")
      append(escaped: TreePath(names: path.names + [row.name]).encoded.utf8.span)
      append("\"")
    }
  }

  /// A further member.
  private mutating func add(_ name: StaticString, _ value: String) {
    append(",\"")
    append(name)
    append("\":\"")
    append(escaped: value.utf8.span)
    append("\"")
  }

  /// All of it, sorted. O(n log n).
  func finished() -> [UInt8] {
    var rows = rows
    unsafe keys.withUnsafeBytes { keys in
      rows.sort { one, other in
        if one.start != other.start { return one.start < other.start }
        let (left, right) = (one.key, other.key)
        guard let base = keys.baseAddress else { return false }
        let order = unsafe memcmp(base + left.lowerBound, base + right.lowerBound, min(left.count, right.count))
        return order == 0 ? left.count < right.count : order < 0
      }
    }
    var answer = head
    answer.reserveCapacity(head.count + text.count + rows.count + 2)
    for (number, row) in rows.enumerated() {
      if number > 0 { answer.append(UInt8(ascii: ",")) }
      answer += text[row.text]
    }
    JSONText.append("]}", to: &answer)
    return answer
  }

  private mutating func append(_ part: StaticString) { JSONText.append(part, to: &text) }
  private mutating func append(escaped part: Span<UInt8>) { JSONText.append(escaped: part, to: &text) }
  private mutating func append(_ number: Int64) { text.append(contentsOf: String(number).utf8) }
}
