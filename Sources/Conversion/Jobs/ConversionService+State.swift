internal import Bytes
internal import Catalogue
internal import Threads

extension ConversionService {
  struct Key: Hashable, Sendable {
    let revision: UInt64
    let work: Job.Work

    func isLong(_ pool: ConversionPool) -> Bool {
      if case .make(let recipe) = work { pool.conversion(recipe)?.making == .growing } else { false }
    }
  }

  struct State {
    var jobs: [Key: Making] = [:]
    /// The results in use.
    var made: [Key: Made] = [:]
    var failures: [Key: Failure] = [:]
    /// The last failure of a part for each result. Other parts of the result may still be readable.
    var failedParts: [Key: Failure] = [:]
    /// The failures for reports, by path regardless of the file's state.
    var failed = FailedConversions()
    var madeCount = 0
    /// The sources whose results are large or take long, so that they are made one by one.
    private(set) var single: Set<UInt64> = []

    private static let failuresAtMost = 16384
    private static let singleAtMost = 1024

    mutating func notInSeries(_ revision: UInt64) {
      if single.count >= Self.singleAtMost { single = [] }
      single.insert(revision)
    }

    mutating func note(_ failure: Failure, _ key: Key) {
      if failures.count >= Self.failuresAtMost { (failures, failedParts) = ([:], [:]) }
      failures[key] = failure
    }

    mutating func hold(_ rendition: ConversionResult, _ key: Key) {
      if made.count.isMultiple(of: 256) { made = made.filter { $0.value.rendition != nil } }
      made[key] = Made(rendition: rendition)
    }
  }

  /// A result in use.
  struct Made {
    weak var rendition: ConversionResult?
  }

  /// A job that is in progress or waits for a worker.
  struct Making {
    let task: ConversionTask
    let pending: SharedOperation
    let subject: Subject
    /// The result as it grows. `nil` if it can be read only when it is complete.
    let stream: ResultStream?

    func pending(for want: ResultStream.Want) -> SharedOperation {
      guard let stream else { return pending }
      if want == .beginning { return stream.waitForBeginning() }
      stream.join(.whole)
      return pending
    }
  }

  /// The failure of a job, returned by later requests while it is valid.
  struct Failure {
    let fault: Fault
    /// Whether the same state of the file will always fail. If not, the failure is valid only until all waiters have
    /// been notified. Only they retain `pending`.
    let isLasting: Bool
    weak var pending: SharedOperation?

    var isValid: Bool { isLasting || pending != nil }
  }
}
