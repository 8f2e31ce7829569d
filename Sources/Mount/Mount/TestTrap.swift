#if DEBUG
  internal import Glibc
  internal import Threads

  /// What a test has the process die of: reading a file whose path ends with the name in FFMOUNT_TEST_TRAP, by a trap, or with
  /// `deep:` in front by a stack that is full, on a worker's thread, with `later:` after the reply; with `large:` it takes
  /// 400 MB for good.
  struct TestTrap {
    private let name: String
    private let kind: String?

    static let set = unsafe getenv("FFMOUNT_TEST_TRAP").map { unsafe TestTrap(String(cString: $0)) }

    private init(_ value: String) {
      let parts = value.split(separator: ":", maxSplits: 1).map(String.init)
      (kind, name) = parts.count > 1 ? (parts[0], parts[1]) : (nil, value)
    }

    func spring(_ path: String, _ workers: Workers) {
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
