internal import WorkerKit

/// A writer of a document in an output format.
protocol DocumentWriter: BlockTaker {
  /// Completes the output. To be called after the last block.
  func finish() throws(JobFailure)
}

/// The output formats.
enum DocumentForm: String {
  case txt, html, md

  /// - Parameter image: reads an image of the document by its path.
  func writer(
    to output: DocumentTextOutput, title: String, image: @escaping (String) -> [UInt8]?
  ) throws(JobFailure) -> any DocumentWriter {
    switch self {
    case .txt: TextWriter(output)
    case .html: try HTMLWriter(output, title: title, image: image)
    case .md: MarkdownWriter(output)
    }
  }
}
