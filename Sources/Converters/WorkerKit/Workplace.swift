internal import Locks

/// The private directory of a worker, for libraries that write named files. Other processes cannot see it. It is
/// removed with the process.
public enum Workplace {
  private static let place = UnfairLock<String?>(nil)

  static func set(_ path: String) { place.withLock { $0 = path } }

  /// The path of the directory. `nil` if the program asked for none, or if the system lacks the namespaces for it.
  public static var path: String? { place.withLock { $0 } }
}
