import TestSupport
import Testing

/// An example of the contract with users: the contents of the source, and the output of a shell in the mount.
struct SemanticsExample: CustomTestStringConvertible, Sendable {
  /// The sentence of the contract.
  let testDescription: String
  var options: [String] = []
  /// Whether the example needs a mount of its own, since it has options.
  var hasOwnMount: Bool { !options.isEmpty }
  let build: @Sendable (MountScratch) async throws -> Void
  /// Run by bash in the directory of the source in a mount; `$S` is the source.
  let lines: String
  let output: String

  init(
    _ description: String, options: [String] = [], _ lines: String, _ output: String,
    build: @escaping @Sendable (MountScratch) async throws -> Void
  ) {
    testDescription = description
    self.options = options
    self.build = build
    self.lines = lines
    self.output = output
  }

  /// The output of the lines in a directory of a mount, which shows `source`.
  func said(in directory: String, of source: String) async throws -> String {
    let lines = "export LC_ALL=C.UTF-8 S=\"$2\"; cd \"$1\" && { \(lines)\n} 2>&1"
    return try await shell(lines, directory, source, limit: 20).text
  }
}
