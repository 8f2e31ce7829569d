/// User-visible failures of the last attempts: one for each file and recipe, up to a limit.
public struct FailedConversions: Sendable {
  public struct Failure: Sendable {
    public let path: String
    public let recipe: String
    /// The reason, as the end of a sentence that starts with the file's name.
    public let reason: String
  }

  private struct Key: Hashable {
    let path: String
    let recipe: String
  }

  private var entries: [Key: (order: Int, reason: String)] = [:]
  private var added = 0
  private static let limit = 4096

  /// All failures, oldest first. O(n log n).
  var all: [Failure] {
    entries.sorted { $0.value.order < $1.value.order }.map {
      Failure(path: $0.key.path, recipe: $0.key.recipe, reason: $0.value.reason)
    }
  }

  mutating func add(_ path: String, recipe: String, reason: String) {
    if entries.count >= Self.limit { entries = [:] }
    added += 1
    entries[Key(path: path, recipe: recipe)] = (added, reason)
  }

  mutating func remove(_ path: String, recipe: String) { entries[Key(path: path, recipe: recipe)] = nil }

  var isEmpty: Bool { entries.isEmpty }
}
