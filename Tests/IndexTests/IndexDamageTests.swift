import Bytes
import Foundation
import Index
import TestSupport
import Testing

/// Whatever happens to the file, calls return, and an unusable file is replaced.
@Suite struct IndexDamageTests {
  /// A file with 400 values of 3 KB.
  private func filled(_ scratch: borrowing IndexScratch) throws -> [[UInt8]] {
    var numbers = SeededNumbers(seed: 4)
    let values = (0..<400).map { _ in numbers.bytes(3000) }
    let index = Index(folder: scratch.path)
    for start in stride(from: 0, to: 400, by: 20) {
      let records = (start..<start + 20).map { IndexRecord(key: [UInt8($0 / 20), UInt8($0 % 20)], value: values[$0]) }
      #expect(index.store(records, Index.kind, of: [1]))
    }
    index.end()
    return values
  }

  @Test(arguments: ["nothing", "text", "a header only", "zeros", "half", "cut short", "a folder"])
  func invalidIndexFileIsRebuilt(_ what: String) throws {
    let scratch = try IndexScratch()
    _ = try filled(scratch)
    let whole = try scratch.read()
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: scratch.file + suffix) }
    switch what {
    case "nothing": try scratch.write([])
    case "text": try scratch.write(Array(repeating: 0x61, count: 50_000))
    case "a header only": try scratch.write(Array(whole[..<100]))
    case "zeros": try scratch.write(Array(repeating: 0, count: whole.count))
    case "half": try scratch.write(Array(whole[..<(whole.count / 2)]))
    case "cut short": try scratch.write(Array(whole[..<(whole.count - 5000)]))
    default:
      try FileManager.default.removeItem(atPath: scratch.file)
      try FileManager.default.createDirectory(atPath: scratch.file, withIntermediateDirectories: false)
    }
    let index = Index(folder: scratch.path)
    _ = index.records(of: [1], Index.kind, from: [0], through: [255])
    var isKept = false
    for _ in 0..<4 where !isKept { isKept = index.keeps() }
    // Only a folder is not removed.
    #expect(isKept == (what != "a folder"))
    index.end()
    #expect(Index(folder: scratch.path).has() == isKept)
  }

  @Test(arguments: 0..<(TestExtent.isFull ? 60 : 24)) func flippedBytesNeverGiveWrongValues(round: Int) throws {
    let scratch = try IndexScratch()
    let values = try filled(scratch)
    var numbers = SeededNumbers(seed: UInt64(round))
    var bytes = try scratch.read()
    let count = round % 3 == 0 ? 1 : 1 + numbers.below(40)
    for _ in 0..<count { bytes[numbers.below(round % 2 == 0 ? bytes.count : 20_000)] ^= UInt8(1 + numbers.below(255)) }
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: scratch.file + suffix) }
    try scratch.write(bytes)
    let index = Index(folder: scratch.path)
    for number in 0..<400 {
      let found = index.value(of: [1], Index.kind, [UInt8(number / 20), UInt8(number % 20)])
      if let found, found != values[number] { Issue.record("value \(number) is wrong") }
    }
    for record in index.records(of: [1], Index.kind, from: [0], through: [255]) {
      #expect(record.value == values[Int(record.key[0]) * 20 + Int(record.key[1])])
    }
    var isKept = false
    for _ in 0..<5 where !isKept { isKept = index.keeps() }
    #expect(isKept)
  }

  @Test(arguments: [
    "PRAGMA user_version = 99", "PRAGMA application_id = 5", "DROP TABLE record",
    "PRAGMA journal_mode = DELETE", "DROP TABLE record; CREATE TABLE record(a)",
  ])
  func foreignIndexFileIsRebuilt(_ change: String) async throws {
    let scratch = try IndexScratch()
    _ = try filled(scratch)
    let result = try await shell("sqlite3 \"$1\" \"$2\"", scratch.file, change)
    try #require(result.status == 0, "\(result.errors)")
    let index = Index(folder: scratch.path)
    _ = index.has()
    #expect(index.keeps())
    #expect(index.value(of: [1], Index.kind, [3, 3]) == nil)
  }

  @Test func removedIndexFileIsRecreated() throws {
    let scratch = try IndexScratch()
    let one = Index(folder: scratch.path)
    let other = Index(folder: scratch.path)
    #expect(one.keeps() && other.has())
    try FileManager.default.removeItem(atPath: scratch.path)
    #expect(one.value(of: [1], Index.kind, [2]) == nil)
    #expect(one.keeps())
    #expect(other.has())
    other.end()
    one.end()
    #expect(Index(folder: scratch.path).has())
  }

  @Test func lockedIndexIsBypassed() async throws {
    let scratch = try IndexScratch()
    _ = try filled(scratch)
    let holder = try await MountChild.holding(index: scratch.file)
    let index = Index(folder: scratch.path)
    let start = ContinuousClock.now
    #expect(index.value(of: [1], Index.kind, [0, 0])?.count == nil)
    #expect(!index.keeps())
    // One timeout covers the calls that follow it.
    for _ in 0..<100 { #expect(index.value(of: [1], Index.kind, [0, 0])?.count == nil) }
    #expect(ContinuousClock.now - start < .seconds(8))
    holder.killNow()
    var found: [UInt8]?
    for _ in 0..<100 where found == nil {
      try await Task.sleep(for: .milliseconds(100))
      found = index.value(of: [1], Index.kind, [0, 0])
    }
    #expect(found?.count == 3000)
  }

  @Test func indexToleratesUnusableDirectory() throws {
    let scratch = try IndexScratch()
    try scratch.write([1, 2, 3])
    for folder in [nil, "/proc/none/such", scratch.file, scratch.file + "/below", ""] {
      let index = Index(folder: folder)
      #expect(!index.keeps())
      #expect(index.records(of: [1], Index.kind, from: [0], through: [9]).isEmpty)
      index.forget([1])
      index.later(cost: 1) { $0.forget([1]) }
      index.end()
    }
  }

  /// Calls `body` with a small file system.
  private func onSmallDisk(_ size: String, _ body: (_ path: String) async throws -> Void) async throws {
    try await withScratch { scratch in
      let mounted = try await run("mount", "-t", "tmpfs", "-o", "size=\(size),mode=700", "tmpfs", scratch.mountpoint)
      guard mounted.status == 0 else { try Test.cancel("no disk could be mounted: \(mounted.errors)") }
      do { try await body(scratch.mountpoint) } catch {
        _ = try await run("umount", "-l", scratch.mountpoint)
        throw error
      }
      _ = try await run("umount", "-l", scratch.mountpoint)
    }
  }

  @Test(.enabled(if: MountScratch.isRoot, "needs root")) func indexToleratesFullDisk() async throws {
    for size in ["8k", "40k", "100k", "600k"] {
      try await onSmallDisk(size) { path in
        let index = Index(folder: path)
        let value = [UInt8](repeating: 5, count: 20_000)
        var kept = 0
        for key in UInt8(0)..<60 where index.keeps([1], [key], value) { kept += 1 }
        #expect(kept < 60)
        index.end()
        let again = Index(folder: path)
        for record in again.records(of: [1], Index.kind, from: [0], through: [255]) { #expect(record.value == value) }
        again.end()
      }
    }
  }

  @Test(.enabled(if: MountScratch.isRoot, "needs root")) func indexToleratesReadOnlyDirectory() async throws {
    try await onSmallDisk("4m") { path in
      let filled = Index(folder: path)
      #expect(filled.keeps())
      filled.end()
      _ = try await run("mount", "-o", "remount,ro", path)
      let index = Index(folder: path)
      _ = index.has()
      #expect(!index.keeps())
      index.end()
    }
  }

  /// Valid rows with arbitrary values.
  @Test(arguments: [Int64.min, .max, -1, .min + 1]) func invalidUseTimesAreClamped(_ time: Int64) async throws {
    let scratch = try IndexScratch()
    let values = try filled(scratch)
    let result = try await shell("sqlite3 \"$1\" \"UPDATE source SET usedAt = $2\"", scratch.file, "\(time)")
    try #require(result.status == 0, "\(result.errors)")
    let index = Index(folder: scratch.path)
    #expect(index.value(of: [1], Index.kind, [0, 0]) == values[0])
    let contents = index.contents()
    #expect(contents.count == 1 && contents.allSatisfy { (0...Bounds.latestTime).contains($0.usedAt) })
    #expect(contents.first?.records == 400)
    index.end()
  }
}
