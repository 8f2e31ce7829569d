import Bytes
import Codecs
import TestSupport
import Testing
import Threads
import Zip

/// The memory of an archive's tree is limited in bytes, whatever it contains many of.
@Suite(.timeLimit(.minutes(10))) struct MemoryTests {
  /// A directory with very many or very long values of one kind.
  struct Shape: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// In bytes: enough for a tenth of the directory, but not for all of it.
    let size: Int
    let names: @Sendable (_ index: Int) -> String
    let count: Int
  }

  static let shapes = [
    Shape(testDescription: "entries", size: 1 << 20, names: { "f\($0)" }, count: 20_000),
    Shape(testDescription: "entries of one name", size: 1 << 20, names: { _ in "a" }, count: 20_000),
    Shape(
      testDescription: "folders that no entry says", size: 1 << 20,
      names: { "\($0)/" + String(repeating: "a/", count: 1000) + "f" }, count: 20),
    Shape(
      testDescription: "long names", size: 1 << 20, names: { "\($0)" + String(repeating: "n", count: 240) },
      count: 5000),
    Shape(
      testDescription: "long names that clash", size: 1 << 20,
      names: { "\($0 / 2)" + String(repeating: "n", count: 240) }, count: 5000),
  ]

  private static func open(_ shape: Shape, count: Int, _ share: MemoryShare) throws -> ZipArchive {
    let bytes = ScaleTests.archive(of: (0..<count).lazy.map(shape.names))
    return try ZipArchive(
      ByteArraySource(bytes), modified: ZipArchive.testTime, cache: BlockCache(capacity: 1), memory: share)
  }

  @Test(arguments: shapes) func oversizedArchiveIsRefusedWithAdvice(_ shape: Shape) throws {
    let budget = MemoryBudget(capacity: shape.size)
    let share = MemoryShare(in: budget)
    let fault = #expect(throws: Fault.self) { try Self.open(shape, count: shape.count, share) }
    #expect(fault?.kind == .limit && fault?.reason == "it has more names than fit in 1 MiB of memory (-o memory=)")
    #expect(share.isBeyondAll && share.size <= shape.size)
  }

  @Test(arguments: shapes) func archiveMemoryIsCountedWhileOpen(_ shape: Shape) throws {
    let budget = MemoryBudget(capacity: shape.size)
    var archive: ZipArchive? = try Self.open(shape, count: shape.count / 10, MemoryShare(in: budget))
    let count = try #require(archive?.count)
    // A node takes 40 bytes, its place 4, and a name at least one byte; what is recorded of a file takes 32 more.
    #expect(budget.used >= count * 45 && budget.used <= shape.size)
    archive = nil
    #expect(budget.used == 0)
  }

  @Test func archiveIsRefusedWhileMemoryIsInUse() throws {
    let budget = MemoryBudget(capacity: 1 << 20)
    let other = MemoryShare(in: budget)
    #expect(other.grow(to: 1_000_000))
    let share = MemoryShare(in: budget)
    let fault = #expect(throws: Fault.self) { try Self.open(Self.shapes[0], count: 2000, share) }
    #expect(fault?.reason.hasPrefix("no room for its names") == true)
    #expect(!share.isBeyondAll)
    other.set(to: 0)
    #expect(try Self.open(Self.shapes[0], count: 2000, share).count == 2001)
  }
}
