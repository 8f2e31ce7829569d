internal import Conversion
internal import Documents
internal import JobFiles
internal import Workshop

/// Counts and copies pages.
struct PageBench: Bench {
  private var open = OpenDocuments<PagedDocument>()

  mutating func perform(_ order: JobOrder) throws(JobFailure) -> Int64 {
    let job = order.job
    let document = try open.document(job.document) { () throws(JobFailure) in try PagedDocument(order.input()) }
    guard case .make(let recipe) = job.work, let output = order.output else { return try Int64(document.countPages()) }
    guard case .pages(let selection) = recipe else { throw JobFailure(.unsupported, "is for another program") }
    try document.write(selection, to: output)
    return try output.size()
  }

  mutating func closeOne() -> Bool { open.closeOne() }
}
