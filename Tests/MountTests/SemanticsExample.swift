import TestSupport
import Testing

/// An example of the contract with users: the contents of the source, and the output of a shell in the mount.
struct SemanticsExample: CustomTestStringConvertible, Sendable {
  /// The sentence of the contract.
  let testDescription: String
  var options: [String] = []
  let build: @Sendable (MountScratch) async throws -> Void
  /// Run by bash in the mount's root; `$S` is the source.
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
}
