import Assembly
import FileTrees
import Glibc
import SystemPackage
import Text

/// Writes documents found to standard output.
struct DocumentLines: ResultLines {
  /// The form of the output.
  enum Style: Equatable {
    /// Two lines for each document, with colours and links, for a terminal.
    case shown
    /// Path, date, kind or sender, and title, separated by tabs, with question marks in place of control characters.
    case fields
    case json
    /// Paths, each ended by a line feed or NUL.
    case paths(zeros: Bool)
  }

  private let style: Style
  /// The searched folder as the user gave it, and its path in the tree.
  private let given: String
  private let folder: FilePath
  private var output = ResultOutput()
  /// The number of documents.
  private var count = 0
  /// The errno of a failed write, after which nothing more is written.
  var error: Int32? { output.error }
  init(_ given: String, _ folder: FilePath, _ style: Style) {
    (self.given, self.folder, self.style) = (given, folder, style)
  }

  /// Returns the path of a document, which starts with the folder as the user gave it.
  func path(of document: FileTree.Document) -> String {
    let rest = document.path.components.dropFirst(folder.components.count).map(\.string).joined(separator: "/")
    if rest.isEmpty { return given }
    return given.hasSuffix("/") ? given + rest : given + "/" + rest
  }

  /// Returns the bytes of a document's path, which need not be UTF-8.
  private func rawPath(of document: FileTree.Document) -> [UInt8] {
    var path = Array(given.utf8)
    for component in document.path.components.dropFirst(folder.components.count) {
      if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
      path += unsafe component.withPlatformString { unsafe Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
    return path
  }

  /// Writes a document. Returns whether more can be written.
  mutating func add(_ document: FileTree.Document) -> Bool {
    let date = document.date.map { Amount.moment($0.seconds, zone: Self.zone(at: $0.seconds)) }
    let path = path(of: document)
    switch style {
    case .json:
      var object: JSON = [
        "path": .string(path), "kind": .string(document.kind), "date": JSON(date),
        "title": .string(document.title), "snippet": .string(document.snippet), "rank": JSON(document.rank),
      ]
      object.add("size", document.size.map { .number($0) })
      let raw = rawPath(of: document)
      if !raw.span.isUTF8 { object.add("encodedPath", Percent.encoded(raw, keepingSlash: true)) }
      if !document.sender.isEmpty { object.add("sender", document.sender) }
      output.append((count == 0 ? "[\n  \(object.text)" : ",\n  \(object.text)").utf8)
    case .fields:
      let origin = document.sender.isEmpty ? document.kind : document.sender
      let fields = [path, date ?? "undated", origin, document.title].map { field in
        field.unicodeScalars.flatMap { $0.properties.generalCategory == .control ? "?".utf8 : String($0).utf8 }
      }
      output.append(fields.joined(separator: [UInt8(ascii: "\t")]))
      output.append([0x0a])
    case .paths(let zeros):
      output.append(rawPath(of: document))
      output.append([zeros ? 0 : 0x0a])
    case .shown: show(document, path, date)
    }
    count += 1
    return output.flushIfFull()
  }

  private mutating func show(_ document: FileTree.Document, _ path: String, _ date: String?) {
    let columns = Terminal.columns()
    let origin = document.sender.isEmpty ? document.kind : document.sender
    let number = String(document.rank)
    let start = String(repeating: " ", count: max(0, 3 - number.count)) + number + "  "
    let end = "  \(date ?? "undated")  \(Terminal.start(of: Terminal.shown(origin), columns: 24))"
    let room = max(20, columns - start.count - Terminal.width(end) - 1)
    let name = Terminal.end(of: Terminal.shown(path), columns: room)
    output.append("\(start)\(Self.linked(Terminal.painted(name, .bold), to: path))\(end)\n".utf8)
    var line = "     "
    if document.title != (path.split(separator: "/").last.map(String.init) ?? ""), !document.title.isEmpty {
      line += "\(Terminal.shown(document.title)): "
    }
    let space = max(20, columns - Terminal.width(line) - 1)
    output.append("\(line)\(Self.painted(document.snippet, document.marks, columns: space))\n".utf8)
  }

  /// Returns the start of a snippet, with its words coloured.
  private static func painted(_ snippet: String, _ marks: [Range<Int>], columns: Int) -> String {
    let utf8 = Array(snippet.utf8)
    var text = ""
    var room = columns
    var place = 0
    func part(_ range: Range<Int>) -> String {
      let part = Terminal.start(
        of: Terminal.shown(String(decoding: utf8[range], as: UTF8.self)), columns: max(0, room))
      room -= Terminal.width(part)
      return part
    }
    for mark in marks where mark.lowerBound >= place && mark.upperBound <= utf8.count {
      text += part(place..<mark.lowerBound)
      let word = part(mark)
      if !word.isEmpty { text += Terminal.painted(word, .yellow) }
      place = mark.upperBound
    }
    return text + part(place..<utf8.count)
  }

  /// Returns text as a link to the nearest real file on a path (OSC 8).
  private static func linked(_ text: String, to path: String) -> String {
    var file = path
    while unsafe access(file, F_OK) != 0 {
      guard let slash = file.lastIndex(of: "/"), slash > file.startIndex else { return text }
      file = String(file[..<slash])
    }
    // A view has a name that starts with that of its file, in the same folder.
    if file.count < path.count {
      let rest = path.dropFirst(file.count + 1).prefix { $0 != "/" }
      for ending in [".contents", ".messages", ".pages", ".message"] where rest.hasSuffix(ending) {
        file += "/" + rest.dropLast(ending.count)
      }
    }
    guard let full = unsafe realpath(file, nil) else { return text }
    defer { unsafe free(full) }
    let safe = unsafe String(cString: full).utf8.map { byte in
      byte > 0x20 && byte < 0x7f && !"%#?".utf8.contains(byte)
        ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return "\u{1b}]8;;file://\(safe.joined())\u{1b}\\\(text)\u{1b}]8;;\u{1b}\\"
  }

  /// Returns the offset of the local time zone at a time, in minutes east of Greenwich.
  private static func zone(at time: Int64) -> Int {
    var seconds = time_t(time)
    var parts = unsafe tm()
    guard unsafe localtime_r(&seconds, &parts) != nil else { return 0 }
    return unsafe Int(parts.tm_gmtoff) / 60
  }

  mutating func finish() {
    if style == .json { output.append((count == 0 ? "[]\n" : "\n]\n").utf8) }
    output.flush()
  }
}
