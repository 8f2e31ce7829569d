public import WorkerKit

/// A file that is a web page.
public struct WebDocument {
  private let input: JobInput

  public init(_ input: JobInput) { self.input = input }

  /// Writes the text in an output format. Returns false if there is none of that name.
  public func write(as name: String, to output: JobOutput) throws(JobFailure) -> Bool {
    guard let form = DocumentForm(rawValue: name) else { return false }
    let writer = try form.writer(to: DocumentTextOutput(output), title: "") { _ in nil }
    try WebText(WebPage.reader(MappedSource(input)), into: writer) { $0.hasPrefix("data:") ? nil : $0 }.read()
    try writer.finish()
    return true
  }
}
