internal import Bytes
package import FileTrees
package import Files
internal import Glibc
package import Index
package import RenditionViews
package import Tree

/// The directory or file whose tree is shown, as specified on a command line.
package struct ShownSource: Sendable {
  private let source: TreeSource
  /// The absolute path, with symbolic links resolved.
  package var path: String { source.path }
  package var isFolder: Bool { source.isFolder }

  /// Creates a source. The caller has to know that its file system responds.
  ///
  /// - Parameter given: The path as given by a user.
  /// - Throws: A refusal if the path is missing, unreadable, or neither a directory nor a file.
  package init(_ given: String) throws {
    do throws(Fault) { source = try TreeSource(given) } catch {
      guard case .system(let code) = error.kind else {
        throw Refusal(.sourceUnsuitable, "cannot show \(given): \(error) (give another folder or file)")
      }
      let shown = given.isEmpty ? "''" : given
      throw Refusal(.sourceMissing, "cannot show \(shown): \(describe(code)) (\(Self.remedy(code, given)))")
    }
  }

  /// Returns the remedy for a path that cannot be resolved or read.
  private static func remedy(_ code: Int32, _ given: String) -> String {
    guard code == ENOENT || code == ENOTDIR else { return code == EACCES ? "check its permissions" : "check the path" }
    if given.contains("://") || given.hasPrefix("http:") || given.hasPrefix("https:") {
      return "an address begins with http://, https://, s3:// or sftp://"
    }
    let parts = given.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 2, !parts[0].isEmpty, !parts[0].contains("/"), UInt16(parts[1]) != nil {
      return "for a server, give http://\(given)"
    }
    if given.hasPrefix("~") { return "write ~ without quotation marks" }
    return "check the path"
  }

  package static var spoolFolder: String { TreeSource.spoolFolder }

  /// Returns the tree, and the root directory of its real files.
  ///
  /// - Parameters:
  ///   - options: The options of `-o`.
  ///   - index: Stores expensive results.
  ///   - conversions: The conversions. `nil` if nothing is converted.
  ///   - reserve: The number of the process's descriptors reserved for purposes other than files.
  ///   - ledger: The nodes handed over by the previous process, and to the next one.
  package func tree(
    _ options: MountOptions, _ index: Index, _ conversions: Conversions?, reserve: Int,
    ledger: PersistentNodeTable? = nil,
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
      throw Refusal(.sourceUnsuitable, "cannot show \(path): \(reason(error, options))")
    }
  }

  /// Returns the reason why the file is not shown as a directory, and the remedy in parentheses.
  private func reason(_ error: Fault, _ options: MountOptions) -> String {
    if let foreign = ForeignFormat(of: path) {
      return "\(foreign.name), which ffmount does not show (\(foreign.command))"
    }
    let near = options.view.flatMap { view in
      MountOptions.folderViews.contains(view) ? nil : Spelling.nearest(to: view, among: MountOptions.folderViews)
    }
    if let near { return "\(error) (did you mean -o view=\(near)?)" }
    return "\(error) (give the folder it is in to get the file as it is)"
  }

  /// Returns a `FileTree` for a tree of this source.
  package func library(_ tree: Tree) -> FileTree { FileTree(tree, of: source) }

  /// Returns the number of descriptors for the workers' sockets, standard streams and the log.
  package static func reserve(_ options: MountOptions, _ conversions: Conversions?) -> Int {
    TreeSource.reserve(options.tree, conversions)
  }
}
