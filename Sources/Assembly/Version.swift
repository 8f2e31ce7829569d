/// The version of all programs.
package enum Version {
  /// The output of `--version`.
  package static let text = "ffmount 0.1.0"
}
