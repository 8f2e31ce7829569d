public import Bytes
internal import Entries

extension TarArchive {
  /// The fault that prevented a complete listing of the archive, or the fault of the bytes that contain it.
  public var fault: Fault? {
    if case .damaged(let fault) = source.assurance { return fault }
    guard case .damaged(let cause) = source.assurance(of: 0..<Bounds.largestSize) else { return listFault }
    // All entries can be complete although the end of the compressed file is damaged.
    guard let listFault else { return cause }
    guard endsEarly else { return listFault }
    return Fault(.damaged, "\(listFault.reason): \(cause.reason)", atByte: cause.offset)
  }

  public func assurance(of index: UInt32) -> Assurance? {
    guard let detail = tree.detail(index), !detail.flags.contains(.isText) else { return Assurance.none }
    var size = entries.nodes[Int(index)].size
    // The stored data of a sparse file is shorter.
    if detail.flags.contains(.isSparse) { size = min(1, size) }
    return source.assurance(of: detail.dataOffset..<Bounds.sum(detail.dataOffset, size))
  }

  /// Whether the headers are intact up to an entry within which the bytes end.
  public var endsEarly: Bool { listFault?.reason.hasPrefix("ends within") ?? false }
}
