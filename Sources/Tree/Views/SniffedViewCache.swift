package import Bytes
internal import Locks

/// A cache of the views of files without an extension. The views are chosen by a file's first bytes and cached by its
/// revision.
final class SniffedViewCache: Sendable {
  private let views = UnfairLock<[UInt64: [Int]]>([:])

  /// The number of bytes that every view needs to recognize its sources.
  static let headSize = 4096
  private static let limit = 16384

  /// Returns the result of `choose` for the file's first bytes. Empty if the file cannot be read.
  package func views(
    of found: LookupResult, _ blocking: BlockingMode, _ choose: (ArraySlice<UInt8>) -> [Int]
  ) throws(Fault) -> [Int] {
    let revision = found.item.revision(found.attributes)
    if let known = views.withLock({ $0[revision] }) { return known }
    var chosen: [Int] = []
    do throws(Fault) {
      let bytes = try found.item.open(pinned: false, blocking)
      chosen = choose(try bytes.head(Self.headSize, blocking))
    } catch {
      if error.isDelay { throw error }
    }
    views.withLock { views in
      if views.count >= Self.limit { views.removeAll(keepingCapacity: true) }
      views[revision] = chosen
    }
    return chosen
  }
}

extension ByteSource {
  /// Returns the first `count` bytes, or fewer if the source is shorter.
  package func head(_ count: Int, _ blocking: BlockingMode) throws(Fault) -> ArraySlice<UInt8> {
    try bytes(at: 0, atMost: count, blocking)[...]
  }
}
