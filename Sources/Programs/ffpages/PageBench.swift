internal import Conversion
internal import Documents
internal import JobFiles
internal import Workshop

/// Counts and copies pages.
struct PageBench: Bench {
  static let folders: [String] = []
  private var open = OpenDocuments<PagedDocument>()
  var openDocuments: Int { open.count }

  mutating func perform(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    let job = order.job
    if case .findPasswords(let isBundle) = job.work {
      var search = PasswordSearch(order.job.passwords)
      // One that cannot be opened asks for no password.
      try order.forEachInput(ofBundle: isBundle) { search.add($0) }
      return search.outcome
    }
    let document = try open.document(job.document) { () throws(JobFailure) in
      try PagedDocument(order.input(), job.passwords)
    }
    guard case .make(let recipe) = job.work, let output = order.output else {
      return try .done(Int64(document.countPages()), remark: "")
    }
    guard case .pages(let selection) = recipe else { throw JobFailure(.unsupported, "is for another program") }
    try document.write(selection, to: output)
    return try .done(output.size(), remark: "")
  }

  mutating func closeOne() -> Bool { open.closeOne() }
}
