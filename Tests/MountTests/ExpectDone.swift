import TestSupport
import Testing

/// Runs a script with the path of a folder of its own after the other words, and expects that it finds nothing wrong: it
/// prints that it is done, and nothing else.
///
/// - Parameter last: a word after the path. `nil` for none.
func expectDone(
  _ name: String, _ words: String..., then last: String? = nil, limit: Double,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  try await withScratch { scratch in
    let result = try await script(name, words: words + [scratch.path] + (last.map { [$0] } ?? []), limit: limit)
    #expect(result.lines == ["done"], "\(result.text)", sourceLocation: sourceLocation)
  }
}
