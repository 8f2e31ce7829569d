internal import Catalogue
internal import Office
internal import WorkerKit

/// Lists the messages of mail stores, and writes their attachments.
struct StoreHandler: JobHandler {
  static let verbs = Conversion.stores.map(\.verb)
  private var open = OpenDocuments<OutlookStore>()
  var openDocuments: Int { open.count }

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let store = try open.document(order.job.document) { () throws(JobFailure) in try OutlookStore(order.input()) }
    if recipe.verb == Conversion.letters.verb {
      try store.list(to: output)
    } else {
      guard let address = recipe.arguments.flatMap({ MailFileAddress($0[...]) }) else { throw .unknown }
      try store.write(address, to: output)
    }
    return ""
  }

  mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    // The size is known when all messages have been read.
    guard case .measure = order.job.work else { throw .unknown }
    return .done(JobAnswer.unmeasured)
  }

  mutating func closeOne() -> Bool { open.closeOne() }
}
