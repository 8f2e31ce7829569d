import Assembly
import Bytes
import Glibc
import Index
import MailViews
import Synchronization

extension IndexCommand {
  /// Returns `nil` if attachments are not read.
  func attachmentReader(_ place: RealPlace, _ index: Index) throws -> AttachmentReader? {
    guard attachmentText || ocr else { return nil }
    if let jobs, !(1...256).contains(jobs) { throw Refusal(.usage, "--jobs \(jobs): expected 1 to 256") }
    // The work may take hours, and yields to other processes.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
    let usual = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    return try AttachmentReader(place, ocr ? .recognition : .text, index, jobs: jobs ?? usual)
  }

  private static var niceness: Int32 { 10 }

  /// Extracts the text of the attachments in a mailbox, and shows the progress.
  func read(
    _ path: String, _ found: Indexing.Search, _ indexing: Indexing, _ reader: AttachmentReader
  ) throws(Fault) {
    var messages: [FileName] = []
    try indexing.forEachMessageWithFiles(of: found) { messages.append($0) }
    if messages.isEmpty { return }
    let line = ProgressLine("attachments of \(path)", size: Int64(messages.count), of: "messages", done: "read")
    let progress = Mutex((done: 0, line: line))
    reader.convert(messages, in: found.way) { faults in
      progress.withLock { progress in
        progress.done += 1
        progress.line.show(files: progress.done)
        if faults.isEmpty { return }
        progress.line.clear()
        for (name, fault) in faults { Terminal.logError("\(path): no text of \(name): \(describe(fault))") }
      }
    }
    progress.withLock { $0.line.finish(files: $0.done) }
  }
}
