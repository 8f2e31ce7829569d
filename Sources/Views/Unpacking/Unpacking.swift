package import Bytes
package import Codecs
internal import Files
package import Index
package import Threads
package import Tree

/// The services for all views that read compressed files: decoded blocks, restart points, spools, and limits.
package struct Unpacking: Sendable {
  package let decoded: BlockCache
  /// The index. Nil if nothing outlives the mount.
  package let index: Index?
  private let spool: SpoolMaker
  private let largestSize: Int64
  private let largestRatio: Int64
  /// Whether bytes that do not match their checksum are readable.
  private let showsDamage: Bool

  /// The maximum size of content that may have any ratio, in bytes.
  private static let ratioMatters: Int64 = 1 << 30

  /// - Parameters:
  ///   - cache: The size of the cache of decoded blocks, in bytes.
  ///   - index: Stores restart points. Nil if nothing outlives the mount.
  ///   - largestSize: The maximum size of the content that is read of a file, in bytes.
  ///   - largestRatio: The maximum ratio of the content to the file's own size, for large content.
  ///   - showsDamage: Whether bytes that do not match their checksum are readable.
  package init(
    cache: Int = 16 << 20, index: Index? = nil, spool: @escaping SpoolMaker = { nil }, largestSize: Int64 = 1 << 40,
    largestRatio: Int64 = 1100, showsDamage: Bool = false, _ memory: MemoryBudget = MemoryBudget()
  ) {
    decoded = BlockCache(capacity: cache, restarts: index.map { IndexedRestarts(index: $0) }, memory)
    self.index = index
    self.spool = spool
    self.largestSize = largestSize
    self.largestRatio = largestRatio
    self.showsDamage = showsDamage
  }

  /// Returns the content of a compressed file.
  package func content(of bytes: any ByteSource, _ packing: CompressedFormat) -> UnpackedSource {
    let (allowed, isAny) = bytes.size.multipliedReportingOverflow(by: largestRatio)
    let limit = min(largestSize, isAny ? .max : max(allowed, Self.ratioMatters))
    return UnpackedSource(of: bytes, packing, limit: limit, showsDamage: showsDamage, cache: decoded, spool: spool)
  }

  /// Returns the content of a compressed file, for a view of that content. Returns `nil` if the file is not compressed.
  /// The size is an estimate until the content is opened.
  package func inside(of source: Source, _ blocking: BlockingMode) throws(Fault) -> Source? {
    guard !source.isConcealed, let packing = try packing(of: source, blocking) else { return nil }
    let item = PackedItem(source, packing, self)
    return Source(item: item, attributes: item.described, name: source.name, folder: source.folder)
  }

  private func packing(of source: Source, _ blocking: BlockingMode) throws(Fault) -> CompressedFormat? {
    let head = try source.head(blocking)
    if let packing = CompressedFormat(startingWith: head) { return packing }
    return source.name.fileExtension == "br" ? .brotli : nil
  }
}
