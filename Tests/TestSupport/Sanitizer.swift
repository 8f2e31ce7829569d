internal import Glibc

/// What `scripts/test --sanitize` builds the programs with.
public enum Sanitizer {
  /// `address` or `thread`; nil as a rule.
  public static let name = unsafe getenv("FFMOUNT_SANITIZER").map { unsafe String(cString: $0) }

  /// How many times the usual a program may take before it counts as stuck.
  public static let slowness: Double = name == nil ? 1 : 5
}
