public import Bytes
internal import Files

extension Tree {
  /// Calls `body` with a descriptor of a real directory, which may be O_PATH.
  ///
  /// Throws ENOTDIR for a file, and `unsupported` for a directory of a view.
  public func withFolder<Value>(
    _ id: UInt64, _ body: (Int32) throws(Fault) -> Value
  ) throws(Fault) -> Value {
    let item = try nodes.node(id).item
    guard item.kind == .folder else { throw .notFolder }
    guard let folder = item as? RealFolder else { throw Fault(.unsupported, "it is not a real folder") }
    return try folder.place.withDescriptor(body)
  }
}
