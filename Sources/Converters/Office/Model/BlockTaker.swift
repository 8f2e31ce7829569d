internal import WorkerKit

/// A consumer of a document's blocks, in order.
protocol BlockTaker: AnyObject {
  func add(_ block: Block) throws(JobFailure)
}

/// A consumer that keeps the blocks of a cell or a note.
final class BlockList: BlockTaker {
  private(set) var blocks: [Block] = []

  func add(_ block: Block) { blocks.append(block) }
}
