import Foundation
import TestSupport
import Testing

/// Runs ffconvert as a subprocess on documents generated for one rule each.
@Suite(.timeLimit(.minutes(5))) struct MadeDocumentTests {
  private static let program =
    URL(fileURLWithPath: MountProcess.binary).deletingLastPathComponent().appendingPathComponent("ffconvert").path

  @Test func extractedPagesIncludeOnlyNeededObjects() async throws {
    let checked = try await script("check_pages.py", Self.program)
    #expect(checked.text == "")
  }

  @Test func documentLevelPropertiesAreKept() async throws {
    let checked = try await script("check_wholes.py", Self.program)
    #expect(checked.text == "" && checked.status == 0, "\(checked.errors)")
  }

  @Test func viewsOfADamagedDocumentAgreeOnWhetherItHasPages() async throws {
    try await withScratch { scratch in
      try await script("make_documents.py", scratch.source)
      let checked = try await script(
        "damaged_documents.py", Self.program, "--count", "60", scratch.source + "/report.pdf")
      #expect(checked.text == "" && checked.status == 0, "\(checked.errors)")
    }
  }
}
