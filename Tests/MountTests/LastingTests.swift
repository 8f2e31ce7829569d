import TestSupport
import Testing

/// Open files of views stay readable when the source changes, as far as its bytes remain.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LastingTests {
  private func check(_ change: String) async throws {
    try await withScratch { scratch in
      try await withMount(scratch) { mount in
        _ = try await script("lasting.py", change, scratch.source, mount.mountpoint, limit: 150)
      }
    }
  }

  @Test(arguments: [
    "mail_touched", "mail_of_another_mode", "mail_appended", "mail_replaced_by_longer", "mail_compacted",
    "mail_changed",
  ])
  func openFilesOfUnchangedMailStayValid(_ change: String) async throws { try await check(change) }

  @Test(arguments: ["archive_touched", "archive_added_to", "archive_updated"])
  func openFilesOfUnchangedEntriesStayValid(_ change: String) async throws { try await check(change) }

  @Test(arguments: ["entry_rewritten", "entry_damaged", "entry_mended"])
  func entryChangedInPlaceNeverMixesVersions(_ change: String) async throws { try await check(change) }

  @Test func treeWalksSurviveIncomingMail() async throws { try await check("walkers") }
}
