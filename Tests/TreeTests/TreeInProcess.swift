import AllViews
import Bytes
import Files
import Glibc
import RenditionViews
import Synchronization
import TestSupport
import Testing
import Threads
import Tree

/// A tree as its users see it, without a kernel: paths are walked by lookups, each of which is counted and forgotten.
final class TreeInProcess: FileTree {
  let tree: Tree
  /// Whether nodes are forgotten only at the end, as by a kernel with memory to spare, or after each call.
  private let keepsNodes: Bool
  private let kept = Mutex<[UInt64]>([])
  /// Retained as long as the tree.
  private let source: SourceFolder

  private init(_ tree: Tree, of source: SourceFolder, keepsNodes: Bool) {
    self.tree = tree
    self.source = source
    self.keepsNodes = keepsNodes
  }

  deinit { giveBack(kept.withLock { $0 }) }

  private func giveBack(_ nodes: [UInt64]) { for node in nodes.reversed() { tree.forget(node, 1) } }

  convenience init(
    _ source: SourceFolder, file: String? = nil, options: ConformanceCase.Options = .init(), descriptors: Int = 64,
    keepsNodes: Bool = false, memory: MemoryBudget = MemoryBudget(), conversions: Conversions? = nil
  ) throws {
    var listing = ViewListing()
    if let preset = options.preset { listing.preset = try #require(ViewListing.Preset(rawValue: preset)) }
    listing.added = Set(options.added.map { FileExtension($0.utf8) })
    listing.removed = Set(options.removed.map { FileExtension($0.utf8) })
    let root = try RealRoot(
      Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: descriptors))
    let views = Views(listing: listing, depth: options.depth, conversions: conversions, memory: memory)
    if let file {
      let root = try FileRoot(FileName(file), in: root, views: views, preferred: nil)
      self.init(Tree(root: root, views: views), of: source, keepsNodes: keepsNodes)
    } else {
      self.init(try Tree(mirroring: root, views: views), of: source, keepsNodes: keepsNodes)
    }
  }

  /// Requests at once, and again with blocking patience if delayed, as a mount does.
  func ask<Value>(_ question: (BlockingMode) throws(Fault) -> Value) throws -> Value {
    do throws(Fault) {
      do throws(Fault) { return try question(.immediate) } catch {
        guard error.isDelay else { throw error }
        return try waiting { () throws(Fault) in try question(.blocking) }
      }
    } catch {
      throw FileTreeError(errno: error.expectedErrno)
    }
  }

  func withNode<Value>(_ path: FileName, _ body: (UInt64) throws -> Value) throws -> Value {
    var nodes: [UInt64] = []
    defer { if keepsNodes { kept.withLock { $0 += nodes } } else { giveBack(nodes) } }
    for name in path.bytes.split(separator: 0x2f) {
      let folder = nodes.last ?? Tree.root
      nodes.append(try ask { (blocking) throws(Fault) in try tree.lookUp(FileName(name), in: folder, blocking) }.node)
    }
    return try body(nodes.last ?? Tree.root)
  }

  func list(_ path: FileName) throws -> [FileName] { try rows(path).map(\.name) }

  /// The rows after `.` and `..`, read a few at a time as a kernel does.
  func rows(_ path: FileName, atATime count: Int = 50) throws -> [(name: FileName, cookie: UInt64)] {
    try withNode(path) { node in
      let reader = try ask { (blocking) throws(Fault) in try tree.openFolder(node, blocking) }
      var rows: [(name: FileName, cookie: UInt64)] = []
      while true {
        let more = try read(reader, after: rows.last?.cookie ?? 0, count: count)
        if more.isEmpty { return Array(rows.dropFirst(2)) }
        rows += more
      }
    }
  }

  func read(_ reader: DirectoryHandle, after cookie: UInt64, count: Int) throws -> [(name: FileName, cookie: UInt64)] {
    try ask { (blocking) throws(Fault) in
      var rows: [(name: FileName, cookie: UInt64)] = []
      try reader.read(after: cookie, blocking) { (row, entry) throws(Fault) in
        guard rows.count < count else { return false }
        rows.append((row.name.fileName, row.cookie))
        return true
      }
      return rows
    }
  }

  func stat(_ path: FileName) throws -> FileTreeStatus {
    try withNode(path) { node in
      let attributes = try ask { (blocking) throws(Fault) in try tree.attributes(node, blocking) }.0
      let kind: FileTreeStatus.Kind =
        switch attributes.kind {
        case .file: .file
        case .folder: .folder
        case .link: .link
        default: .other
        }
      return FileTreeStatus(
        kind: kind, inode: attributes.inode, permissions: attributes.permissions, links: UInt64(attributes.links),
        owner: attributes.owner, group: attributes.group, size: attributes.size, modified: attributes.modified)
    }
  }

  func read(_ path: FileName, at offset: Int64, count: Int) throws -> [UInt8] {
    try withNode(path) { node in
      let file = try ask { (blocking) throws(Fault) in try tree.open(node, blocking) }
      return try ask { (blocking) throws(Fault) in try file.source.partialBytes(at: offset, count: count, blocking) }
    }
  }

  func readLink(_ path: FileName) throws -> [UInt8] {
    try withNode(path) { node in try ask { (blocking) throws(Fault) in try tree.linkTarget(node, blocking) } }
  }

  func attribute(_ path: FileName, _ name: String) throws -> [UInt8] {
    try withNode(path) { node in
      try ask { (blocking) throws(Fault) in try tree.extendedAttribute(FileName(name), of: node, blocking) }
    }
  }

  func attributeNames(_ path: FileName) throws -> [String] {
    try withNode(path) { node in
      let names = try ask { (blocking) throws(Fault) in try tree.extendedAttributeNames(node, blocking) }
      return names.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }
  }
}

extension Fault {
  /// The errno that the contract requires for it.
  var expectedErrno: Int32 {
    switch kind {
    case .system(let code): code
    case .locked: EACCES
    case .later, .pending: EAGAIN
    case .interrupted: EINTR
    case .damaged, .changed, .unsupported, .limit: EIO
    }
  }
}
