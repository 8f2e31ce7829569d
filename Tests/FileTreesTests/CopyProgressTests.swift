import FileTrees
import Foundation
import Synchronization
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CopyProgressTests {
  private final class Reports: Sendable {
    let all = Mutex<[FileTree.CopyProgress]>([])

    func callAsFunction(_ progress: FileTree.CopyProgress) { all.withLock { $0.append(progress) } }
  }

  @Test func copyProgressIncreasesToCompletion() async throws {
    let sample = try Sample("letters.zip")
    let tree = sample.tree
    try sample.makeFolder("folder/inner")
    try sample.write([UInt8](repeating: 7, count: 40 << 20), to: "folder/large")
    for number in 0..<10 { try sample.write([1, 2, 3], to: "folder/inner/\(number)") }
    try sample.makeLink("folder/link", to: "large")
    for (path, items, bytes) in [
      ("folder", 14, 40 << 20 + 30), ("folder/large", 1, 40 << 20), ("letters.zip.contents", nil, nil),
    ] as [(FilePath, Int?, Int64?)] {
      let reports = Reports()
      try await tree.copy(path, to: "copy") { reports($0) }
      let all = reports.all.withLock { $0 }
      let last = try #require(all.last)
      #expect(last.fraction == 1 && last.bytes == last.totalBytes && last.items == last.totalItems)
      if let items { #expect(last.items == items) }
      if let bytes { #expect(last.bytes == bytes) }
      #expect(all.allSatisfy { (0...1).contains($0.fraction) })
      #expect(zip(all, all.dropFirst()).allSatisfy { $0.bytes <= $1.bytes && $0.items <= $1.items })
      #expect(all.dropLast().allSatisfy { $0.fraction < 1 })
      #expect(all.allSatisfy { $0.path.starts(with: path) })
      try await tree.remove("copy", recursively: true)
    }
  }

  @Test func aCancelledCopyLeavesNoFile() async throws {
    let sample = try Sample()
    let tree = sample.tree
    // Of a view, so that the bytes pass through this process.
    try sample.make(
      by: """
        import zipfile
        with zipfile.ZipFile('a.zip', 'w', zipfile.ZIP_DEFLATED) as z: z.writestr('x', bytes(200 << 20))
        """)
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    // The first report, on a thread of the tree, lasts until the task is cancelled, however busy the machine is.
    let isCancelled = Atomic(false)
    let task = Task {
      do throws(FileTreeError) {
        try await tree.copy("a.zip.contents/x", to: "x") { _ in
          continuation.yield()
          for _ in 0..<20_000 where !isCancelled.load(ordering: .relaxed) { usleep(1000) }
        }
        return FileTreeError.Code?.none
      } catch { return error.code }
    }
    for await _ in stream { break }
    task.cancel()
    isCancelled.store(true, ordering: .relaxed)
    #expect(await task.value == .cancelled)
    for _ in 0..<5000 where try sample.names() != ["a.zip"] { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try sample.names() == ["a.zip"])
  }
}
