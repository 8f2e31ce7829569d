internal import Catalogue
internal import Documents
internal import Images
internal import WorkerKit

/// Merges PDFs and images into one PDF.
struct MergeHandler: JobHandler {
  static let verbs = [Conversion.merged.verb]

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let passwords = order.job.passwords
    var protection = CommonProtection()
    try order.forEachMember { (name, open) throws(JobFailure) in
      do throws(JobFailure) { try protection.add(open(), passwords, named: name) } catch {
        // The document contains a notice instead.
        guard error.concernsInput else { throw error.about(name) }
      }
    }
    if let conflict = protection.conflict { throw conflict }
    let document = MergedDocument(to: output, protection)
    try order.forEachMember { (name, open) throws(JobFailure) in
      try document.addFile(named: name) { () throws(JobFailure) in
        let input = try open()
        if let reason = input.failure(of: name) { throw JobFailure(.damaged, reason) }
        if input.isPDF { return try document.add(input, passwords, named: name) }
        try document.add(named: name) { (pages) throws(JobFailure) in
          try pages.addAll(of: input)
        }
      }
    }
    if document.isUnreadable, let (name, failure) = document.unreadable.first { throw failure.about(name) }
    try document.finish()
    return Self.remark(on: document)
  }

  private static func remark(on document: MergedDocument) -> String {
    var parts: [String] = []
    if let (name, failure) = document.unreadable.first {
      let others = document.unreadable.count > 1 ? " (and \(document.unreadable.count - 1) more)" : ""
      parts.append(
        "has a page with the reason in place of a file that cannot be read: \(name) \(failure.reason)\(others)")
    }
    if let (name, pages) = document.lacking.first {
      let others = document.lacking.count > 1 ? " (and some of \(document.lacking.count - 1) more)" : ""
      parts.append("lacks \(pages == 1 ? "a page" : "\(pages) pages") of \(name), which is damaged\(others)")
    }
    return parts.joined(separator: "; ")
  }
}
