internal import Zip

/// The members of a ZIP archive as a collection. Each access is O(1).
public struct ZipMembers: RandomAccessCollection, Sendable {
  private let archive: ZipArchive

  init(_ archive: ZipArchive) { self.archive = archive }

  /// The first index: 0.
  public var startIndex: Int { 0 }
  /// The number of members.
  public var endIndex: Int { archive.count - 1 }

  /// Returns the member at an index from ``startIndex`` up to, but not including, ``endIndex``.
  public subscript(position: Int) -> ZipMember {
    precondition(indices.contains(position), "Member \(position) does not exist.")
    // The first node is the root.
    return ZipMember(archive, UInt32(position + 1))
  }
}
