public import Bytes
internal import CPosix
internal import Glibc

/// A worker program and its arguments. `ffconvert --check-sandbox` starts itself in the same way.
public struct WorkerProgram: Sendable {
  public let path: String
  public let arguments: [String]

  public init(path: String, arguments: [String] = []) {
    self.path = path
    self.arguments = arguments
  }

  /// The environment variables that are passed to a worker. They affect its results no more than the installed software
  /// does.
  private static let variables: Set<Substring> = [
    "TMPDIR", "LD_LIBRARY_PATH", "TESSDATA_PREFIX", "ASAN_OPTIONS", "TSAN_OPTIONS",
  ]

  /// Starts the program with `socket` as descriptor 3 and `errors` as its standard error. Returns its process ID.
  ///
  /// The program gets no other descriptors, signals or variables of this process. It runs in namespaces of its own if
  /// the system allows that. Blocks until it runs.
  public func start(socket: Int32, errors: Int32) throws(Fault) -> Int32 {
    let child = unsafe Self.withStrings([path] + arguments) { arguments in
      unsafe Self.withStrings(Self.environment) { variables in
        unsafe ffmount_spawn(path, arguments, variables, socket, errors)
      }
    }
    guard child > 0 else { throw Fault(.system(-child), "\(path) cannot be started") }
    return child
  }

  private static var environment: [String] {
    // A crash is reported by its signal. Finding out more takes seconds, in a process that may be compromised.
    // There is a worker for each core, so none needs more threads.
    var result = ["LC_ALL=C.UTF-8", "TZ=UTC0", "OMP_NUM_THREADS=1", "OMP_THREAD_LIMIT=1", "SWIFT_BACKTRACE=enable=no"]
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      if variables.contains(text.prefix { $0 != "=" }) { result.append(text) }
      unsafe next += 1
    }
    return result
  }

  private static func withStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
  }
}
