import Bytes
import Catalogue
import Jobs
import Synchronization
import TestSupport
import Testing

extension ConversionTests {
  /// What a service tells of its work.
  @Suite(.serialized, .timeLimit(.minutes(5))) struct ReportTests {
    @Test func successClearsEarlierFailureOfTheFile() async throws {
      let reports = Reports()
      try await withWorkshop { workshop in
        // In another state each time: the file was mended.
        for (state, text) in [(1, "fail 1 damaged"), (2, "fail 1 worse"), (3, "echo")] {
          _ = try? workshop.make(text, UInt64(state))
          reports.add(workshop.renditions.report)
        }
      }
      let all = reports.all
      #expect(all.map { $0.failures.map(\.reason) } == [["damaged"], ["worse"], []])
      #expect(all.map(\.made) == [0, 0, 1])
      #expect(all[0].failures.map(\.path) == ["file"] && all[0].failures.map(\.recipe) == ["text"])
      #expect(all.allSatisfy { $0.running.isEmpty && $0.waiting == 0 })
    }

    private final class Reports: Sendable {
      private let reports = Mutex<[ConversionReport]>([])
      func add(_ report: ConversionReport) { reports.withLock { $0.append(report) } }
      var all: [ConversionReport] { reports.withLock { $0 } }
    }
  }
}
