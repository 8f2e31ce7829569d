public import Bytes

/// A summary of the records of one kind for one source.
public struct IndexedSource: Hashable, Sendable {
  public var source: [UInt8]
  /// The number of the kind.
  public var kind: UInt32
  public var records: Int
  /// The size of the keys and values, in bytes.
  public var size: Int64
  /// The time of last use, in seconds since 1970, accurate to ten minutes.
  public var usedAt: Int64
}

extension Index {
  /// Returns a summary of all records, by source and kind. Reads every record.
  public func contents() -> [IndexedSource] { attempt { file in try file.contents() } ?? [] }

  /// Removes the sources whose identity starts with `prefix`, or all if it is empty. Returns their number. Throws if
  /// some are left.
  public func forget(sourcesStartingWith prefix: [UInt8]) throws(Fault) -> Int {
    guard let texts = forgetTexts(ofSourcesStartingWith: prefix) else { throw unchanged }
    // If the file is damaged, an empty one has replaced it at the second attempt.
    for _ in 0..<2 {
      if let count = attempt({ file in try file.forget(sourcesStartingWith: prefix) }) { return max(texts, count) }
    }
    throw unchanged
  }

  /// The index's size on disk, in bytes, including the text indexes.
  public var size: Int64 { (attempt { file in file.size } ?? 0) + textSize() }
}
