internal import Zip

/// What is in a ZIP archive, as a collection. Each access is O(1).
public struct ZipMembers: RandomAccessCollection, Sendable {
  private let archive: ZipArchive

  init(_ archive: ZipArchive) { self.archive = archive }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of members.
  public var endIndex: Int { archive.count - 1 }

  /// The member at an index from ``startIndex`` to before ``endIndex``.
  public subscript(position: Int) -> ZipMember {
    precondition(indices.contains(position), "There is no member \(position).")
    // The root comes first.
    return ZipMember(archive, UInt32(position + 1))
  }
}
