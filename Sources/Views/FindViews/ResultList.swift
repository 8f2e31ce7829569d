internal import Bytes
internal import Text
internal import Tree

/// `RESULTS.txt`, `RESULTS.tsv` and `RESULTS.json`: the results with their paths, dates and snippets.
final class ResultList: SearchItem {
  enum Form: String, CaseIterable {
    case text = "RESULTS.txt"
    case table = "RESULTS.tsv"
    case json = "RESULTS.json"

    init?(name: FileName) { self.init(rawValue: name.text) }

    var name: FileName { FileName(rawValue) }
    var number: UInt64 { self == .text ? 1 : self == .table ? 2 : 3 }
  }

  let searched: SearchedFolder
  private let text: [UInt8]
  private let owner: (user: UInt32, group: UInt32)
  let identity: UInt64
  let inode: UInt64
  var kind: Kind { .file }

  private static let parts: UInt64 = 1 << 32

  init(
    _ searched: SearchedFolder, _ results: OpenSearch.Results, _ form: Form, _ place: UInt64,
    _ owner: (user: UInt32, group: UInt32)
  ) {
    self.searched = searched
    self.owner = owner
    switch form {
    case .text: text = Self.text(results)
    case .table: text = Self.table(results)
    case .json: text = Self.json(results)
    }
    var hash = StableHash(seed: place).adding(form.number).adding(UInt64(owner.user) << 32 | UInt64(owner.group))
    hash.combine(text)
    identity = hash.value
    inode = searched.file.inode(place, Self.parts + form.number)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    searched.attributes(inode: inode, size: text.count, of: owner)
  }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource { ByteArraySource(text) }

  // MARK: Forms

  private static func text(_ results: OpenSearch.Results) -> [UInt8] {
    var text = results.count == 1 ? "1 result" : "\(results.count) results"
    if results.count > results.hits.count { text += ", of which the first \(results.hits.count) follow" }
    text += "\n"
    if let suggestion = results.suggestion { text += "Did you mean \(suggestion)?\n" }
    if results.locked.count > 0 {
      text += results.locked.count == 1 ? "1 file is locked" : "\(results.locked.count) files are locked"
      text += ": found by name only\n"
      for path in results.locked.paths { text += "    \(line(String(decoding: path, as: UTF8.self)))\n" }
      if results.locked.count > results.locked.paths.count { text += "    …\n" }
    }
    if let fault = results.fault { text += "Incomplete: \(line(fault.reason))\n" }
    for (index, hit) in results.hits.enumerated() {
      text += "\n\(index + 1)  \(hit.shownPath)\n"
      let origin = hit.sender.isEmpty ? hit.kind.name : line(hit.sender)
      text += "    \(hit.shownDay ?? "undated")  \(origin)  \(line(hit.title))\n"
      if !hit.snippet.text.isEmpty { text += "    \(line(marked(hit.snippet)))\n" }
    }
    return Array(text.utf8)
  }

  private static func table(_ results: OpenSearch.Results) -> [UInt8] {
    var text = "rank\tpath\tkind\tdate\tsize\ttitle\tsnippet\n"
    for (index, hit) in results.hits.enumerated() {
      let fields = [
        "\(index + 1)", hit.shownPath, hit.kind.name, hit.shownDay ?? "", hit.size.map { "\($0)" } ?? "",
        line(hit.title),
        line(marked(hit.snippet)),
      ]
      text += fields.joined(separator: "\t") + "\n"
    }
    return Array(text.utf8)
  }

  private static func json(_ results: OpenSearch.Results) -> [UInt8] {
    var text = "["
    for (index, hit) in results.hits.enumerated() {
      text += index == 0 ? "\n" : ",\n"
      text +=
        "  {\"path\": \(JSONText.quoted(String(decoding: hit.path, as: UTF8.self))), \(encoded(hit.path))\"kind\": \(JSONText.quoted(hit.kind.name)), "
      text +=
        "\"date\": \(hit.shownDay.map(JSONText.quoted) ?? "null"), \(hit.size.map { "\"size\": \($0), " } ?? "")\"title\": \(JSONText.quoted(hit.title)), "
      text += "\"snippet\": \(JSONText.quoted(hit.snippet.text)), "
      text +=
        "\"marks\": [\(hit.snippet.marks.map { "[\($0.lowerBound), \($0.upperBound)]" }.joined(separator: ", "))], "
      text += "\"rank\": \(index + 1)}"
    }
    text += results.hits.isEmpty ? "]\n" : "\n]\n"
    return Array(text.utf8)
  }

  /// Returns the percent-encoded path as a member of an object, if the path is not UTF-8.
  private static func encoded(_ path: [UInt8]) -> String {
    path.span.isUTF8 ? "" : "\"encodedPath\": \(JSONText.quoted(Percent.encoded(path, keepingSlash: true))), "
  }

  /// Returns a snippet with its words between `[` and `]`.
  private static func marked(_ snippet: Snippet) -> String {
    let bytes = Array(snippet.text.utf8)
    var text: [UInt8] = []
    var place = 0
    for mark in snippet.marks where mark.lowerBound >= place && mark.upperBound <= bytes.count {
      text += bytes[place..<mark.lowerBound] + [UInt8(ascii: "[")] + bytes[mark] + [UInt8(ascii: "]")]
      place = mark.upperBound
    }
    return String(decoding: text + bytes[place...], as: UTF8.self)
  }

  /// Returns text in one line without control characters.
  private static func line(_ text: String) -> String {
    String(decoding: ShownText.line(Array(text.utf8)), as: UTF8.self).replacing("\t", with: " ")
  }
}

extension FolderFinder.Hit {
  /// The path in one line without control characters.
  fileprivate var shownPath: String {
    String(decoding: ShownText.line(path), as: UTF8.self).replacing("\t", with: " ")
  }
}
