internal import AllViews
internal import Bytes
internal import Files
internal import Glibc
package import Index
package import RenditionViews
internal import Threads
package import Tree

/// The folder or file whose tree is shown.
package struct ShownSource: Sendable {
  /// The absolute path, with symbolic links resolved.
  package let path: String
  package let isFolder: Bool

  /// - Parameter given: as a user types it. That its file system answers is the caller's to know.
  /// - Throws: a refusal if it is missing, neither a folder nor a file, or may not be read.
  package init(_ given: String) throws {
    guard let resolved = unsafe realpath(given, nil) else {
      throw Refusal(.sourceMissing, "cannot show \(given): \(describe(errno)) (check the path)")
    }
    defer { unsafe free(resolved) }
    path = unsafe String(cString: resolved)
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      throw Refusal(.sourceMissing, "cannot show \(given): \(describe(errno)) (check the path)")
    }
    isFolder = status.st_mode & S_IFMT == S_IFDIR
    guard isFolder || status.st_mode & S_IFMT == S_IFREG else {
      throw Refusal(.sourceUnsuitable, "cannot show \(given): neither a folder nor a file (give one of those)")
    }
    guard unsafe access(path, isFolder ? R_OK | X_OK : R_OK) == 0 else {
      throw Refusal(.sourceMissing, "cannot show \(given): \(describe(errno)) (check its permissions)")
    }
  }

  /// The folder for large temporary files: /tmp may be in memory.
  package static var spoolFolder: String {
    let given = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) }
    return given.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/var/tmp"
  }

  /// The tree and the root that its real files are below.
  ///
  /// - Parameters:
  ///   - options: those of `-o`.
  ///   - index: stores what is expensive to determine.
  ///   - conversions: nil if nothing is converted.
  ///   - reserve: how many of the process's descriptors are kept for other uses than files.
  ///   - ledger: what the process before knew of the nodes, and the one after will.
  package func tree(
    _ options: MountOptions, _ index: Index, _ conversions: Conversions?, reserve: Int, ledger: NodeLedger? = nil
  ) throws -> (Tree, RealRoot) {
    let views = Views(
      listing: options.listing, depth: options.depth, index: index, zip: options.zip, spools: Self.spoolFolder,
      conversions: conversions, memory: MemoryBudget(capacity: Int(options.memory)))
    let pool = DescriptorPool.fittingProcess(reserve: reserve)
    do throws(Fault) {
      let slash = path.lastIndex(of: "/") ?? path.startIndex
      let folder = isFolder ? path : slash == path.startIndex ? "/" : String(path[..<slash])
      let root = try RealRoot(Descriptor.open(path: folder, for: .place), pool: pool, named: options.sourceID)
      if isFolder {
        return (
          try Tree(
            mirroring: root, views: views, overrides: options.overrides, isShared: options.isShared,
            keepsHandles: options.keepsHandles, isWritable: options.isWritable, ledger: ledger), root
        )
      }
      let name = FileName(path[path.index(after: slash)...].utf8)
      let top = try FileRoot(name, in: root, views: views, preferred: options.view)
      return (
        Tree(
          root: top, views: views, overrides: options.overrides, isShared: options.isShared,
          keepsHandles: options.keepsHandles, ledger: ledger), root
      )
    } catch {
      if case .system(let code) = error.kind {
        throw Refusal(.sourceMissing, "cannot show \(path): \(describe(code)) (check its permissions)")
      }
      throw Refusal(
        .sourceUnsuitable, "cannot show \(path): \(error) (give the folder it is in to get the file as it is)")
    }
  }

  /// Of the process's descriptors, those that workers' sockets, standard streams and the log take.
  package static func reserve(_ options: MountOptions, _ conversions: Conversions?) -> Int {
    let workers = conversions == nil ? 0 : options.workers ?? sysconf(Int32(_SC_NPROCESSORS_ONLN))
    return 16 + 4 * workers
  }
}
