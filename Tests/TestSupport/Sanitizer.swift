internal import Glibc

/// The sanitizer of `scripts/test --sanitize`.
public enum Sanitizer {
  /// `address` or `thread`; usually nil.
  public static let name = unsafe getenv("FFMOUNT_SANITIZER").map { unsafe String(cString: $0) }

  /// The factor by which timeouts are extended.
  public static let slowness: Double = name == nil ? 1 : 5
}
