import Foundation

/// The extent of the tests: as little as shows a defect in a debug build, or everything.
public enum TestExtent {
  /// Whether `FFMOUNT_TEST_FULL` is set, which takes hours.
  public static let isFull = ProcessInfo.processInfo.environment["FFMOUNT_TEST_FULL"] != nil
}
