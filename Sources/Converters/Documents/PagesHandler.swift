public import Catalogue
public import WorkerKit

/// Counts and copies the pages of PDFs, and finds their passwords.
public struct PagesHandler: JobHandler {
  public static let verbs = [Conversion.pages.verb]
  private var open = OpenDocuments<PagedDocument>()
  public var openDocuments: Int { open.count }

  public init() {}

  public mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    guard let selection = recipe.arguments.flatMap({ PageSelection($0[...]) }) else { throw .unknown }
    guard let count = order.series else {
      let incomplete = try document(of: order).write(selection, to: output)
      return incomplete.first.map(UnreadablePages.remark(onIncomplete:)) ?? ""
    }
    guard let first = selection.page else { throw .unknown }
    let sizes = try document(of: order).writeSeries(from: first, count: count, to: output)
    return sizes.map(String.init).joined(separator: " ")
  }

  public mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    guard case .findPasswords(let isBundle, _) = order.job.work else {
      let document = try document(of: order)
      return try .done(Int64(document.countPages()), remark: document.remark())
    }
    var search = PasswordSearch(order.job.passwords)
    // A file that cannot be opened needs no password.
    try order.forEachInput(ofBundle: isBundle) { search.add($0) }
    return search.outcome
  }

  public mutating func closeOne() -> Bool { open.closeOne() }

  private mutating func document(of order: JobOrder) throws(JobFailure) -> PagedDocument {
    try open.document(order.job.document) { () throws(JobFailure) in
      try PagedDocument(order.input(), order.job.passwords)
    }
  }
}
