import Assembly
import Bytes
import FileTrees
import Glibc
import NIOCore
import NIOHTTP1
import Text
import Tree

/// The removed files and folders of the page, which can be restored. They are in `.trash` of the tree's root, in the
/// form of the FreeDesktop.org Trash specification: `files/NAME` and `info/NAME.trashinfo`.
struct Trash: Sendable {
  let visitor: Visitor

  private var site: Site { visitor.site }

  init(_ visitor: Visitor) { self.visitor = visitor }

  static let folder: FileName = ".trash"

  static func isAsked(by request: HTTPRequest) -> Bool {
    request.path == "/api/file" && request.method == .DELETE
      || request.path == "/api/restore" && request.method == .POST
  }

  func answer(_ request: HTTPRequest) -> Site.Answer {
    if let refusal = visitor.refusalToWrite { return .now(refusal) }
    let key = request.method == .POST ? "item" : "path"
    guard let path = request.query.bytes(key).flatMap({ TreePath($0) }), !path.names.isEmpty,
      request.method == .DELETE || path.names.count == 1
    else { return .now(.problem(.badRequest, "the parameter \(key) is missing or not permitted")) }
    return .long { [self] in
      defer { site.forgetAnswers() }
      do throws(Fault) { return try request.method == .POST ? restore(path.names[0]) : remove(path) } catch {
        return .problem(error, instance: path.encoded)
      }
    }
  }

  private func remove(_ path: TreePath) throws(Fault) -> Response {
    let target = try visitor.target(path, for: .change, changesName: true, followsLast: false)
    guard let place = target.item else { throw .notFound }
    let reach = LockTable.Reach(path: target.names, changesName: true, isDeep: true)
    guard site.locks.hindrance(to: reach, tokens: [], user: visitor.account.name) == nil else {
      return .problem(.locked, "the file is locked by a WebDAV client", instance: path.encoded)
    }
    let names = target.names
    guard try place.provenance(.blocking) == nil else { throw .inView }
    guard site.hasTrash, names.first != Self.folder, let name = names.last else {
      try site.library.removeItem(at: names, recursively: true)
      return .json(["path": .string(path.text)])
    }
    if let trash = try site.library.existing([Self.folder], followsLast: false), trash.attributes.kind != .folder {
      return .problem(
        .conflict, "there is no place for removed files: .trash is not a folder (rename it, or use --no-trash)")
    }
    for name in ["files", "info"] as [FileName] {
      try site.library.makeFolder(at: [Self.folder, name], intermediates: true)
    }
    let suffix = ".\(Secret.random().prefix(12))"
    let kept = FileName(name.bytes.prefix(255 - suffix.utf8.count - ".trashinfo".utf8.count) + Array(suffix.utf8))
    let text =
      "[Trash Info]\nPath=\(TreePath(names: names).encoded)\nDeletionDate=\(HTTPDate.iso(HTTPDate.now).prefix(19))\n"
    let info = [Self.folder, "info", kept.appending(".trashinfo")]
    let record = try Replacement(of: info, in: site.library, replacing: false)
    try record.file.write(.init(string: text), at: 0)
    try record.finish()
    do throws(Fault) {
      try site.library.renameItem(at: names, to: [Self.folder, "files", kept], replacing: false)
    } catch {
      try? site.library.removeItem(at: info, recursively: false)
      guard error.kind == .system(EXDEV) else { throw error }
      return .problem(.conflict, "it is on another file system than the trash (delete it by WebDAV)")
    }
    return .json(["path": .string(path.text), "item": .string(kept.text)])
  }

  private func restore(_ item: FileName) throws(Fault) -> Response {
    let info = [Self.folder, "info", item.appending(".trashinfo")]
    let record = try site.library.place(info, followsLast: false)
    let lines = try record.bytes(upTo: 64 << 10).split(separator: UInt8(ascii: "\n"))
    let prefix = Array("Path=".utf8)
    guard let line = lines.first(where: { $0.starts(with: prefix) }),
      let path = TreePath(encoded: Substring(decoding: line.dropFirst(prefix.count), as: UTF8.self)),
      !path.names.isEmpty
    else { throw Fault(.damaged, "the record in the trash has no path") }
    // The trash contains the files of all accounts.
    guard visitor.rights(at: path.names).contains(.change), let own = visitor.path(of: path.names) else {
      throw .notFound
    }
    let names = try visitor.target(own, for: .change, changesName: true, followsLast: false).names
    let reach = LockTable.Reach(path: names, changesName: true)
    guard site.locks.hindrance(to: reach, tokens: [], user: "") == nil else {
      return .problem(.locked, "the folder is locked by a WebDAV client", instance: own.encoded)
    }
    try site.library.makeFolder(at: Array(names.dropLast()), intermediates: true)
    try site.library.renameItem(at: [Self.folder, "files", item], to: names, replacing: false)
    try site.library.removeItem(at: info, recursively: false)
    return .json(["path": .string(own.text)])
  }
}
