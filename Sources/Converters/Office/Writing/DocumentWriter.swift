internal import WorkerKit

/// Writes a document in some form.
protocol DocumentWriter: BlockTaker {
  /// To be called after the last block.
  func finish() throws(JobFailure)
}

/// The forms that there are.
enum DocumentForm: String {
  case txt, html, md

  /// - Parameter image: reads an image of the document by its path.
  func writer(
    to output: TextOutput, title: String, image: @escaping (String) -> [UInt8]?
  ) throws(JobFailure) -> any DocumentWriter {
    switch self {
    case .txt: TextWriter(output)
    case .html: try HTMLWriter(output, title: title, image: image)
    case .md: MarkdownWriter(output)
    }
  }
}
