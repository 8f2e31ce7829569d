public import Bytes

/// What the index holds of one kind for one source.
public struct IndexedSource: Hashable, Sendable {
  public var source: [UInt8]
  /// The kind's number.
  public var kind: UInt32
  public var records: Int
  /// In bytes, keys and values.
  public var size: Int64
  /// The time of last use, in seconds since 1970, accurate to ten minutes.
  public var usedAt: Int64
}

extension Index {
  /// Everything in the index, by source and kind. Reads every record.
  public func contents() -> [IndexedSource] { attempt { file in try file.contents() } ?? [] }

  /// Removes the sources whose identity starts with `prefix`; all of them if it is empty. Returns their number; throws
  /// if some are left.
  public func forget(sourcesStartingWith prefix: [UInt8]) throws(Fault) -> Int {
    guard let texts = forgetTexts(ofSourcesStartingWith: prefix) else { throw unchanged }
    // A damaged file has been replaced by an empty one when it is asked again.
    for _ in 0..<2 {
      if let count = attempt({ file in try file.forget(sourcesStartingWith: prefix) }) { return max(texts, count) }
    }
    throw unchanged
  }

  /// The index's size on disk, in bytes, including the text indexes.
  public var size: Int64 { (attempt { file in file.size } ?? 0) + textSize() }
}
