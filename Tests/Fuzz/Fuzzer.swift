#if FUZZER
  internal import CFuzzer
  internal import Fuzzing
  internal import Synchronization

  /// libFuzzer and its target.
  enum Fuzzer {
    private static let target = Mutex<FuzzTarget?>(nil)

    /// Runs until libFuzzer's limits are reached or something is found; returns the exit status.
    static func run(_ target: FuzzTarget) -> Int32 {
      self.target.withLock { $0 = target }
      // libFuzzer skips the first argument, here the target's name.
      var count = CommandLine.argc - 1
      var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv + 1
      return unsafe LLVMFuzzerRunDriver(&count, &words) { unsafe takeInput($0, $1) }
    }

    /// Ends the process, with the input kept, if the target has complaints.
    fileprivate static func feed(_ bytes: [UInt8]) {
      guard let target = target.withLock({ $0 }) else { return }
      let complaints = target.complaints(bytes)
      if !complaints.isEmpty { fatalError(complaints.joined(separator: "\n")) }
    }
  }

  /// The function called by libFuzzer's own `main`, which this program replaces.
  @c(LLVMFuzzerTestOneInput) public func takeInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    Fuzzer.feed(unsafe Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
  }
#endif
