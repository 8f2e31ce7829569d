import Assembly
import Bytes
import NIOCore
import Text
import Tree

/// The response of `/api/list`, built as bytes from the start. For a large directory, encoding values at the end would
/// cost more than reading its attributes. Entries can be added in any order.
struct ListText {
  /// The ranges of an entry's text and name.
  private struct Row {
    /// The first sort key: directories before others, then the beginning of the name.
    let start: UInt64
    let name: Range<Int>
    let text: Range<Int>
  }

  private let path: TreePath
  /// The response before its items.
  private var head: [UInt8] = []
  /// The directory's path on the server, with a trailing slash, escaped for JSON.
  private var folder: [UInt8] = []
  private var rows: [Row] = []
  /// The concatenated names.
  private var names: [UInt8] = []
  private var text: ByteBuffer
  private var times = ISOTimes()

  init(of path: TreePath, at absolutePath: String, _ rights: Rights) {
    self.path = path
    text = ByteBufferAllocator().buffer(capacity: 4096)
    head += "{\"path\":\"".utf8
    JSONText.append(escaped: path.text.utf8.span, to: &head)
    head += "\",\"absolutePath\":\"".utf8
    JSONText.append(escaped: absolutePath.utf8.span, to: &head)
    head += "\",\"rights\":[\(rights.words.map { "\"\($0)\"" }.joined(separator: ","))],\"items\":[".utf8
    JSONText.append(escaped: (absolutePath == "/" ? "/" : absolutePath + "/").utf8.span, to: &folder)
  }

  /// The size of the entries so far, in bytes.
  var size: Int { text.writerIndex }

  /// Adds an entry with its attributes. For a symbolic link, these are the target's. They are `nil` if they cannot be
  /// read.
  ///
  /// - Parameters:
  ///   - link: the link's target.
  ///   - special: the kind of a special file.
  ///   - error: the reason why there are no attributes.
  mutating func add(
    _ row: FolderRows.Row, _ attributes: Attributes?, link: LinkText? = nil, special: String? = nil,
    error: String? = nil
  ) {
    let kind = ItemKind(attributes?.kind ?? row.kind)
    let (start, name) = (text.writerIndex, names.count)
    let bytes = row.listed.bytes
    names += bytes
    let isWhole = bytes.span.isUTF8
    // Most names need no escaping in JSON.
    if isWhole, JSONText.isPlain(bytes.span) {
      add(bytes, ending: bytes.lastIndex(of: UInt8(ascii: ".")).map { bytes[($0 + 1)...] }, row, attributes, kind)
    } else {
      var name: [UInt8] = []
      var ending: [UInt8] = []
      JSONText.append(escaped: row.name.text.utf8.span, to: &name)
      JSONText.append(escaped: (row.name.shownExtension ?? "").utf8.span, to: &ending)
      add(name[...], ending: ending[...], row, attributes, kind)
    }
    if !isWhole {
      text.writeStaticString(",\"encodedPath\":\"")
      text.writeString(TreePath(names: path.names + [row.name]).encoded)
      text.writeStaticString("\"")
    }
    if let link {
      add("link", link.text)
      add("linkModified", link.modified)
      if let encoded = link.encoded { add("encodedLink", encoded) }
    }
    if let special { add("special", special) }
    if let attributes, row.view == nil, attributes.isProgram { text.writeStaticString(",\"executable\":true") }
    if let error { add("error", error) }
    text.writeStaticString("}")
    rows.append(
      Row(
        start: Self.start(of: bytes, kind), name: name..<names.count, text: start..<text.writerIndex))
  }

  private mutating func add(
    _ name: ArraySlice<UInt8>, ending: ArraySlice<UInt8>?, _ row: FolderRows.Row, _ attributes: Attributes?,
    _ kind: ItemKind
  ) {
    let type: StaticString =
      switch kind {
      case .directory: "\",\"type\":\"directory\",\"size\":"
      case .file: "\",\"type\":\"file\",\"size\":"
      case .other: "\",\"type\":\"other\",\"size\":"
      }
    // The part after the last dot is an extension, unless the name begins or ends with the dot.
    let hasEnding = kind != .directory && ending.map { !$0.isEmpty && $0.count + 1 < name.count } ?? false
    if let attributes { times.set(attributes.modified) }
    let exact = kind == .file ? attributes.flatMap { $0.isPreliminary ? nil : $0.size } : nil
    let estimate = kind == .file ? attributes.flatMap { $0.isPreliminary ? $0.size : nil } : nil
    let room = 2 * name.count + (ending?.count ?? 0) + folder.count + 256
    let (folder, times) = (folder, times.text)
    unsafe text.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { room in
      var output = unsafe Output(room)
      output.add("{\"name\":\"")
      output.add(name.span)
      output.add(type)
      if let exact { output.add(exact) } else { output.add("null") }
      if attributes != nil {
        output.add(",\"modified\":\"")
        output.add(times.span)
        output.add("\",\"extension\":")
      } else {
        output.add(",\"modified\":null,\"extension\":")
      }
      if hasEnding, let ending {
        output.add("\"")
        output.add(ending.span)
        output.add("\",\"absolutePath\":\"")
      } else {
        output.add("null,\"absolutePath\":\"")
      }
      output.add(folder.span)
      output.add(name.span)
      output.add("\"")
      if let estimate, row.view == nil {
        output.add(",\"estimate\":")
        output.add(estimate)
      }
      return output.count
    }
    guard let view = row.view else { return }
    text.writeString(",\"view\":\"\(view)\"")
    if let estimate { text.writeString(",\"estimate\":\(estimate)") }
  }

  /// Adds a further member.
  private mutating func add(_ name: String, _ value: String) {
    var member: [UInt8] = []
    member += ",\"".utf8
    JSONText.append(escaped: name.utf8.span, to: &member)
    member += "\":\"".utf8
    JSONText.append(escaped: value.utf8.span, to: &member)
    member += "\"".utf8
    text.writeBytes(member)
  }

  // MARK: Order

  /// Returns a byte for comparison. Directories come first; the case of ASCII letters matters only between names that
  /// are otherwise equal.
  private static func folded(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 0x20 : byte }

  private static func start(of name: ArraySlice<UInt8>, _ kind: ItemKind) -> UInt64 {
    var start: UInt64 = kind == .directory ? 0 : 1
    var count = 0
    for byte in name.prefix(7) {
      start = start << 8 | UInt64(folded(byte))
      count += 1
    }
    return start << UInt64(8 * (7 - count))
  }

  private static func precedes(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    let count = min(one.count, other.count)
    for place in 0..<count {
      let (left, right) = (folded(one[place]), folded(other[place]))
      if left != right { return left < right }
    }
    if one.count != other.count { return one.count < other.count }
    for place in 0..<count where one[place] != other[place] { return one[place] < other[place] }
    return false
  }

  /// Returns the response, sorted. O(n log n).
  ///
  /// - Parameter most: the maximum number of entries. If there are more, the response has their number, too.
  func finished(atMost most: Int = .max) -> ByteBuffer {
    var rows = rows
    let all = rows.count
    let names = names.span
    rows.sort { one, other in
      one.start == other.start
        ? Self.precedes(names.extracting(one.name), names.extracting(other.name)) : one.start < other.start
    }
    if all > most { rows.removeSubrange(most...) }
    let count = head.count + rows.reduce(0) { $0 + $1.text.count + 1 } + 40
    var answer = ByteBufferAllocator().buffer(capacity: count)
    _ = unsafe text.withUnsafeReadableBytes { text in
      unsafe answer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
        var output = unsafe Output(room)
        output.add(head.span)
        var isFirst = true
        for row in rows {
          if !isFirst { output.add(",") }
          isFirst = false
          unsafe output.add(UnsafeRawBufferPointer(rebasing: text[row.text]))
        }
        output.add("]")
        if all > most {
          output.add(",\"count\":")
          output.add(Int64(all))
        }
        output.add("}")
        return output.count
      }
    }
    return answer
  }
}

/// A buffer of sufficient size that bytes are appended to.
@safe private struct Output {
  private let room: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  @unsafe init(_ room: UnsafeMutableRawBufferPointer) { unsafe self.room = room }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    unsafe precondition(bytes.count <= room.count - count)
    guard let source = bytes.baseAddress, let target = unsafe room.baseAddress else { return }
    unsafe (target + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  mutating func add(_ bytes: Span<UInt8>) { unsafe bytes.withUnsafeBytes { unsafe add($0) } }

  mutating func add(_ text: StaticString) {
    unsafe add(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a number in decimal digits.
  mutating func add(_ number: Int64) {
    var text = String(number)
    text.withUTF8 { unsafe add(UnsafeRawBufferPointer($0)) }
  }
}
