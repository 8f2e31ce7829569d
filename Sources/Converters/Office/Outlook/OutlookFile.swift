internal import Catalogue
public import WorkerKit

/// An Outlook file with one message (`.msg`).
public struct OutlookFile {
  private let message: OutlookMessage

  public init(_ input: JobInput) throws(JobFailure) {
    let storage = try CompoundStorage(input)
    guard storage.names.contains(where: { $0.hasPrefix("__substg1.0_") || $0 == "__properties_version1.0" }) else {
      throw JobFailure(.unsupported, "is not an Outlook message")
    }
    message = try OutlookMessage(storage, .file)
  }

  /// Writes the message in the format of other programs. Returns the job's remark.
  public func write(to output: JobOutput) throws(JobFailure) -> String {
    let text = DocumentTextOutput(output)
    var writer = MessageWriter(text)
    try writer.write(message)
    try text.flush()
    return writer.leftOut == 0 ? "" : "without \(writer.leftOut) embedded objects, which only Outlook can open"
  }
}
