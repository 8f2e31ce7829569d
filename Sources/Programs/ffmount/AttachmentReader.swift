import Bytes
import Glibc
import Index
import MailViews
import Synchronization
import Threads
import Tree

/// Reads the text of what is attached to messages, by the views that a mount of their folder would show: an attachment's own
/// bytes if they are text, else its `.as-txt`.
final class AttachmentReader: Sendable {
  private let tree: Tree
  private let extent: AttachedTexts.Extent
  private let jobs: Int

  /// Of one attachment, and of all of one message, in bytes.
  private static let most = (file: 1 << 20, message: 4 << 20)
  private static let plain: Set<FileExtension> = ["txt", "text", "md", "log", "ics", "vcf", "html", "htm", "xml"]

  /// - Parameter jobs: so many files are converted at a time.
  init(_ place: RealPlace, _ extent: AttachedTexts.Extent, _ index: Index, jobs: Int) throws {
    tree = try place.tree(index, ["workers=\(jobs)"]) { extent == .recognition || $0 != "ffscan" }
    self.extent = extent
    self.jobs = jobs
  }

  func stop() { tree.stop() }

  var texts: AttachedTexts {
    AttachedTexts(extent) { [self] (message, mailbox) throws(Fault) in
      try text(of: message, in: mailbox) { _, _ in }
    }
  }

  /// Converts what is attached to messages, several at a time, so that it is at hand when their words are added; after an
  /// interruption only what is missing. Calls `done` with each message's faults, by file. Blocks.
  func convert(_ messages: [FileName], in mailbox: String, _ done: @escaping @Sendable ([(String, Fault)]) -> Void) {
    let workers = Workers(atMost: jobs)
    let left = Monitor(messages.count)
    for message in messages {
      workers.submit { [self] in
        var faults: [(String, Fault)] = []
        do throws(Fault) {
          _ = try text(of: message, in: mailbox) { name, fault in faults.append((name, fault)) }
        } catch { faults.append((message.text, error)) }
        done(faults)
        left.update { $0 -= 1 }
      }
    }
    try? left.wait { $0 == 0 ? () : nil }
    workers.stop()
  }

  private func text(
    of message: FileName, in mailbox: String, _ failed: (String, Fault) -> Void
  ) throws(Fault) -> [UInt8] {
    let paths = PathReader(tree)
    let way = mailbox.split(separator: "/").map { FileName($0.utf8) }
    guard let last = way.last else { return [] }
    let folder = Array(way.dropLast()) + [last.appending(".messages"), message, "attachments"]
    var text: [UInt8] = []
    let files: [FileName]
    do throws(Fault) { files = try paths.files(in: folder) } catch {
      if error.isDelay { throw error }
      return []
    }
    for file in files where text.count < Self.most.message {
      try Interest.check()
      let isPlain = file.fileExtension.map { Self.plain.contains($0) } ?? false
      let path = folder + [isPlain ? file : file.appending(".as-txt")]
      do throws(Fault) { text += try [0x0a] + paths.bytes(of: path, upTo: Self.most.file) } catch {
        if error.isDelay { throw error }
        // There is no text to be made of most kinds of files.
        if error != .notFound { failed(file.text, error) }
      }
    }
    return text
  }
}
