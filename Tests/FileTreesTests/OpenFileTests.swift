import FileTrees
import Foundation
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct OpenFileTests {
  @Test func bytesAreReadAndWrittenAtAnyOffset() async throws {
    let sample = try Sample()
    let tree = sample.tree
    var expected = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
    try sample.write(expected, to: "file")
    let file = try await tree.open("file", .readWrite)
    var random = SystemRandomNumberGenerator()
    for round in 0..<60 {
      let offset = Int.random(in: 0..<expected.count + 100_000, using: &random)
      let bytes = [UInt8](repeating: UInt8(round), count: Int.random(in: 0..<50_000, using: &random))
      try await file.write(bytes, at: Int64(offset))
      if !bytes.isEmpty {
        let missing = offset + bytes.count - expected.count
        if missing > 0 { expected += [UInt8](repeating: 0, count: missing) }
        expected.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      }
      let (from, count) = (
        Int.random(in: 0..<expected.count, using: &random), Int.random(in: 0..<100_000, using: &random)
      )
      let read = try await file.read(at: Int64(from), count: count)
      #expect(read == Array(expected[from...].prefix(count)))
    }
    try await file.append(Array("end".utf8))
    expected += Array("end".utf8)
    #expect(try sample.bytes(of: "file") == expected)
    for size in [Int64(1000), 5000, 0, 10] {
      try await file.resize(to: size)
      expected = Array(expected.prefix(Int(size))) + [UInt8](repeating: 0, count: max(0, Int(size) - expected.count))
      #expect(try sample.bytes(of: "file") == expected)
      #expect(try await file.attributes().size == size)
    }
    try await file.synchronize()
    try await file.synchronize(onlyData: true)
    try await file.close()
    #expect(file.path == "file")
  }

  @Test func largeReadsReturnAllBytes() async throws {
    let sample = try Sample()
    let bytes = (0..<11_000_000).map { UInt8(truncatingIfNeeded: $0 / 5) }
    try sample.write(bytes, to: "file")
    let file = try await sample.tree.open("file")
    #expect(try await file.read(at: 0, count: .max) == bytes)
    #expect(try await file.read(at: 5, count: bytes.count) == Array(bytes[5...]))
    #expect(try await file.read(at: 7, count: 9_000_000) == Array(bytes[7..<9_000_007]))
    #expect(try await file.read(at: Int64(bytes.count), count: 10).isEmpty)
    #expect(try await file.read(at: .max, count: .max).isEmpty)
    let chunks = try await file.chunks(range: 10..<4_000_000, size: 1 << 20).all()
    #expect(chunks.map(\.count) == [1 << 20, 1 << 20, 1 << 20, 4_000_000 - 10 - 3 << 20])
    #expect(chunks.flatMap { $0 } == Array(bytes[10..<4_000_000]))
  }

  @Test func chunksAreWrittenInOrder() async throws {
    let sample = try Sample()
    try sample.write((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }, to: "source")
    let file = try await sample.tree.open("target", .writeOnly, options: [.create, .exclusiveCreate])
    let chunks = sample.tree.chunks(of: "source", size: 99_999)
    #expect(try await file.write(chunks, at: 5) == 1_000_000)
    #expect(try sample.bytes(of: "target") == [0, 0, 0, 0, 0] + sample.bytes(of: "source"))
  }

  @Test func openFileSurvivesRenameAndRemoval() async throws {
    let sample = try Sample()
    let tree = sample.tree
    try sample.write("one", to: "file")
    let file = try await tree.open("file", .readWrite)
    try await tree.rename("file", to: "other")
    try await file.append(Array(" two".utf8))
    #expect(try sample.bytes(of: "other") == Array("one two".utf8))
    try await tree.remove("other")
    try await file.append(Array(" three".utf8))
    try await file.resize(to: 12)
    #expect(try await file.read(at: 0, count: 100) == Array("one two thre".utf8))
    #expect(try await file.attributes().size == 12)
    try await file.setAttributes(.init(permissions: .ownerRead))
    #expect(try await file.attributes().permissions == .ownerRead)
    #expect(try sample.names().isEmpty)
  }

  @Test func openOptionsFollowTheSystemCall() async throws {
    let sample = try Sample("readme.txt")
    let tree = sample.tree
    await expectError(.notFound, "new") { () throws(FileTreeError) in _ = try await tree.open("new", .writeOnly) }
    let new = try await tree.open(
      "new", .writeOnly, options: [.create, .exclusiveCreate], permissions: [.ownerReadWrite])
    try await new.write([1, 2, 3], at: 0)
    #expect(try await tree.attributes(of: "new").permissions == [.ownerReadWrite])
    await expectError(.alreadyExists, "new") { () throws(FileTreeError) in
      _ = try await tree.open("new", .writeOnly, options: [.create, .exclusiveCreate])
    }
    try sample.makeLink("broken", to: "nowhere")
    await expectError(.alreadyExists, "broken") { () throws(FileTreeError) in
      _ = try await tree.open("broken", .writeOnly, options: [.create, .exclusiveCreate])
    }
    await expectError(.notFound, "broken") { () throws(FileTreeError) in
      _ = try await tree.open("broken", .writeOnly, options: .create)
    }
    await expectError(.missingParent, "none/x") { () throws(FileTreeError) in
      _ = try await tree.open("none/x", .writeOnly, options: .create)
    }
    let again = try await tree.open("new", .readWrite, options: [.create, .append])
    try await again.write([4], at: 0)
    #expect(try sample.bytes(of: "new") == [1, 2, 3, 4])
    _ = try await tree.open("new", .writeOnly, options: .truncate)
    #expect(try sample.bytes(of: "new").isEmpty)
    try sample.makeLink("link", to: "readme.txt")
    await expectError(.invalidPath, "link") { () throws(FileTreeError) in
      _ = try await tree.open("link", options: .noFollow)
    }
    let linked = try await tree.open("link")
    #expect(try await linked.read(at: 0, count: 1 << 20) == sample.bytes(of: "readme.txt"))
    await expectError(.isADirectory, "") { () throws(FileTreeError) in _ = try await tree.open("", .readWrite) }
    #expect(try sample.names() == ["broken", "link", "new", "readme.txt"])
  }

  @Test func invalidOffsetsAndClosedFilesThrow() async throws {
    let sample = try Sample("readme.txt")
    let tree = sample.tree
    let bytes = try sample.bytes(of: "readme.txt")
    let file = try await tree.open("readme.txt", .readWrite)
    let path: FilePath = "readme.txt"
    await expectError(.system, path) { () throws(FileTreeError) in _ = try await file.read(at: -1, count: 1) }
    await expectError(.system, path) { () throws(FileTreeError) in _ = try await file.read(at: 0, count: -1) }
    await expectError(.system, path) { () throws(FileTreeError) in try await file.write([1], at: -1) }
    await expectError(.system, path) { () throws(FileTreeError) in try await file.resize(to: .min) }
    await #expect(throws: FileTreeError.self) { try await file.write([1, 2], at: .max) }
    await #expect(throws: FileTreeError.self) { try await file.resize(to: .max) }
    await expectError(.system, path) { () throws(FileTreeError) in
      try await tree.open(path).write([1], at: 0)
    }
    await expectError(.system, path) { () throws(FileTreeError) in
      _ = try await tree.open(path, .writeOnly).read(at: 0, count: 1)
    }
    #expect(try sample.bytes(of: "readme.txt") == bytes)
    // A file with more zeros than memory.
    try await file.resize(to: 1 << 40)
    await expectError(.limitExceeded, path) { () throws(FileTreeError) in _ = try await file.read(at: 0, count: .max) }
    #expect(try await file.read(at: 1 << 39, count: 3) == [0, 0, 0])
    try await file.resize(to: 0)
    let chunks = file.chunks()
    try await file.close()
    try await file.close()
    await expectClosed(path) { () throws(FileTreeError) in _ = try await file.read(at: 0, count: 1) }
    await expectClosed(path) { () throws(FileTreeError) in try await file.append([1]) }
    await expectClosed(path) { () throws(FileTreeError) in try await file.synchronize() }
    await expectClosed(path) { () throws(FileTreeError) in _ = try await file.attributes() }
    await expectClosed(path) { () throws(FileTreeError) in for try await _ in chunks {} }
  }

  private func expectClosed(_ path: FilePath, _ body: () async throws(FileTreeError) -> Void) async {
    do throws(FileTreeError) {
      try await body()
      Issue.record("nothing was thrown")
    } catch { #expect(error.underlying == .badFileDescriptor && error.path == path && error.reason == "it is closed") }
  }

  @Test func filesInViewsAreReadOnly() async throws {
    let sample = try Sample("letters.zip")
    let tree = sample.tree
    let path: FilePath = "letters.zip.contents/2023/Grüße aus Köln.txt"
    let all = try await tree.read(path)
    let file = try await tree.open(path)
    #expect(try await file.read(at: 3, count: 5) == Array(all[3..<8]))
    #expect(try await file.read(at: 0, count: .max) == all)
    #expect(try await file.chunks(size: 7).all().flatMap { $0 } == all)
    #expect(try await file.attributes().view == "contents")
    await expectError(.readOnlyView, path) { () throws(FileTreeError) in
      try await file.setAttributes(.init(permissions: .ownerRead))
    }
    for mode in [FileDescriptor.AccessMode.writeOnly, .readWrite] {
      await expectError(.readOnlyView, path) { () throws(FileTreeError) in _ = try await tree.open(path, mode) }
    }
    await expectError(.readOnlyView, path) { () throws(FileTreeError) in
      _ = try await tree.open(path, options: .truncate)
    }
    let new: FilePath = "letters.zip.contents/new"
    await expectError(.readOnlyView, new) { () throws(FileTreeError) in
      _ = try await tree.open(new, .writeOnly, options: .create)
    }
    let readOnly = try Sample("readme.txt") { $0.isWritable = false }
    #expect(try await readOnly.tree.open("readme.txt").read(at: 0, count: .max) == readOnly.bytes(of: "readme.txt"))
    await expectError(.readOnly, "readme.txt") { () throws(FileTreeError) in
      _ = try await readOnly.tree.open("readme.txt", .writeOnly)
    }
  }

  @Test func tasksShareAnOpenFileAndAreCancellable() async throws {
    let sample = try Sample()
    let file = try await sample.tree.open("file", .readWrite, options: .create)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask {
          try await file.write([UInt8](repeating: UInt8(number), count: 10_000), at: Int64(number) * 10_000)
          try await file.append([])
        }
      }
      try await group.waitForAll()
    }
    #expect(try sample.bytes(of: "file") == (0..<64).flatMap { [UInt8](repeating: UInt8($0), count: 10_000) })
    // What takes longer than a task needs to look whether it is over already.
    try await file.resize(to: 1 << 40)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      do throws(FileTreeError) {
        _ = try await file.read(at: 0, count: 1 << 30)
        return FileTreeError.Code?.none
      } catch { return error.code }
    }
    task.cancel()
    #expect(await task.value == .cancelled)
    #expect(try await file.read(at: 0, count: 1) == [0])
  }
}
