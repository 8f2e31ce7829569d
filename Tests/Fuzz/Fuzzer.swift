#if FUZZER
  internal import CFuzzer
  internal import Fuzzing
  internal import Synchronization

  /// libFuzzer, and the target that it feeds.
  enum Fuzzer {
    private static let target = Mutex<FuzzTarget?>(nil)

    /// Runs until libFuzzer's limits are reached or something is found; gives the exit status.
    static func run(_ target: FuzzTarget) -> Int32 {
      self.target.withLock { $0 = target }
      // libFuzzer takes the target's name for the program's.
      var count = CommandLine.argc - 1
      var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv + 1
      return unsafe LLVMFuzzerRunDriver(&count, &words) { unsafe takeInput($0, $1) }
    }

    /// Ends the process, with the input kept, when the target complains.
    fileprivate static func feed(_ bytes: [UInt8]) {
      guard let target = target.withLock({ $0 }) else { return }
      let complaints = target.complaints(bytes)
      if !complaints.isEmpty { fatalError(complaints.joined(separator: "\n")) }
    }
  }

  /// The name that libFuzzer's own `main` asks for, which this program's replaces.
  @c(LLVMFuzzerTestOneInput) public func takeInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    Fuzzer.feed(unsafe Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
  }
#endif
