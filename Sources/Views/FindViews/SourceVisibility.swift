internal import Bytes
internal import Glibc
internal import Index
internal import Locks
package import Tree

/// The process for which a search is made.
package enum FindReader: Sendable {
  /// This process, with its own rights.
  case process
  /// Another user of a tree, as which `tree` shows the files.
  case user(Credentials, Tree)

  /// Whether results must not depend on files that the process cannot read.
  var isOther: Bool { if case .user = self { true } else { false } }
}

/// The sources of an index that a process may read now: those whose folders it may list and search up to the searched
/// one. For another user, the file at a source's path must be the one that was indexed: its words are not those of a file
/// that has replaced it.
///
/// Rights are examined once for each source and folder, so an instance is for one search.
final class SourceVisibility: Sendable {
  private let root: RealFolder
  private let reader: FindReader
  private let known = UnfairLock(Known())

  private struct Known {
    /// The folders that may be listed and searched, by path. `nil` for others.
    var folders: [[UInt8]: RealFolder?] = [:]
    /// The sources that may be read, by the number of their part of the index.
    var sources: [Int: [Int64: Bool]] = [:]
  }

  /// The number of documents whose sources are read from the index at a time.
  private static let atATime = 500

  /// Returns `nil` if the process may read everything.
  init?(_ reader: FindReader, _ root: RealFolder) {
    if case .process = reader, geteuid() == 0 { return nil }
    (self.reader, self.root) = (reader, root)
  }

  /// Returns those documents of a part of the index that may be read. Throws if the index cannot be read. Blocks.
  func visible(among numbers: [UInt32], of part: DocumentParts.Part) throws(Fault) -> [UInt32] {
    var visible: [UInt32] = []
    var place = 0
    while place < numbers.count {
      try CancellationToken.check()
      let next = min(place + Self.atATime, numbers.count)
      guard let sources = part.index.sources(of: Array(numbers[place..<next])) else { throw .noDocumentIndex }
      for (number, source) in sources {
        let isVisible: Bool
        if let found = known.withLock({ $0.sources[part.number]?[source.id] }) {
          isVisible = found
        } else {
          isVisible = try isReadable(source.path, source.state)
          known.withLock { $0.sources[part.number, default: [:]][source.id] = isVisible }
        }
        if isVisible { visible.append(number) }
      }
      place = next
    }
    return visible
  }

  /// Returns whether the process may read the source at a path below the searched folder. That of a folder ends with a
  /// slash.
  ///
  /// - Parameter state: the state in which the source was indexed.
  func isReadable(_ path: [UInt8], _ state: DocumentSource.State) throws(Fault) -> Bool {
    let isFolder = path.last == Self.slash
    let whole = isFolder ? Array(path.dropLast()) : path
    guard let (folder, name) = try parent(of: whole) else { return false }
    guard let name else { return true }
    return try isReadable(name, in: folder, isFolder: isFolder, state)
  }

  private static let slash = UInt8(ascii: "/")

  /// Returns the folder of an item, and its name, which the searched folder does not have. Returns `nil` if the process
  /// may not list and search the folder.
  private func parent(of path: [UInt8]) throws(Fault) -> (RealFolder, FileName?)? {
    let (above, name) = Self.split(path)
    guard let folder = try folder(above) else { return nil }
    return (folder, name.isEmpty ? nil : FileName(name))
  }

  private static func split(_ path: [UInt8]) -> (folder: [UInt8], name: ArraySlice<UInt8>) {
    guard let end = path.lastIndex(of: slash) else { return ([], path[...]) }
    return (Array(path[..<end]), path[(end + 1)...])
  }

  private func folder(_ path: [UInt8]) throws(Fault) -> RealFolder? {
    // From the nearest known folder above.
    var missing: [[UInt8]] = []
    var found: RealFolder??
    var place = path
    while true {
      found = known.withLock { $0.folders[place] }
      if found != nil { break }
      missing.append(place)
      if place.isEmpty { break }
      place = Self.split(place).folder
    }
    var folder = found ?? nil
    while let next = missing.popLast() {
      if next.isEmpty {
        folder = try isRootReadable() ? root : nil
      } else if let above = folder {
        let name = FileName(Self.split(next).name)
        let child =
          try isReadable(name, in: above, isFolder: true)
          ? unlessDelayed { () throws(Fault) in try above.child(named: name, .blocking) } ?? nil : nil
        folder = child?.item as? RealFolder
      }
      known.withLock { [folder] in $0.folders[next] = .some(folder) }
    }
    return folder
  }

  private func isRootReadable() throws(Fault) -> Bool {
    switch reader {
    case .process: return root.isReadable(".", isFolder: true)
    case .user(let caller, let tree):
      let attributes = try unlessDelayed { () throws(Fault) in try root.attributes(.blocking) }
      guard let attributes else { return false }
      return try tree.allows(5, on: LookupResult(root, attributes), to: caller)
    }
  }

  private func isReadable(
    _ name: FileName, in folder: RealFolder, isFolder: Bool, _ state: DocumentSource.State? = nil
  ) throws(Fault) -> Bool {
    switch reader {
    case .process: return folder.isReadable(name, isFolder: isFolder)
    case .user(let caller, let tree):
      let found = try unlessDelayed { () throws(Fault) in try folder.child(named: name, .blocking) } ?? nil
      guard let found else { return false }
      if let state, !isFolder, DocumentSource.State(found.attributes) != state { return false }
      return try tree.allows(isFolder ? 5 : 4, on: found, to: caller)
    }
  }
}
