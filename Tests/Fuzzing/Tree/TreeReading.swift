internal import Bytes
internal import Dispatch
internal import Files
internal import TestSupport
internal import Tree

/// Walks a tree in process and makes every request that a kernel can make, within a budget: attributes, names, reads at
/// unusual offsets, extended attributes as in xattr(7), and every view by name. Records violated invariants.
struct TreeReading {
  private(set) var complaints: [String] = []
  private let tree: Tree
  /// The remaining budget of lookups, and of bytes to read.
  private var lookupsLeft = 1200
  private var bytesLeft = 4 << 20

  private static let deepest = 5
  /// Suffixes of a file's name, and of its name without the extension.
  private static let views = [
    ".contents", ".messages", ".message", ".views", ".pages", ".as-html", ".as-txt", ".as-jpeg", ".as-pdf",
    ".1600px.q70.as-webp", ".99999999999999999999px.as-png", ".0%.rot90.rot90.gray.as-png", ".as-txt.as-txt",
    ".as-pdf.pages", ".compressed.pdf", ".merged.pdf",
  ]
  private static let stemViews = [".compressed.pdf", ".72dpi.q1.compressed.pdf", ".99999999dpi.compressed.pdf"]
  /// Names to look up in folders that have more than they list.
  private static let names = [
    "1.pdf", "0.pdf", "2-5.pdf", "1-,1-,1-.pdf", "1000000000-1,1000000000-1.pdf", "99999999999999.pdf", "search",
    "000001 x", "999999999999999 x", "larger:999999999g OR before:9999-12-31", "-(after:0000-01-01)", "by-date",
  ]

  init(_ tree: Tree) { self.tree = tree }

  mutating func walk() {
    let before = tree.nodeCount
    read(node: Tree.root, path: "", isMade: false, depth: 0)
    checkNodes(before)
  }

  private mutating func checkNodes(_ before: Int) {
    let count = tree.nodeCount
    check(count == before, "\(count) nodes are left of \(before)")
  }

  /// Looks up a path of several names, and makes all requests on it except for its views.
  mutating func visit(_ path: [FileName]) {
    let before = tree.nodeCount
    let tree = tree
    var nodes: [UInt64] = []
    for name in path where name.count > 0 {
      let folder = nodes.last ?? Tree.root
      guard let entry = ask({ (blocking) throws(Fault) in try tree.lookUp(name, in: folder, blocking) }) else { break }
      nodes.append(entry.node)
      check(entry.attributes, name.text, isMade: nodes.count > 1)
    }
    if nodes.count == path.count, let node = nodes.last {
      lookupsLeft = 100
      read(node: node, path: "", isMade: true, depth: Self.deepest - 1)
    }
    for node in nodes.reversed() { tree.forget(node, 1) }
    checkNodes(before)
  }

  private mutating func check(_ isSo: Bool, _ complaint: @autoclosure () -> String) {
    if !isSo, complaints.count < 20 { complaints.append(complaint()) }
  }

  /// Requests at once, and again with blocking patience if delayed; nil if it fails or takes too many rounds.
  private func ask<Value>(_ question: (BlockingMode) throws(Fault) -> Value) -> Value? {
    for round in 0..<6 {
      do throws(Fault) { return try question(round == 0 ? .immediate : .blocking) } catch {
        switch error.kind {
        case .later: continue
        case .pending(let pending):
          let done = DispatchSemaphore(value: 0)
          _ = pending.whenDone { done.signal() }
          if done.wait(timeout: .now() + 5) == .timedOut { return nil }
        default: return nil
        }
      }
    }
    return nil
  }

  /// Looks up a name, makes all requests on it, and forgets it.
  private mutating func visit(_ name: FileName, in folder: UInt64, _ path: String, isMade: Bool, depth: Int) {
    guard lookupsLeft > 0, name.count > 0 else { return }
    lookupsLeft -= 1
    let tree = tree
    guard let entry = ask({ (blocking) throws(Fault) in try tree.lookUp(name, in: folder, blocking) }) else { return }
    check(entry.attributes, path + "/" + name.text, isMade: isMade)
    read(node: entry.node, path: path + "/" + name.text, isMade: isMade, depth: depth)
    tree.forget(entry.node, 1)
  }

  private mutating func check(_ attributes: Attributes, _ path: String, isMade: Bool) {
    check(attributes.size >= 0 && attributes.allocated >= 0, "\(path) has the size \(attributes.size)")
    check(!isMade || attributes.size <= Bounds.largestSize, "\(path) is made and has the size \(attributes.size)")
    check((0..<1_000_000_000).contains(attributes.modified.nanoseconds), "\(path) has a time that is none")
  }

  private mutating func read(node: UInt64, path: String, isMade: Bool, depth: Int) {
    let tree = tree
    guard let attributes = ask({ (blocking) throws(Fault) in try tree.attributes(node, blocking).0 }) else { return }
    check(attributes, path, isMade: isMade)
    for name in ["user.ffmount.source", "user.ffmount.state", "user.ffmount.error", "user.ffmount.results", "user.x"] {
      _ = ask { (blocking) throws(Fault) in try tree.extendedAttribute(FileName(name), of: node, blocking) }
    }
    _ = ask { (blocking) throws(Fault) in try tree.extendedAttributeNames(node, blocking) }
    _ = ask { (blocking) throws(Fault) in try tree.linkTarget(node, blocking) }
    switch attributes.kind {
    case .folder: readFolder(node, path, isMade: isMade, depth: depth)
    case .file: readFile(node, path)
    default: break
    }
  }

  // MARK: Folders

  private mutating func readFolder(_ node: UInt64, _ path: String, isMade: Bool, depth: Int) {
    guard depth < Self.deepest, lookupsLeft > 0 else { return }
    let names = list(node, path)
    for name in names {
      // A name beside real files may be a view of one.
      let isReal = !isMade && path.isEmpty && !names.contains { $0 != name && name.bytes.starts(with: $0.bytes) }
      visit(name, in: node, path, isMade: !isReal, depth: depth + 1)
    }
    for name in Self.names where isMade { visit(FileName(name), in: node, path, isMade: true, depth: depth + 1) }
    // A few views of views are looked up as well.
    for name in names.prefix(depth == 0 ? 12 : 4) {
      for view in Self.views {
        visit(FileName(Array(name.bytes) + Array(view.utf8)), in: node, path, isMade: true, depth: depth + 1)
      }
      guard let dot = name.bytes.lastIndex(of: 0x2e) else { continue }
      for view in Self.stemViews {
        visit(FileName(name.bytes[..<dot] + Array(view.utf8)), in: node, path, isMade: true, depth: depth + 1)
      }
    }
  }

  /// Lists front to back with each row's attributes, then from invalid cookies.
  private mutating func list(_ node: UInt64, _ path: String) -> [FileName] {
    let tree = tree
    guard let reader = ask({ (blocking) throws(Fault) in try tree.openFolder(node, blocking) }) else { return [] }
    var names: [FileName] = []
    var cookie: UInt64 = 0
    for _ in 0..<20 {
      let rows = ask { (blocking) throws(Fault) in
        var rows: [(name: FileName, cookie: UInt64, node: UInt64?)] = []
        try reader.read(after: cookie, blocking) { (row, entry) throws(Fault) in
          guard rows.count < 40 else { return false }
          // `.` and `..` are not looked up.
          let found = row.cookie > 2 ? try entry() : nil
          rows.append((row.name.fileName, row.cookie, found?.node))
          return true
        }
        return rows
      }
      guard let rows, let last = rows.last else { break }
      for row in rows { if let node = row.node { tree.forget(node, 1) } }
      for row in rows where row.cookie > 2 {
        check(Self.isName(row.name), "\(path) lists \(Array(row.name.bytes.prefix(300)))")
      }
      check(last.cookie != cookie, "\(path) stays at a row of its listing")
      cookie = last.cookie
      names += rows.filter { $0.cookie > 2 }.map(\.name)
      reader.prepare()
    }
    for odd in [cookie + 1, UInt64(Int64.max), .max, 3] {
      _ = ask { (blocking) throws(Fault) in
        try reader.read(after: odd, blocking) { (_, _) throws(Fault) in false }
      }
    }
    return names
  }

  /// Whether the kernel and programs take it as the name of an entry.
  private static func isName(_ name: FileName) -> Bool {
    (1...255).contains(name.count) && name != "." && name != ".." && !name.bytes.contains { $0 == 0 || $0 == 0x2f }
  }

  // MARK: Files

  private mutating func readFile(_ node: UInt64, _ path: String) {
    let tree = tree
    guard bytesLeft > 0, let file = ask({ (blocking) throws(Fault) in try tree.open(node, blocking) }) else { return }
    let source = file.source
    let size = source.size
    check(size >= 0, "\(path) opens with the size \(size)")
    let places: [Int64] = [
      0, 1, size / 2, size - 1, size, size &+ 1, 511, 4096, Bounds.largestSize - 1, Bounds.largestSize, 1 << 61, .max,
      .max - 4096, .max - 131_072, -1, .min,
    ]
    for (number, place) in places.enumerated() {
      let count = [10, 4097, 70_000][number % 3]
      let got = ask { (blocking) throws(Fault) in try source.partialBytes(at: place, count: count, blocking) }
      bytesLeft -= got?.count ?? 0
      if let got, source.hasKnownSize {
        let most = place < 0 || place >= source.size ? 0 : min(Int64(count), source.size - place)
        check(Int64(got.count) <= most, "\(path) gives \(got.count) bytes of \(most) at \(place)")
      }
      if let extent = source.extent(at: place, count: count) {
        try? source.willMove(at: place, count: extent.count, .blocking)
      }
      try? source.willMove(at: place, count: count, .blocking)
      if source.workAhead(of: place) != .none { source.prepare(at: place) }
    }
  }
}
