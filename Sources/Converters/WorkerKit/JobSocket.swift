internal import CPosix
internal import Catalogue
internal import Glibc

/// The worker's end of the socket that delivers its jobs.
struct JobSocket {
  static let descriptor: Int32 = 3

  /// Returns `nil` if descriptor 3 is not such a socket, as in a program that a user started.
  init?() {
    var type: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(JobSocket.descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0,
      type == Int32(SOCK_SEQPACKET.rawValue)
    else { return nil }
  }

  /// Returns the next job. Blocks. Returns `nil` at the socket's end and after an invalid message.
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
    case (.make, 2), (.part, 2), (.series, 2): return JobOrder(job, input: descriptors[0], output: descriptors[1])
    default: return nil
    }
  }

  /// Returns a range of the input of the current job, which the daemon sends. Blocks. Returns `nil` if it cannot be read.
  static func input(at offset: Int64, count: Int) -> [UInt8]? {
    let message = InputRequest(offset: offset, count: count).message
    guard unsafe ffmount_send(descriptor, message, message.count, nil, 0) == message.count else { return nil }
    var reply = [UInt8](repeating: 0, count: count + 1)
    var descriptors = [Int32](repeating: -1, count: Int(FFMOUNT_MOST_DESCRIPTORS))
    var (came, size) = (0, 0)
    repeat {
      size = unsafe ffmount_receive(descriptor, &reply, reply.count, &descriptors, &came)
    } while size < 0 && errno == EINTR
    guard size == count + 1, came == 0, reply[0] == 1 else { return nil }
    reply.removeFirst()
    return reply
  }

  /// Stops receiving jobs. The next sender gets an error and passes its job to another worker.
  func close() { _ = shutdown(JobSocket.descriptor, Int32(SHUT_RD)) }

  /// Sends an answer. Returns false if the other end is closed.
  static func send(_ answer: JobAnswer) -> Bool {
    let message = answer.message
    return unsafe ffmount_send(JobSocket.descriptor, message, message.count, nil, 0) == message.count
  }
}
