import Assembly
import Glibc

/// Continues in the background, where two threads want the same lock of Swift's runtime. Prints `ready` if both get it.
@main enum BackgroundTrial {
  /// Values whose initializers hold such a lock.
  private enum Before { static let value = getpid() }
  private enum Slow {
    static let value = {
      usleep(300_000)
      return getpid()
    }()
  }

  static func main() throws {
    print(Before.value)
    try Background.run { ready in
      var thread = pthread_t()
      let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { _ in
        usleep(100_000)
        _ = Slow.value
        return nil
      }
      guard unsafe pthread_create(&thread, nil, body, nil) == 0 else { return }
      _ = Slow.value
      _ = pthread_join(thread, nil)
      ready()
    }
    print("ready")
  }
}
