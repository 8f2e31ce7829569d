internal import AllViews
package import Bytes
public import SystemPackage
package import Tree

extension FileTree {
  /// A view of a file or directory.
  public struct ViewName: Sendable, Hashable {
    /// The kind of view, such as `contents`.
    public let view: String
    /// The path of the view, from the root.
    public let path: FilePath
    /// The type of the item.
    public let kind: Kind
    /// Whether listings show the view.
    public let isListed: Bool

    /// The last name of the path, unchanged.
    package var fileName: FileName { path.names.last ?? "" }
  }

  /// Returns the views of a file or directory, those shown by listings first. Names with modifiers are not included.
  ///
  /// Reads the first bytes of the file, and makes nothing.
  ///
  /// - Throws: `notFound`, and the errors of reading the file.
  public func views(of path: FilePath) async throws(FileTreeError) -> [ViewName] {
    try await run(path) { [self] () throws(Fault) in try viewNames(of: place(path)) }
  }

  /// Returns the views of an item that has been found. Blocks.
  package func viewNames(of place: ResolvedPath) throws(Fault) -> [ViewName] {
    guard let name = place.names.last else { return [] }
    let names = Array(place.names.dropLast())
    let folder = try self.place(names)
    var found: [ViewName] = []
    for candidate in tree.views.candidates(of: name, place.attributes.kind) {
      guard let view = try unlessDelayed({ () throws(Fault) in try folder.child(candidate.name, .blocking) }),
        let provenance = try unlessDelayed({ () throws(Fault) in try view.provenance(.blocking) }) ?? nil
      else { continue }
      found.append(
        ViewName(
          view: provenance.view, path: FilePath(names + [candidate.name]), kind: Kind(view.attributes.kind),
          isListed: candidate.isListed))
    }
    return found
  }
}
