internal import Catalogue

/// The handlers of a worker program, by their verbs.
struct JobHandlers {
  private var handlers: [any JobHandler]
  private var byVerb: [String: Int] = [:]

  init(_ handlers: [any JobHandler]) {
    self.handlers = handlers
    for (index, handler) in handlers.enumerated() {
      for verb in type(of: handler).verbs { byVerb[verb] = index }
    }
  }

  var verbs: [String] { byVerb.keys.sorted() }

  var openDocuments: Int { handlers.reduce(0) { $0 + $1.openDocuments } }

  mutating func perform(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    guard case .make(let recipe) = order.job.work, let output = order.output else {
      // Both questions are about PDFs.
      guard let index = byVerb[Conversion.pages.verb] else { throw .unknown }
      return try handlers[index].answer(order)
    }
    guard let index = byVerb[recipe.verb] else { throw .unknown }
    let remark = try handlers[index].perform(recipe, order, to: output)
    return try .done(output.size(), remark: remark)
  }

  mutating func closeOne() -> Bool {
    // Later handlers' documents take more memory.
    for index in handlers.indices.reversed() where handlers[index].closeOne() { return true }
    return false
  }
}
