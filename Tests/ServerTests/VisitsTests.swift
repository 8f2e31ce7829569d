import TestSupport
import Testing

@testable import ffserve

/// The number of times that links have been opened.
@Suite struct VisitsTests {
  /// A server that ends and begins again does not permit a link to be opened more often.
  @Test func visitsOutlastTheServer() throws {
    let folder = try SourceFolder()
    let visits = Visits(beside: folder.path + "/users")
    #expect(visits.note("first", atMost: 2) && visits.note("second", atMost: nil))
    visits.save()
    let again = Visits(beside: folder.path + "/users")
    #expect(again.count(of: "first").count == 1 && again.count(of: "second").count == 1)
    #expect(again.count(of: "first").last == visits.count(of: "first").last)
    #expect(again.note("first", atMost: 2) && !again.note("first", atMost: 2))
    again.keep(["first"])
    again.save()
    let last = Visits(beside: folder.path + "/users")
    #expect(last.count(of: "first").count == 2 && last.count(of: "second").count == 0)
    #expect(!last.note("first", atMost: 2))
  }
}
