import Foundation
import Index
import TestSupport
import Testing

/// A folder for one test's index.
struct IndexScratch: ~Copyable {
  let path: String
  var file: String { path + "/index.sqlite" }

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/index-\(UUID().uuidString)"
    // Not writable by others, whatever the umask is, because nothing would be stored then.
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func size(_ name: String = "index.sqlite") throws -> Int64 {
    let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
    return try #require(attributes[.size] as? Int64)
  }

  func rights(_ name: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path + name)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  func read() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file))) }
  func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: file)) }
}

extension Index {
  static let kind = IndexKind(number: 7, version: 1)

  /// Closes the file.
  func end() { finish(within: .seconds(10)) }

  func keeps(_ source: [UInt8] = [1], _ key: [UInt8] = [2], _ value: [UInt8] = [3, 4, 5]) -> Bool {
    store([IndexRecord(key: key, value: value)], Self.kind, of: source)
      && self.value(of: source, Self.kind, key) == value
  }

  func has(_ source: [UInt8] = [1], _ key: [UInt8] = [2], _ value: [UInt8] = [3, 4, 5]) -> Bool {
    self.value(of: source, Self.kind, key) == value
  }
}

@Suite struct IndexTests {
  @Test func storedRecordsAreFoundAfterReopening() throws {
    let scratch = try IndexScratch()
    let folder = scratch.path + "/deep/er"
    let one = Index(folder: folder)
    #expect(one.value(of: [1], Index.kind, [2]) == nil)
    #expect(one.keeps())
    #expect(one.store([IndexRecord(key: [2], value: [9])], Index.kind, of: [1]))
    #expect(one.has([1], [2], [9]))
    one.end()
    #expect(!one.has([1], [2], [9]))
    let other = Index(folder: folder)
    #expect(other.has([1], [2], [9]))
    // Neither with another source, kind or version.
    #expect(other.value(of: [2], Index.kind, [2]) == nil)
    #expect(other.value(of: [1], IndexKind(number: 8, version: 1), [2]) == nil)
    #expect(other.value(of: [1], IndexKind(number: 7, version: 2), [2]) == nil)
    other.forget([1])
    #expect(!other.has([1], [2], [9]))
    #expect(try scratch.rights("/deep/er") == 0o700)
    #expect(try scratch.rights("/deep/er/index.sqlite") == 0o600)
    #expect(try scratch.rights("/deep/er/index.sqlite-wal") == 0o600)
  }

  @Test func indexIsNotCreatedBeforeFirstUse() throws {
    let scratch = try IndexScratch()
    let index = Index(folder: scratch.path + "/none")
    index.end()
    #expect(!FileManager.default.fileExists(atPath: scratch.path + "/none"))
  }

  @Test func recordRangesAreReturnedInOrder() throws {
    let scratch = try IndexScratch()
    let index = Index(folder: scratch.path)
    let records: [IndexRecord] = (0..<300).map { (number: Int) in
      IndexRecord(key: [UInt8(number / 100), UInt8(number % 100)], value: [UInt8(number & 0xff)])
    }
    #expect(index.store(records.shuffled(), Index.kind, of: [1]))
    #expect(index.store(records, Index.kind, of: [2]))
    #expect(index.records(of: [1], Index.kind, from: [0], through: [9]) == records)
    #expect(
      index.records(of: [1], Index.kind, from: [0, 50], through: [1, 60], descending: true, atMost: 3)
        == [records[160], records[159], records[158]])
    index.forget([1], Index.kind, from: [0, 50], through: [1, 60])
    #expect(index.records(of: [1], Index.kind, from: [0], through: [9]).count == 300 - 111)
    #expect(index.records(of: [2], Index.kind, from: [0], through: [9]).count == 300)
  }

  @Test func twoHandlesShareTheFile() throws {
    let scratch = try IndexScratch()
    let one = Index(folder: scratch.path)
    let other = Index(folder: scratch.path)
    let path = scratch.path
    try onThreads(8) { thread in
      let index = thread < 3 ? one : thread < 6 ? other : Index(folder: path)
      for round in 0..<30 {
        #expect(index.keeps([UInt8(thread)], [UInt8(round)], Array(repeating: UInt8(round), count: 5000)))
      }
    }
    for thread in 0..<8 { #expect(other.has([UInt8(thread)], [29], Array(repeating: 29, count: 5000))) }
    one.end()
    #expect(other.keeps())
  }

  @Test func deferredIndexWorkIsOrderedAndBounded() throws {
    let scratch = try IndexScratch()
    let index = Index(folder: scratch.path)
    for round in 0..<50 {
      index.later(cost: 1000) { $0.store([IndexRecord(key: [2], value: [UInt8(round)])], Index.kind, of: [1]) }
    }
    #expect(index.flush(within: .seconds(10)))
    #expect(index.has([1], [2], [49]))
    #expect(!index.later(cost: 1 << 30) { _ in })
    // The work ends after the call that waits for it.
    let gate = DispatchSemaphore(value: 0)
    index.later(cost: 1) { _ in gate.wait() }
    #expect(!index.flush(within: .milliseconds(20)))
    gate.signal()
  }

  @Test func fiftyThousandRowsAreStoredQuickly() throws {
    let scratch = try IndexScratch()
    let index = Index(folder: scratch.path)
    let value = [UInt8](repeating: 7, count: 150)
    let records: [IndexRecord] = (0..<50_000).map { (number: Int) in
      IndexRecord(key: [UInt8(number >> 16), UInt8(number >> 8 & 0xff), UInt8(number & 0xff)], value: value)
    }
    let start = ContinuousClock.now
    #expect(index.store(records, Index.kind, of: [1]))
    let stored = ContinuousClock.now
    #expect(index.records(of: [1], Index.kind, from: [0], through: [9]).count == 50_000)
    print("50,000 rows: stored in \(stored - start), read in \(ContinuousClock.now - stored)")
    #expect(ContinuousClock.now - start < .seconds(20))
  }

  @Test func leastRecentlyUsedSourcesAreEvictedFirst() async throws {
    let scratch = try IndexScratch()
    let index = Index(folder: scratch.path, maximumSize: 4 << 20)
    let value = [UInt8](repeating: 1, count: 100_000)
    for source in UInt8(0)..<100 {
      for key in UInt8(0)..<3 { #expect(index.keeps([source], [key], value)) }
      // One of the first stays in use; access times are accurate to some minutes.
      if source >= 50 { _ = try await shell("sqlite3 \"$1\" 'UPDATE source SET usedAt = usedAt - 900'", scratch.file) }
      if source >= 50 { #expect(index.has([46], [0], value)) }
    }
    #expect(index.has([99], [2], value))
    #expect(!index.has([1], [2], value))
    #expect(index.has([46], [0], value))
    #expect(!index.has([47], [0], value))
    #expect(try scratch.size() < 6 << 20)
    // A record that is too large is not stored.
    #expect(!index.store([IndexRecord(key: [1], value: Array(repeating: 0, count: 5 << 20))], Index.kind, of: [1]))
    #expect(index.keeps())
  }
}
