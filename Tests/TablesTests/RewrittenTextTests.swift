import Bytes
import Synchronization
import TestSupport
import Testing

@testable import Tables

@Suite struct RewrittenTextTests {
  private static let table = Array(
    ("id,name\n" + (0..<20_000).map { "\($0),\"name, \($0 % 97)\"\n" }.joined()).utf8)

  private func text(
    _ bytes: [UInt8], capacity: Int = 1 << 20, ended: @escaping @Sendable (Int64) -> Void = { _ in }
  ) throws -> RewrittenText {
    try TableForm.text.text(
      of: ByteArraySource(bytes), .table(delimiter: 44), title: "t", guess: 1, memory: .init(capacity: capacity),
      ended: ended)
  }

  private func whole() throws -> [UInt8] {
    Array(try MadeText.text(Self.table, .text, .table(delimiter: 44), pieces: 65_536).utf8)
  }

  private func read(_ text: RewrittenText, at offset: Int64, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = try unsafe bytes.withUnsafeMutableBytes { unsafe try text.read(into: $0, at: offset, .blocking) }
    return Array(bytes[..<got])
  }

  @Test func sizeIsKnownAfterSequentialRead() throws {
    let expected = try whole()
    let sizes = Mutex<[Int64]>([])
    let text = try text(Self.table) { size in sizes.withLock { $0.append(size) } }
    #expect(!text.hasKnownSize && text.size > 0)
    var made: [UInt8] = []
    while true {
      let piece = try read(text, at: Int64(made.count), count: 100_000)
      if piece.isEmpty { break }
      made += piece
      text.prepare(at: Int64(made.count))
    }
    #expect(made == expected)
    #expect(text.hasKnownSize && text.size == Int64(expected.count))
    #expect(sizes.withLock { $0 } == [Int64(expected.count)])
  }

  @Test func anyOffsetIsReadWithLittleMemory() throws {
    let expected = try whole()
    // One piece fits, or none.
    for capacity in [1, 200_000] {
      let text = try text(Self.table, capacity: capacity)
      var random = SeededNumbers(seed: 3)
      for _ in 0..<25 {
        let offset = Int(random.next() % UInt64(expected.count + 1000))
        let count = Int(random.next() % 200_000)
        let piece = try read(text, at: Int64(offset), count: count)
        let start = min(offset, expected.count)
        #expect(piece.elementsEqual(expected[start..<min(expected.count, start + count)]))
      }
    }
  }

  /// Text at a large offset is generated from a mark near it, and the number of marks stays small.
  @Test func restartMarksAreNearAndFew() throws {
    let rewriting = try MadeText.rewriting([], .text, .table(delimiter: 44))
    var state = RewrittenText.State(marks: [RewrittenText.Mark(rewriting: rewriting)])
    func make(_ numbers: Range<Int>) {
      for number in numbers {
        let piece = RewrittenText.Piece(start: Int64(number) * 10, bytes: Array(repeating: 0, count: 10))
        let next = RewrittenText.Mark(number: number + 1, start: piece.end, rewriting: rewriting)
        let isEnd = state.note(piece, number, next, isEnd: false)
        #expect(!isEnd)
      }
    }
    make(0..<300)
    #expect(state.mark(before: 2999)?.number == 299)
    #expect([0, 639, 640, 1500, 2559].map { state.mark(before: $0)?.number } == [0, 0, 64, 128, 192])
    make(300..<70_000)
    #expect(state.marks.count <= 1024)
    let far = try #require(state.mark(before: 345_678)?.number)
    #expect(far <= 34_567 && far > 34_567 - 128)
  }

  @Test func sizeSearchStopsAtItsLimit() throws {
    let text = try text(Self.table)
    #expect(throws: Fault.later) { try text.findSize(within: .max, .immediate) }
    #expect(try !text.findSize(within: 1000, .blocking))
    try text.findSize(.blocking)
    #expect(text.size == Int64(try whole().count))
    #expect(try read(text, at: text.size, count: 10).isEmpty)
  }

  @Test func concurrentReadersGetTheSameText() async throws {
    let expected = try whole()
    let text = try text(Self.table, capacity: 300_000)
    let made = await withTaskGroup(of: [UInt8]?.self) { group in
      for reader in 1...3 {
        group.addTask {
          var made: [UInt8] = []
          while let piece = try? read(text, at: Int64(made.count), count: 30_000 * reader), !piece.isEmpty {
            made += piece
          }
          return made
        }
      }
      return await group.reduce(into: []) { $0.append($1 ?? []) }
    }
    #expect(made.count == 3 && made.allSatisfy { $0 == expected })
  }

  @Test func changedTableSourceThrows() throws {
    let source = ChangingSource(Self.table)
    let text = try TableForm.html.text(
      of: source, .table(delimiter: 44), title: "t", guess: 1, memory: .init(capacity: 1), ended: { _ in })
    _ = try read(text, at: 0, count: 1000)
    source.isChanged.store(true, ordering: .relaxed)
    #expect(throws: Fault.self) { try read(text, at: 500_000, count: 10) }
  }

  private final class ChangingSource: ByteSource {
    private let bytes: ByteArraySource
    let isChanged = Atomic<Bool>(false)
    var size: Int64 { bytes.size }

    init(_ bytes: [UInt8]) { self.bytes = ByteArraySource(bytes) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
      -> Int
    {
      unsafe try bytes.read(into: buffer, at: offset, blocking)
    }

    func verify() throws(Fault) { if isChanged.load(ordering: .relaxed) { throw Fault(.changed, "has changed") } }
  }
}
