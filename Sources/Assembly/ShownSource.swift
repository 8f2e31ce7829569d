internal import Bytes
package import FileTrees
package import Files
internal import Glibc
package import Index
package import RenditionViews
package import Tree

/// The folder or file whose tree is shown, for who names it on a command line.
package struct ShownSource: Sendable {
  private let source: TreeSource
  /// The absolute path, with symbolic links resolved.
  package var path: String { source.path }
  package var isFolder: Bool { source.isFolder }

  /// - Parameter given: as a user types it. That its file system answers is the caller's to know.
  /// - Throws: a refusal if it is missing, neither a folder nor a file, or may not be read.
  package init(_ given: String) throws {
    do throws(Fault) { source = try TreeSource(given) } catch {
      guard case .system(let code) = error.kind else {
        throw Refusal(.sourceUnsuitable, "cannot show \(given): \(error) (give one of those)")
      }
      // It was found, but may not be read.
      let check = unsafe access(given, F_OK) == 0 ? "its permissions" : "the path"
      throw Refusal(.sourceMissing, "cannot show \(given): \(describe(code)) (check \(check))")
    }
  }

  package static var spoolFolder: String { TreeSource.spoolFolder }

  /// The tree and the root that its real files are below.
  ///
  /// - Parameters:
  ///   - options: those of `-o`.
  ///   - index: stores what is expensive to determine.
  ///   - conversions: nil if nothing is converted.
  ///   - reserve: how many of the process's descriptors are kept for other uses than files.
  ///   - ledger: what the process before knew of the nodes, and the one after will.
  package func tree(
    _ options: MountOptions, _ index: Index, _ conversions: Conversions?, reserve: Int, ledger: NodeLedger? = nil,
    _ openLedger: OpenLedger? = nil
  ) throws -> (Tree, RealRoot) {
    var settings = options.tree
    settings.isShared = options.isShared
    do throws(Fault) {
      var source = source
      source.openLedger = openLedger
      return try source.tree(settings, index, conversions, reserve: reserve, ledger: ledger)
    } catch {
      if case .system(let code) = error.kind {
        throw Refusal(.sourceMissing, "cannot show \(path): \(describe(code)) (check its permissions)")
      }
      throw Refusal(
        .sourceUnsuitable, "cannot show \(path): \(error) (give the folder it is in to get the file as it is)")
    }
  }

  /// What a library for other programs has of a tree that has been made of it.
  package func library(_ tree: Tree) -> FileTree { FileTree(tree, of: source) }

  /// Of the process's descriptors, those that workers' sockets, standard streams and the log take.
  package static func reserve(_ options: MountOptions, _ conversions: Conversions?) -> Int {
    TreeSource.reserve(options.tree, conversions)
  }
}
