/// The version of all programs.
package enum Version {
  /// As `--version` prints it.
  package static let text = "ffmount 0.1.0"
}
