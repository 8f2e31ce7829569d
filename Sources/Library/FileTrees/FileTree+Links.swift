internal import Bytes
internal import Glibc
public import SystemPackage
internal import Tree

extension FileTree {
  /// Creates a symbolic link.
  ///
  /// - Parameters:
  ///   - path: The path of the link.
  ///   - destination: The recorded path, relative to the link's directory or absolute. It does not have to exist. A path
  ///   outside the tree can be recorded, but is not followed.
  /// - Throws: `alreadyExists`, `missingParent`, `readOnlyView`, `permissionDenied`, `noSpace`, `nameTooLong`.
  public func createSymbolicLink(_ path: FilePath, to destination: FilePath) async throws(FileTreeError) {
    guard !destination.isEmpty else { throw .invalid(path, "a link cannot have an empty destination") }
    try await change(path) { [self] () throws(Fault) in
      let (folder, name) = try parent(of: path.names)
      let target = unsafe destination.withPlatformString { unsafe FileName($0) }
      let entry = try tree.makeLink(name, to: target, in: folder.node, by: Self.maker)
      tree.forget(entry.node, 1)
    }
  }

  /// Returns the recorded path of a symbolic link.
  ///
  /// - Throws: `notFound`; `system` with `.invalidArgument` for other items.
  public func destination(ofSymbolicLink path: FilePath) async throws(FileTreeError) -> FilePath {
    try await run(path) { [self] () throws(Fault) in
      let place = try place(path, followsLast: false)
      let target = try tree.linkTarget(place.node, .blocking)
      return unsafe FilePath(platformString: target.map { CChar(bitPattern: $0) } + [0])
    }
  }

  /// Adds a name to a real file. The file is removed with its last name.
  ///
  /// - Parameters:
  ///   - path: The new name.
  ///   - existing: The file. A symbolic link is not followed.
  /// - Throws: `notFound`, `alreadyExists`, `missingParent`, `readOnlyView`, `permissionDenied`, `isADirectory`;
  ///   `system` with `.improperLink` if the directory is on another file system.
  public func createHardLink(_ path: FilePath, to existing: FilePath) async throws(FileTreeError) {
    try await change(existing, and: path) { [self] () throws(Fault) in
      let place = try place(existing, followsLast: false)
      if place.attributes.kind == .folder { throw .isFolder }
      let (folder, name) = try parent(of: path.names)
      let entry = try tree.link(place.node, to: name, in: folder.node)
      tree.forget(entry.node, 1)
    }
  }
}
