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
      do throws(JobFailure) { try protection.add(open(), passwords, named: name) } catch { throw error.about(name) }
    }
    let document = MergedDocument(to: output, protection)
    try order.forEachMember { (name, open) throws(JobFailure) in
      do throws(JobFailure) {
        let input = try open()
        if input.isPDF { return try document.add(input, passwords, named: name) }
        try document.add(named: name) { (pages) throws(JobFailure) in
          try pages.addAll(of: input)
        }
      } catch { throw error.about(name) }
    }
    try document.finish()
    return ""
  }
}
