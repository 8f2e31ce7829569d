internal import WorkerKit

/// A consumer of a document's blocks, in order.
protocol BlockTaker: AnyObject {
  func add(_ block: TextBlock) throws(JobFailure)
}

/// A consumer that keeps the blocks of a cell or a note.
final class BlockList: BlockTaker {
  private(set) var blocks: [TextBlock] = []

  func add(_ block: TextBlock) { blocks.append(block) }
}
