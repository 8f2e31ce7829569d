import Bytes
import Glibc
import Index
import MailViews
import Synchronization
import Threads
import Tree

/// Extracts the text of message attachments, by the views that a mount of their directory would show: `.as-txt`.
final class AttachmentReader: Sendable {
  private let tree: Tree
  private let extent: AttachedTexts.Extent
  private let jobs: Int

  /// The maximum size of one attachment's text, in bytes.
  private static let most = 1 << 20

  /// - Parameter jobs: the maximum number of concurrent conversions.
  init(_ place: RealPlace, _ extent: AttachedTexts.Extent, _ index: Index, jobs: Int) throws {
    // The views of a directory are in its parent.
    tree = try place.outer().tree(index, ["workers=\(jobs)"]) { extent == .recognition || $0 != "ffscan" }
    self.extent = extent
    self.jobs = jobs
  }

  func stop() { tree.stop() }

  var texts: AttachedTexts {
    AttachedTexts(extent) { [self] (file) throws(Fault) in
      let folder = folder(of: file.message, in: file.mailbox)
      do throws(Fault) { return try text(of: folder + file.path) } catch {
        if error.isDelay { throw error }
        return nil
      }
    }
  }

  /// Converts the attachments of messages, several at a time, before their words are indexed. After an interruption,
  /// converts only the missing ones. Calls `done` with each message's faults, by file. Blocks.
  func convert(_ messages: [FileName], in mailbox: [FileName], _ done: @escaping @Sendable ([(String, Fault)]) -> Void)
  {
    let workers = ThreadPool(atMost: jobs)
    let left = Monitor(messages.count)
    for message in messages {
      workers.submit { [self] in
        var faults: [(String, Fault)] = []
        do throws(Fault) {
          try convert(folder(of: message, in: mailbox)) { name, fault in faults.append((name, fault)) }
        } catch { faults.append((message.text, error)) }
        done(faults)
        left.update { $0 -= 1 }
      }
    }
    try? left.wait { $0 == 0 ? () : nil }
    workers.stop()
  }

  /// Returns the path of a message's attachments in the tree.
  private func folder(of message: FileName, in mailbox: [FileName]) -> [FileName] {
    // The root directory has an empty name.
    var way = mailbox.filter { !$0.bytes.isEmpty }
    if let last = way.popLast() { way.append(last.appending(".messages")) }
    return way + [message, "attachments"]
  }

  private func convert(_ folder: [FileName], _ failed: (String, Fault) -> Void) throws(Fault) {
    for file in try PathReader(tree).files(in: folder) {
      try CancellationToken.check()
      do throws(Fault) { _ = try text(of: folder + [file]) } catch {
        if error.isDelay { throw error }
        failed(file.text, error)
      }
    }
  }

  /// Returns the text of a file. Returns `nil` if its type has no conversion to text.
  private func text(of file: [FileName]) throws(Fault) -> [UInt8]? {
    guard let last = file.last else { return nil }
    do throws(Fault) {
      return try PathReader(tree).bytes(of: file.dropLast() + [last.appending(".as-txt")], upTo: Self.most)
    } catch {
      if error == .notFound { return nil }
      throw error
    }
  }
}
