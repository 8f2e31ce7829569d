import Bytes
import Testing

@testable import ffserve

/// The locks of WebDAV clients, by their paths and users.
@Suite struct LockTableTests {
  private let table = LockTable(most: (paths: 200, onOne: 100))

  private func lock(
    _ path: [FileName], isDeep: Bool = false, isExclusive: Bool = true, user: String = "anna", seconds: UInt64? = nil
  ) -> LockTable.Lock? {
    table.add(path, isDeep: isDeep, isExclusive: isExclusive, owner: nil, user: user, seconds: seconds)
  }

  private func isHindered(
    _ path: [FileName], changesName: Bool = false, isDeep: Bool = false, _ tokens: Set<String> = [],
    user: String = "anna"
  ) -> Bool {
    table.hindrance(to: .init(path: path, changesName: changesName, isDeep: isDeep), tokens: tokens, user: user) != nil
  }

  @Test func lockIsOfItsUserAndToken() throws {
    let own = try #require(lock(["a", "b"]))
    #expect(isHindered(["a", "b"]) && isHindered(["a", "b"], ["other"]) && !isHindered(["a", "b"], [own.token]))
    #expect(isHindered(["a", "b"], [own.token], user: "bob"))
    #expect(table.renew(own.token, at: ["a", "b"], user: "bob", seconds: 9) == nil)
    #expect(table.renew("other", at: ["a", "b"], user: "anna", seconds: 9) == nil)
    #expect(table.renew(own.token, at: ["a"], user: "anna", seconds: 9) == nil)
    #expect(table.renew(own.token, at: ["a", "b"], user: "anna", seconds: 9)?.seconds == 9)
    #expect(
      !table.remove(own.token, at: ["a", "b"], user: "bob") && !table.remove("other", at: ["a", "b"], user: "anna"))
    #expect(
      isHindered(["a", "b"]) && table.remove(own.token, at: ["a", "b"], user: "anna") && !isHindered(["a", "b"]))
    #expect(!table.remove(own.token, at: ["a", "b"], user: "anna"))
  }

  @Test func timeIsBounded() {
    #expect(lock(["a"], seconds: 0)?.seconds == 1 && lock(["b"], seconds: .max)?.seconds == 3600)
    #expect(lock(["c"])?.seconds == 3600)
  }

  @Test func lockReachesWhatItCovers() throws {
    let shallow = try #require(lock(["a"]))
    // A directory's lock is on its names, that of everything below it on the rest, too.
    #expect(isHindered(["a"]) && isHindered(["a", "b"], changesName: true) && !isHindered(["a", "b"]))
    #expect(
      !isHindered(["a", "b", "c"], changesName: true) && !isHindered(["b"], changesName: true) && !isHindered(["ab"]))
    #expect(isHindered([], isDeep: true) && !isHindered([]))
    #expect(table.covering(["a", "b"]).isEmpty && table.covering(["a"]).count == 1)
    #expect(table.remove(shallow.token, at: ["a"], user: "anna") && lock(["a"], isDeep: true) != nil)
    #expect(isHindered(["a", "b"]) && isHindered(["a", "b", "c"]) && !isHindered(["b", "c"]))
    #expect(table.covering(["a", "b", "c"]).count == 1)
    #expect(lock(["a", "b"]) == nil && lock([], isDeep: true) == nil && lock(["b"]) != nil)
  }

  @Test func sharedLocksAreOfSeveralUsers() throws {
    let first = try #require(lock(["a"], isExclusive: false))
    let second = try #require(lock(["a"], isExclusive: false, user: "bob"))
    #expect(lock(["a"]) == nil && lock([], isDeep: true) == nil)
    #expect(!isHindered(["a"], [first.token]) && !isHindered(["a"], [second.token], user: "bob"))
    #expect(isHindered(["a"], [second.token]) && isHindered(["a"], [first.token], user: "bob"))
    // Each change needs a token for each place that is locked.
    let other = try #require(lock(["b"]))
    #expect(isHindered([], isDeep: true, [first.token]) && !isHindered([], isDeep: true, [first.token, other.token]))
    #expect(table.remove(first.token, at: ["a"], user: "anna") && lock(["a"]) == nil)
    #expect(table.remove(second.token, at: ["a"], user: "bob") && lock(["a"]) != nil)
  }

  @Test func locksOfRemovedItemsEnd() {
    for path in [["a"], ["a", "b"], ["ab"], ["c", "a"]] as [[FileName]] { #expect(lock(path) != nil) }
    table.removeAll(at: ["a"])
    #expect(!isHindered(["a"]) && !isHindered(["a", "b"]) && isHindered(["ab"]) && isHindered(["c", "a"]))
  }

  @Test func numberOfLocksIsBounded() {
    for _ in 0..<100 { #expect(lock(["a"], isExclusive: false) != nil) }
    #expect(lock(["a"], isExclusive: false) == nil && lock(["b"], isExclusive: false) != nil)
    for number in 2..<200 { #expect(lock([FileName("\(number)")]) != nil) }
    #expect(lock(["last"]) == nil)
  }
}
