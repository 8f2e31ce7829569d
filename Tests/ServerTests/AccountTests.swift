import Bytes
import Testing

@testable import ffserve

/// The rights of accounts, and of the links that they make.
@Suite struct AccountTests {
  private func account(_ grants: [Grant], until: Int64? = nil) -> Account { Account("a", .open, grants, until: until) }

  @Test(arguments: [(nil, nil, nil), (5, nil, 5), (nil, 7, 7), (5, 7, 5), (9, 7, 7)] as [(Int64?, Int64?, Int64?)])
  func linkEndsWithItsMaker(_ own: Int64?, _ makers: Int64?, _ wanted: Int64?) {
    let link = account([Grant(path: ["a"], rights: .read)], until: own)
    let maker = account([Grant(path: [], rights: .write)], until: makers)
    #expect(link.limited(by: maker).until == wanted)
  }

  @Test func linkHasNoMoreRightsThanItsMaker() {
    let link = account([Grant(path: ["a", "b"], rights: .write), Grant(path: ["c"], rights: .drop)])
    let maker = account([Grant(path: ["a"], rights: [.read, .drop])])
    let grants = link.limited(by: maker).grants
    #expect(grants.map(\.path) == [["a", "b"]] && grants.first?.rights == [.read, .drop])
    #expect(link.limited(by: account([])).grants.isEmpty)
  }

  @Test func rightsAreThoseOfAllGrantsOnTheWay() {
    let one = account([
      Grant(path: [], rights: .read), Grant(path: ["a"], rights: .drop), Grant(path: ["a", "b"], rights: .write),
    ])
    #expect(one.rights(at: ["x"]) == .read && one.rights(at: ["a", "x"]) == [.read, .drop])
    #expect(one.rights(at: ["a", "b", "x"]) == .write)
    let other = account([Grant(path: ["a", "b"], rights: .read)])
    #expect(other.rights(at: ["a"]) == [] && other.leads(to: ["a"]) && other.leads(to: [] as [FileName]))
    #expect(!other.leads(to: ["b"]))
  }
}
