import Bytes
import Glibc
import Locks
import Tree

/// The temporary copies of files whose server does not send parts, with `-o download`.
final class Downloads: Sendable {
  private struct State {
    /// The copies, the one that was opened last at the end.
    var copies: [DownloadedFile] = []
    /// The number of readers of a copy.
    var readers: [ObjectIdentifier: Int] = [:]
  }

  private let state = UnfairLock(State())
  private let folder: String
  /// The maximum size of all copies, in bytes.
  private let limit: Int64

  /// - Parameter folder: a folder for large temporary files.
  init(in folder: String, limit: Int64) { (self.folder, self.limit) = (folder, limit) }

  /// Returns the copy of a version for another reader, which has to call `leave`. Requests the file if there is none.
  ///
  /// Throws ENOSPC if the copies that have readers leave no room for it.
  func enter(_ record: FileRecord, _ opened: OpenedFile) throws(Fault) -> DownloadedFile {
    let name = record.server.address.text
    guard opened.size <= limit else {
      throw Fault(
        .system(ENOSPC),
        "the copy of the file takes \(opened.size) bytes, and -o cache_size= permits \(limit) (give it a larger size)")
    }
    // Copies are released outside the lock.
    let (copy, isNew, dropped) = state.withLock { state -> (DownloadedFile?, Bool, [DownloadedFile]) in
      let readers = state.readers
      var dropped = Self.drop(from: &state) { copy in
        copy.content.hasFailed
          || readers[ObjectIdentifier(copy)] == nil && copy.isOfFile(record) && !copy.isOf(opened, record)
      }
      if let place = state.copies.firstIndex(where: { $0.isOf(opened, record) }) {
        let copy = state.copies.remove(at: place)
        state.copies.append(copy)
        state.readers[ObjectIdentifier(copy), default: 0] += 1
        return (copy, false, dropped)
      }
      var room = limit - state.copies.reduce(0) { $0 + $1.opened.size }
      dropped += Self.drop(from: &state) { copy in
        guard room < opened.size, readers[ObjectIdentifier(copy)] == nil else { return false }
        room += copy.opened.size
        return true
      }
      guard room >= opened.size else { return (nil, false, dropped) }
      let copy = DownloadedFile(record, opened, in: folder)
      state.copies.append(copy)
      state.readers[ObjectIdentifier(copy)] = 1
      return (copy, true, dropped)
    }
    _ = dropped
    guard let copy else {
      throw Fault(
        .system(ENOSPC),
        "no room for the copy of another file of \(name): -o cache_size= permits \(limit) bytes, and all are in use")
    }
    if isNew { copy.start() }
    return copy
  }

  func leave(_ copy: DownloadedFile) {
    state.withLock { state in
      let left = (state.readers[ObjectIdentifier(copy)] ?? 1) - 1
      state.readers[ObjectIdentifier(copy)] = left > 0 ? left : nil
    }
  }

  /// Removes the copies for which `isDropped` is true, the oldest first. Returns them.
  private static func drop(
    from state: inout State, where isDropped: (DownloadedFile) -> Bool
  ) -> [DownloadedFile] {
    let dropped = state.copies.filter(isDropped)
    state.copies.removeAll { copy in dropped.contains { $0 === copy } }
    return dropped
  }

  /// The copies that are being made.
  var work: WorkReport {
    var report = WorkReport()
    report.activities = state.withLock { $0.copies }.compactMap(\.activity)
    return report
  }
}
