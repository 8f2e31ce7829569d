internal import Catalogue
internal import Mail
public import WorkerKit

/// An Outlook file with one message (`.msg`), or an ordinary message in a file of that name.
public struct OutlookFile {
  private enum Content {
    case outlook(OutlookMessage)
    case ordinary(JobInput)
  }

  private let content: Content

  public init(_ input: JobInput) throws(JobFailure) {
    if Header.looksLikeMessage(startingWith: input.read(4096, at: 0)[...]) {
      content = .ordinary(input)
      return
    }
    let storage = try CompoundStorage(input)
    guard storage.names.contains(where: { $0.hasPrefix("__substg1.0_") || $0 == "__properties_version1.0" }) else {
      throw JobFailure(.unsupported, "is not an Outlook message")
    }
    content = .outlook(try OutlookMessage(storage, .file))
  }

  /// Writes the message in the format of other programs. Returns the job's remark.
  public func write(to output: JobOutput) throws(JobFailure) -> String {
    switch content {
    case .ordinary(let input):
      try unsafe output.write(input.bytes.bytes)
      return ""
    case .outlook(let message):
      let text = DocumentTextOutput(output)
      var writer = MessageWriter(text)
      try writer.write(message)
      try text.flush()
      return writer.leftOut == 0 ? "" : "without \(writer.leftOut) embedded objects, which only Outlook can open"
    }
  }
}
