import Files
import Glibc
import Testing

@Suite struct FileLockTests {
  /// The bytes of a lock among the first ten, the last of which stands for all that follow.
  private static func bytes(_ lock: FileLock) -> [Int64] {
    (0..<10).filter { $0 >= lock.start && (lock.count == 0 || $0 < lock.start + lock.count) }
  }

  /// All ranges of up to six bytes, and those without an end.
  private static let all = (0..<6).flatMap { start in
    (0...(6 - start)).map { FileLock(kind: Int16(F_RDLCK), start: Int64(start), count: Int64($0)) }
  }

  @Test func partsOfALockAreWhatIsOutsideAnotherOne() {
    for one in Self.all {
      for other in Self.all {
        let (own, others) = (Self.bytes(one), Self.bytes(other))
        let outside = one.parts(outside: other)
        #expect(outside.flatMap(Self.bytes) == own.filter { !others.contains($0) }, "\(one) \(other)")
        let inside = one.part(in: other).map(Self.bytes) ?? []
        #expect(inside == own.filter(others.contains), "\(one) \(other)")
        #expect(outside.allSatisfy { $0.kind == one.kind })
      }
    }
  }

  @Test func lockToTheLastByteHasNoEnd() {
    let whole = FileLock(kind: Int16(F_WRLCK), start: 0, count: 0)
    for count in [0, .max - 5, .max] as [Int64] {
      let end = FileLock(kind: Int16(F_WRLCK), start: 5, count: count)
      let parts = whole.parts(outside: end)
      #expect(parts.first.map { $0.start == 0 && $0.count == 5 } ?? false)
      #expect(end.part(in: whole)?.start == 5 && end.parts(outside: whole).isEmpty)
    }
  }
}
