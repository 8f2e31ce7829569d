package import Bytes
package import Codecs
internal import Files
package import Index
package import Threads
package import Tree

/// What all views share that read compressed files: decoded stretches, restart points, spools, and limits.
package struct Unpacking: Sendable {
  package let decoded: ChunkCache
  /// nil if nothing outlives the mount.
  package let index: Index?
  private let spool: SpoolMaker
  private let largestSize: Int64
  private let largestRatio: Int64
  /// Whether bytes are read that do not agree with their checksum.
  private let showsDamage: Bool

  /// Files up to this size may have any ratio, in bytes.
  private static let ratioMatters: Int64 = 1 << 30

  /// - Parameters:
  ///   - cache: the size of decoded stretches in memory, in bytes.
  ///   - index: stores restart points; nil if nothing outlives the mount.
  ///   - showsDamage: whether bytes are read that do not agree with their checksum.
  ///   - largestSize: of the content that is read of a file, in bytes; `largestRatio` to the file's own size, for large ones.
  package init(
    cache: Int = 16 << 20, index: Index? = nil, spool: @escaping SpoolMaker = { nil }, largestSize: Int64 = 1 << 40,
    largestRatio: Int64 = 1100, showsDamage: Bool = false, _ memory: MemoryBudget = MemoryBudget()
  ) {
    decoded = ChunkCache(capacity: cache, restarts: index.map { IndexedRestarts(index: $0) }, memory)
    self.index = index
    self.spool = spool
    self.largestSize = largestSize
    self.largestRatio = largestRatio
    self.showsDamage = showsDamage
  }

  /// The content of a compressed file.
  package func content(of bytes: any ByteSource, _ packing: Packing) -> UnpackedSource {
    let (allowed, isAny) = bytes.size.multipliedReportingOverflow(by: largestRatio)
    let limit = min(largestSize, isAny ? .max : max(allowed, Self.ratioMatters))
    return UnpackedSource(of: bytes, packing, limit: limit, showsDamage: showsDamage, cache: decoded, spool: spool)
  }

  /// A compressed file as what is in it, for a view that shows that; nil if it is not compressed. Its size is an estimate
  /// until it is opened.
  package func inside(of source: Source, _ patience: Patience) throws(Fault) -> Source? {
    guard !source.isConcealed, let packing = try packing(of: source, patience) else { return nil }
    let item = PackedItem(source, packing, self)
    return Source(item: item, attributes: item.described, name: source.name, folder: source.folder)
  }

  private func packing(of source: Source, _ patience: Patience) throws(Fault) -> Packing? {
    let head = try source.head(patience)
    if let packing = Packing(startingWith: head) { return packing }
    return source.name.fileExtension == "br" ? .brotli : nil
  }
}
