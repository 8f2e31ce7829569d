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
  var isSpent: Bool { handlers.contains { $0.isSpent } }

  mutating func perform(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    guard let index = byVerb[order.job.work.verb] else { throw .unknown }
    guard let output = order.output, let recipe = order.job.work.recipe else {
      return try handlers[index].answer(order)
    }
    let remark = try handlers[index].perform(recipe, order, to: output)
    return try .done(output.size(), remark: remark)
  }

  mutating func closeOne() -> Bool {
    // Later handlers' documents take more memory.
    for index in handlers.indices.reversed() where handlers[index].closeOne() { return true }
    return false
  }
}
