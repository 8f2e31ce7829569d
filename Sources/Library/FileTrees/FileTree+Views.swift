internal import AllViews
package import Bytes
public import SystemPackage
package import Tree

extension FileTree {
  /// Something that a file or folder can be seen as.
  public struct ViewName: Sendable, Hashable {
    /// Which view it is, such as `contents`.
    public let view: String
    /// The path of the view, from the root.
    public let path: FilePath
    /// What the view is.
    public let kind: Kind
    /// Whether a listing shows it.
    public let isListed: Bool

    /// The last name of its path, as it is.
    package var fileName: FileName { path.names.last ?? "" }
  }

  /// What a file or folder can be seen as, those first that a listing shows. Names with modifiers are not among them.
  ///
  /// Looks at the file's first bytes, and makes nothing.
  ///
  /// - Throws: `notFound`, and what keeps the file from being looked at.
  public func views(of path: FilePath) async throws(FileTreeError) -> [ViewName] {
    try await run(path) { [self] () throws(Fault) in try viewNames(of: place(path)) }
  }

  /// The same of what has been found already. Blocks.
  package func viewNames(of place: Place) throws(Fault) -> [ViewName] {
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
