import FileTrees
import SystemPackage
import Testing

/// Expects an error with a code, about a path.
func expectError(
  _ code: FileTreeError.Code, _ path: FilePath, _ location: SourceLocation = #_sourceLocation,
  _ body: () async throws(FileTreeError) -> Void
) async {
  do throws(FileTreeError) {
    try await body()
    Issue.record("nothing was thrown, expected \(code)", sourceLocation: location)
  } catch {
    #expect(error.code == code, "\(error)", sourceLocation: location)
    #expect(error.path == path, sourceLocation: location)
    #expect(!error.reason.isEmpty, sourceLocation: location)
  }
}
