import Bytes
import NIOHTTP1
import Text
import Tree

extension API {
  /// In bytes.
  private static let mostPaths = 64 << 20

  /// `/api/list`: a folder's entries, views with them.
  func list(_ path: TreePath, _ request: Request) throws(Fault) -> Response {
    let place = try site.place(path)
    guard place.attributes.kind == .folder else {
      return .problem(.badRequest, "it is a file (ask /api/view or /api/file)", instance: path.encoded)
    }
    var items: [(key: [UInt8], item: Item)] = []
    let base = site.absolute(path)
    let start = base == "/" ? "/" : base + "/"
    var size = 0
    try FolderRows(place).each { (row, attributes) throws(Fault) in
      let item = try self.item(row, attributes, in: place, start: start, path)
      size += start.utf8.count + 2 * row.name.count
      guard size <= Self.mostPaths else { throw Fault(.limit, "the folder's paths are longer than 64 MiB together") }
      items.append((Self.sortKey(item.type, row.name), item))
    }
    items.sort { $0.key.lexicographicallyPrecedes($1.key) }
    return .json(ListAnswer(path: path.text, absolutePath: base, items: items.map(\.item)))
  }

  /// Folders come first; capitals (ASCII) count as small letters.
  private static func sortKey(_ kind: Item.Kind, _ name: FileName) -> [UInt8] {
    [kind == .directory ? 0 : 1] + name.bytes.map { $0 >= 65 && $0 <= 90 ? $0 | 0x20 : $0 } + [0] + name.bytes
  }

  private func item(
    _ row: FolderRows.Row, _ attributes: Attributes, in folder: Place, start: String, _ path: TreePath
  ) throws(Fault) -> Item {
    var attributes = attributes
    if attributes.kind == .link, let target = try? site.place(TreePath(names: path.names + [row.name])) {
      attributes = target.attributes
    }
    let kind = Item.Kind(attributes.kind)
    let text = row.name.text
    let isText = row.name.bytes.span.isUTF8
    return Item(
      name: text, type: kind, size: kind == .file && !attributes.isPreliminary ? attributes.size : nil,
      modified: HTTPDate.iso(attributes.modified),
      fileExtension: kind == .directory ? nil : row.name.shownExtension, absolutePath: start + text, view: row.view,
      estimate: kind == .file && attributes.isPreliminary ? attributes.size : nil,
      encodedPath: isText ? nil : TreePath(names: path.names + [row.name]).encoded)
  }

  /// `/api/stat`.
  func stat(_ path: TreePath) throws(Fault) -> Response {
    let place = try site.place(path)
    let attributes = place.attributes
    let kind = Item.Kind(attributes.kind)
    let provenance = try place.provenance(.blocking)
    let name = place.names.last
    let answer = StatAnswer(
      path: path.text, name: path.names.last?.text ?? site.name, type: kind,
      size: kind == .file && !attributes.isPreliminary ? attributes.size : nil,
      estimate: kind == .file && attributes.isPreliminary ? attributes.size : nil,
      modified: HTTPDate.iso(attributes.modified), fileExtension: kind == .file ? name?.shownExtension : nil,
      absolutePath: site.absolute(path), mimeType: kind == .file ? name.flatMap(MediaType.of) : nil,
      state: provenance?.state.rawValue ?? "exact", view: provenance?.view, source: provenance?.source,
      error: provenance?.error,
      encodedPath: path.bytes.span.isUTF8 ? nil : path.encoded)
    return .json(answer)
  }
}

extension Item.Kind {
  init(_ kind: Kind) {
    switch kind {
    case .folder: self = .directory
    case .file: self = .file
    case .link, .fifo, .socket, .characterDevice, .blockDevice: self = .other
    }
  }
}

extension FileName {
  /// What follows the last dot, as it is written; nil if there is no dot or only a leading one.
  var shownExtension: String? {
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > bytes.startIndex, dot + 1 < bytes.endIndex else {
      return nil
    }
    return String(decoding: bytes[(dot + 1)...], as: UTF8.self)
  }
}
