package import Bytes

extension FolderReader {
  /// The attributes of a row that is no view; nil if it has vanished. Waits for nobody who reads rows.
  package func attributes(of row: Row) throws(Fault) -> Attributes? {
    try node.item.attributes(of: row.name, .blocking).map { tree.overrides.applied(to: $0) }
  }
}
