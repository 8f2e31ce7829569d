internal import CPosix
internal import Catalogue
internal import Glibc

/// The worker's end of the socket that its jobs come from.
struct JobSocket {
  static let descriptor: Int32 = 3

  /// nil when descriptor 3 is no such socket: somebody started the program by hand.
  init?() {
    var type: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(JobSocket.descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0,
      type == Int32(SOCK_SEQPACKET.rawValue)
    else { return nil }
  }

  /// Waits for the next job; nil at the socket's end, and after what nobody sends.
  func next() -> JobOrder? {
    var message = [UInt8](repeating: 0, count: Job.messageLimit)
    var descriptors = [Int32](repeating: -1, count: Int(FFMOUNT_MOST_DESCRIPTORS))
    var came = 0
    var count: Int
    repeat {
      count = unsafe ffmount_receive(JobSocket.descriptor, &message, message.count, &descriptors, &came)
    } while count < 0 && errno == EINTR
    guard count > 0, let job = Job(message: Array(message[..<count])) else { return nil }
    switch (job.work, came) {
    case (.count, 1), (.findPasswords, 1), (.measure, 1): return JobOrder(job, input: descriptors[0], output: nil)
    case (.make, 2), (.part, 2): return JobOrder(job, input: descriptors[0], output: descriptors[1])
    default: return nil
    }
  }

  /// Takes no more jobs: who sends one learns that, and gives it to another worker.
  func close() { _ = shutdown(JobSocket.descriptor, Int32(SHUT_RD)) }

  /// False when nobody listens any more.
  static func send(_ answer: JobAnswer) -> Bool {
    let message = answer.message
    return unsafe ffmount_send(JobSocket.descriptor, message, message.count, nil, 0) == message.count
  }
}
