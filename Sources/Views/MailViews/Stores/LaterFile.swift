internal import Bytes
internal import Catalogue
internal import Jobs
internal import Locks
internal import Tree

/// A conversion result of known size that a worker computes on the first read.
final class LaterFile: ByteSource {
  let size: Int64
  private let recipe: Recipe
  private let subject: ConversionService.Subject
  private let workers: ConversionService
  private let made = UnfairLock<ConversionResult?>(nil)

  init(size: Int64, _ recipe: Recipe, of subject: ConversionService.Subject, _ workers: ConversionService) {
    self.size = size
    self.recipe = recipe
    self.subject = subject
    self.workers = workers
  }

  private func bytes(_ blocking: BlockingMode) throws(Fault) -> ConversionResult {
    if let known = made.withLock({ $0 }) { return known }
    if blocking == .immediate { throw .later }
    let bytes = try waiting { () throws(Fault) in try workers.open(recipe, of: subject, .blocking) }
    guard bytes.size == size else { throw Fault(.damaged, "expected \(size) bytes attached, found \(bytes.size)") }
    made.withLock { $0 = bytes }
    return bytes
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    return unsafe try bytes(blocking).read(into: buffer, at: offset, blocking)
  }

  func verify() throws(Fault) {
    if let known = made.withLock({ $0 }) { try known.verify() }
  }
}
