internal import Catalogue
internal import Glibc
internal import Office
internal import WorkerKit

/// Converts documents to PDF and other formats. Each process converts one document.
struct LayoutHandler: JobHandler {
  static let verbs = Conversion.layouts.map(\.verb)
  private let isInstalled = OfficeKit.load()
  private(set) var isSpent = false

  /// The time for documents without a saving time: the first of January 2000, in seconds since 1970.
  private static let usualTime: Int64 = 946_684_800
  /// The export settings: JPEG quality and comments as with `soffice --convert-to pdf`.
  private static let pdfFilter =
    #"{"Quality":{"type":"long","value":"90"},"ExportNotes":{"type":"boolean","value":"false"}}"#

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    let words = recipe.verb.split(separator: "-")
    guard words.count == 2 else { throw .unknown }
    let folder = try place()
    let input = try order.input()
    let source = try copy(input, ofKind: words[0], into: folder)
    let result = "\(folder)/result.\(words[1])"
    let kit = try OfficeKit(in: folder, atTime: SavingTime.seconds(of: input) ?? Self.usualTime)
    do throws(JobFailure) {
      try kit.convert(
        source, to: result, as: String(words[1]), filter: words[1] == "pdf" ? Self.pdfFilter : nil,
        passwords: order.job.passwords)
    } catch {
      let isLocked = error.failure == .locked && !OfficeKind.opensWithPassword(input)
      throw isLocked || error.failure == .damaged && OfficeKind.isEncrypted(input) ? OfficeKind.locked : error
    }
    try write(result, to: output)
    return ""
  }

  mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    guard case .findPasswords = order.job.work else { throw .unknown }
    let folder = try place()
    let source = try copy(order.input(), ofKind: "", into: folder)
    let kit = try OfficeKit(in: folder, atTime: Self.usualTime)
    guard let found = kit.password(for: source, among: order.job.passwords) else { return .done(0, remark: "") }
    return .done(1, remark: "\(found)")
  }

  /// Returns the directory for the document.
  private mutating func place() throws(JobFailure) -> String {
    guard isInstalled else { throw OfficeKit.absent }
    guard let folder = Workplace.path else {
      throw JobFailure(.unsupported, "is not laid out: this system does not let programs create namespaces")
    }
    isSpent = true
    return folder
  }

  /// Copies the input and returns the path. Documents are recognized by their bytes; pages and texts by their names,
  /// which some documents show.
  private func copy(_ input: JobInput, ofKind kind: Substring, into folder: String) throws(JobFailure) -> String {
    let ending =
      switch kind {
      case "pagelayout": ".html"
      case "textlayout": ".txt"
      default: OfficeKind.ending(of: input)
      }
    let path = "\(folder)/document\(ending)"
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw JobFailure("cannot be copied", errno: errno) }
    defer { close(file) }
    try unsafe JobOutput.write(input.bytes.bytes, to: file)
    return path
  }

  private func write(_ path: String, to output: JobOutput) throws(JobFailure) {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    var status = stat()
    guard file >= 0, unsafe fstat(file, &status) == 0 else {
      throw JobFailure("is not laid out: nothing was written", errno: errno)
    }
    defer { close(file) }
    let written = try JobInput(descriptor: file, offset: 0, size: Int64(status.st_size))
    try withExtendedLifetime(written) { () throws(JobFailure) in try unsafe output.write(written.bytes.bytes) }
  }
}
