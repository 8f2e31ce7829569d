/// What the index holds of one source, of one kind.
public struct IndexedSource: Hashable, Sendable {
  public var source: [UInt8]
  /// The kind's number.
  public var kind: UInt32
  public var records: Int
  /// In bytes, keys and values.
  public var size: Int64
  /// When it was used last, in seconds since 1970, within ten minutes.
  public var usedAt: Int64
}

extension Index {
  /// All that the index holds, by source and kind. Reads every record.
  public func contents() -> [IndexedSource] { attempt { file in try file.contents() } ?? [] }

  /// Forgets the sources whose identity starts with `prefix`; all of them with an empty one. Gives how many that were.
  public func forget(sourcesStartingWith prefix: [UInt8]) -> Int {
    let texts = forgetTexts(ofSourcesStartingWith: prefix)
    return max(texts, attempt { file in try file.forget(sourcesStartingWith: prefix) } ?? 0)
  }

  /// What the index takes on the disk, in bytes, with the words of texts.
  public var size: Int64 { (attempt { file in file.size } ?? 0) + textSize() }
}
