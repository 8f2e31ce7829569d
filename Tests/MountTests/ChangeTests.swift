import TestSupport
import Testing

/// Changes below the mount are visible within a second.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ChangeTests {
  static let changes = [
    "append", "overwrite", "replace_by_rename", "replace_same_size_and_time", "truncate", "delete", "create",
    "folder_becomes_file", "folder_is_moved", "attributes", "deleted_under_reader", "replaced_under_reader",
    "truncated_under_reader", "mapped_file_grows", "archive_replaced", "archive_rewritten_in_place",
    "archive_appended_to",
    "view_gives_way", "archive_replaced_under_reader", "archive_changed_under_reader",
  ]

  @Test(arguments: changes) func changeIsSeenWithinASecond(_ change: String) async throws {
    try await withScratch { scratch in
      try await withMount(scratch) { mount in
        try await script("changes.py", change, scratch.source, mount.mountpoint, limit: 30)
      }
    }
  }
}
