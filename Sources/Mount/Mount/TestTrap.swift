#if DEBUG
  internal import Glibc
  internal import Threads

  /// A crash that a test triggers by reading a file whose path ends with the name in FFMOUNT_TEST_TRAP. The read traps
  /// by default. With the prefix `deep:`, it overflows the stack of a worker thread. With `later:`, a worker thread
  /// traps after the reply. With `large:`, the process permanently takes 400 MB.
  struct TestTrap {
    private let name: String
    private let kind: String?

    static let set = unsafe getenv("FFMOUNT_TEST_TRAP").map { unsafe TestTrap(String(cString: $0)) }

    private init(_ value: String) {
      let parts = value.split(separator: ":", maxSplits: 1).map(String.init)
      (kind, name) = parts.count > 1 ? (parts[0], parts[1]) : (nil, value)
    }

    func spring(_ path: String, _ workers: ThreadPool) {
      guard path.hasSuffix(name) else { return }
      switch kind {
      case "deep": workers.submit { exit(Int32(truncatingIfNeeded: Self.deeper(1))) }
      case "later": workers.submit { preconditionFailure("a test wants it") }
      case "large": _ = unsafe memset(malloc(400 << 20), 1, 400 << 20)
      default: preconditionFailure("a test wants it")
      }
    }

    @inline(never) private static func deeper(_ depth: Int) -> Int {
      depth == 0 ? 0 : deeper(depth + 1) &* depth
    }
  }
#endif
