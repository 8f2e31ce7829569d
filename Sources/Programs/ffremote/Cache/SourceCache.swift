import Assembly
import Bytes
import FileTrees
import Glibc
import Index
import Jobs
import Locks
import ServerAnswers
import Threads

/// The data of sources elsewhere that is kept between mounts: blocks of files, versions of files, and listings.
///
/// All mounts of a user share it. Nothing depends on it: without a folder, or on a full disk, everything is requested
/// again. Blocks are files of a `DiskCache`, and everything else is in the index. Names and keys are digests, because
/// addresses can contain secrets.
final class SourceCache: Sendable {
  let index: Index
  private let blocks: DiskCache
  /// Whether the source is shown without any request.
  let isOffline: Bool
  private let queue = WriteQueue(capacity: 48 << 20)
  /// The time before which nothing is written, in nanoseconds. A full disk is not tried for each block.
  private let resumesAt = UnfairLock<UInt64>(0)

  /// The pause after a failure to write, in nanoseconds.
  private static let pause: UInt64 = 5_000_000_000

  /// - Parameters:
  ///   - folder: the user's cache folder. Nil if nothing can be kept.
  ///   - size: the maximum size of all blocks, in bytes.
  init?(in folder: String?, size: Int64, isOffline: Bool) {
    guard size > 0 || isOffline, let blocks = Converter.blocks(in: folder, size) else { return nil }
    index = Index(folder: folder)
    self.blocks = blocks
    self.isOffline = isOffline
  }

  /// Returns a digest of words from which they cannot be guessed. Returns `nil` if nothing can be kept.
  func digest(_ words: [String]) -> [UInt8]? { blocks.seal(words.map { Array($0.utf8) }) }

  func block(_ name: FileName, count: Int) -> [UInt8]? { blocks.block(name, count: count) }

  /// Calls `body` later with a function that keeps a block, unless much is queued. That function returns false if
  /// nothing can be kept currently. Does not block.
  ///
  /// - Parameter cost: the memory that `body` holds, in bytes.
  func keep(
    cost: Int, _ body: @escaping @Sendable (_ store: (_ name: FileName, _ block: [UInt8]) -> Bool) -> Void
  ) {
    guard HTTPClient.now >= resumesAt.withLock({ $0 }) else { return }
    queue.submit(cost: cost) { [self] in
      body { name, block in
        if blocks.keep(block, name) { return true }
        resumesAt.withLock { $0 = HTTPClient.now + Self.pause }
        return false
      }
    }
  }

  /// Waits until the queued writes are done, or for a limit each.
  func finish(within limit: Duration) {
    _ = queue.wait(atMost: limit)
    index.finish(within: limit)
  }
}
