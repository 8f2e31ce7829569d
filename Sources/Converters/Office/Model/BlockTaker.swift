internal import WorkerKit

/// Takes a document's blocks, one after the other.
protocol BlockTaker: AnyObject {
  func add(_ block: Block) throws(JobFailure)
}

/// Keeps them: of a cell, of a note.
final class BlockList: BlockTaker {
  private(set) var blocks: [Block] = []

  func add(_ block: Block) { blocks.append(block) }
}
