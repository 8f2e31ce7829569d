internal import CPosix
internal import Conversion
internal import Documents
internal import Glibc
internal import JobFiles

/// Does one job after the other, and keeps the last documents open for the next page.
struct Workbench {
  /// Those used last, newest first.
  private var paged: [(document: UInt64, pages: PagedDocument)] = []

  /// More would be kept open for nobody: one reader goes through one document.
  private static let mostOpen = 2
  /// What documents may keep between two jobs.
  private static let keptMemory = 256 << 20

  mutating func answer(_ order: JobSocket.Order) -> JobAnswer {
    let outcome: JobAnswer.Outcome
    do throws(JobFailure) {
      outcome = .done(try perform(order))
    } catch { outcome = .failed(error.failure, reason: error.reason) }
    if ffmount_heap() > Workbench.keptMemory {
      paged = []
      ffmount_trim_heap()
    }
    return JobAnswer(number: order.job.number, outcome: outcome)
  }

  private mutating func perform(_ order: JobSocket.Order) throws(JobFailure) -> Int64 {
    defer { close(order.input) }
    let job = order.job
    let output = order.output.map { JobOutput(descriptor: $0, limit: job.outputLimit) }
    guard case .make(let recipe) = job.work, let output else {
      return try Int64(pages(of: order).countPages())
    }
    switch recipe {
    case .pages(let selection): try pages(of: order).write(selection, to: output)
    case .text: throw JobFailure(.unsupported, "not yet")
    case .image: throw JobFailure(.unsupported, "not yet")
    }
    return try output.size()
  }

  private func input(of order: JobSocket.Order) throws(JobFailure) -> JobInput {
    try JobInput(descriptor: order.input, offset: order.job.start, size: order.job.size)
  }

  private mutating func pages(of order: JobSocket.Order) throws(JobFailure) -> PagedDocument {
    let document = order.job.document
    guard document != 0 else { return try PagedDocument(input(of: order)) }
    let known = paged.firstIndex { $0.document == document }
    let open =
      if let known { paged.remove(at: known).pages } else { try PagedDocument(input(of: order)) }
    paged.insert((document, open), at: 0)
    if paged.count > Workbench.mostOpen { paged.removeLast() }
    return open
  }
}
