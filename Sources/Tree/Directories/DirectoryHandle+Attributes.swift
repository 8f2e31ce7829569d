package import Bytes

extension DirectoryHandle {
  /// Returns the attributes of a row that is not a view. Returns `nil` if it has vanished. Does not wait for threads
  /// that read rows.
  package func attributes(of row: Row) throws(Fault) -> Attributes? {
    try node.item.attributes(of: row.name, .blocking).map { tree.overrides.applied(to: $0) }
  }
}
