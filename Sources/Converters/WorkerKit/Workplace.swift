internal import Synchronization

/// The folder that a worker has to itself, for libraries that write files by name: nobody else sees it, and it is gone with
/// the process.
public enum Workplace {
  private static let place = Mutex<String?>(nil)

  static func set(_ path: String) { place.withLock { $0 = path } }

  /// Its path; nil if the program asked for none, or the system has no namespaces for one.
  public static var path: String? { place.withLock { $0 } }
}
