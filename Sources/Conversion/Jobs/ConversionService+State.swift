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
    /// Results that somebody uses.
    var made: [Key: Made] = [:]
    var failures: [Key: Failure] = [:]
    /// Those of parts, one for each file that they are parts of, which others can still be read of.
    var failedParts: [Key: Failure] = [:]
    /// The same for people, by file whatever its state is.
    var failed = FailedConversions()
    var madeCount = 0

    private static let failuresAtMost = 16384

    mutating func note(_ failure: Failure, _ key: Key) {
      if failures.count >= Self.failuresAtMost { (failures, failedParts) = ([:], [:]) }
      failures[key] = failure
    }

    mutating func hold(_ rendition: Rendition, _ key: Key) {
      if made.count.isMultiple(of: 256) { made = made.filter { $0.value.rendition != nil } }
      made[key] = Made(rendition: rendition)
    }
  }

  struct Made {
    weak var rendition: Rendition?
  }

  /// A job that is under way, or waits for a worker.
  struct Making {
    let task: ConversionTask
    let pending: Pending
    let subject: Subject
    /// Where its result can be read before it is whole.
    let stream: ResultStream?

    func pending(for want: ResultStream.Want) -> Pending {
      guard let stream else { return pending }
      if want == .beginning { return stream.waitForBeginning() }
      stream.join(.whole)
      return pending
    }
  }

  struct Failure {
    let fault: Fault
    /// Whether the same state will always have it. If not, it is for those who waited, and for who comes before the last of
    /// them has been told: what they have waited for is held by them alone.
    let isLasting: Bool
    weak var pending: Pending?

    var isValid: Bool { isLasting || pending != nil }
  }
}
