import CFuse3
import Glibc
import Synchronization

@testable import FuseLink

/// Sends a file system the requests of the kernel, message by message, without a mount: so a reply can be observed from
/// both sides.
///
/// Requests are sent on the caller's thread; later replies can be waited for.
@safe final class FakeKernel: @unchecked Sendable {
  // Sendable: libfuse allows its session to be used from any thread, and replies come from several.
  private let session: OpaquePointer
  private let anchor: Session.Anchor
  /// The socket on which replies arrive.
  private let socket: Int32
  private let count = Atomic<UInt64>(0)

  struct Answer: Equatable {
    let question: UInt64
    /// 0 for success.
    let errno: Int32
    let bytes: [UInt8]
    /// The node in the reply to a lookup.
    var node: UInt64 { bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
  }

  struct Failure: Error { let what: String }

  init(_ fileSystem: any FileSystem) throws {
    anchor = Session.Anchor(fileSystem)
    var ends: [Int32] = [0, 0]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else {
      throw Failure(what: "socketpair: errno \(errno)")
    }
    socket = ends[0]
    var words = unsafe [strdup("test")]
    defer { unsafe free(words[0]) }
    let user = unsafe Unmanaged.passUnretained(anchor).toOpaque()
    let made = unsafe words.withUnsafeMutableBufferPointer { words -> OpaquePointer? in
      var arguments = unsafe fuse_args(argc: 1, argv: words.baseAddress, allocated: 0)
      var table = Operations.table(isWritable: false)
      return unsafe ffmount_session_new(&arguments, &table, MemoryLayout<fuse_lowlevel_ops>.size, user)
    }
    guard let made = unsafe made else { throw Failure(what: "fuse_session_new") }
    unsafe session = made
    // Later releases of libfuse have more members.
    var io = fuse_custom_io()
    unsafe io.writev = { descriptor, parts, count, _ in
      // The kernel's error for a reply to a request that nobody waits for any more.
      if FakeKernel.deaf.withLock({ $0.contains(descriptor) }) {
        errno = ENOENT
        return -1
      }
      return unsafe Glibc.writev(descriptor, parts, count)
    }
    unsafe io.read = { descriptor, bytes, count, _ in unsafe Glibc.read(descriptor, bytes, count) }
    // Takes over the descriptor.
    own = ends[1]
    guard unsafe fuse_session_custom_io(session, &io, ends[1]) == 0 else { throw Failure(what: "custom_io") }
    // INIT of protocol version 7.31, without optional features.
    let question = ask(26, node: 0, packed([7, 31, 65536, 0]))
    guard try answer(to: question).errno == 0 else { throw Failure(what: "INIT") }
  }

  private let own: Int32
  /// The sockets that reject replies.
  private static let deaf = Mutex<Set<Int32>>([])

  deinit {
    _ = FakeKernel.deaf.withLock { $0.remove(own) }
    unsafe fuse_session_destroy(session)
    close(socket)
  }

  /// Whether replies are accepted.
  var takesAnswers: Bool {
    get { FakeKernel.deaf.withLock { !$0.contains(own) } }
    set {
      FakeKernel.deaf.withLock { deaf in
        if newValue { deaf.remove(own) } else { deaf.insert(own) }
      }
    }
  }

  // MARK: Requests

  func lookUp(_ name: String, in folder: UInt64) -> UInt64 { ask(1, node: folder, Array(name.utf8) + [0]) }
  /// The number of the last request.
  var lastQuestion: UInt64 { 2 * count.load(ordering: .relaxed) }
  func open(_ node: UInt64) -> UInt64 { ask(14, node: node, packed([0, 0])) }
  /// Reports that the calling process was interrupted.
  func interrupt(_ question: UInt64) {
    _ = ask(36, node: 0, (0..<8).map { UInt8(truncatingIfNeeded: question >> (8 * $0)) })
  }

  /// The RELEASE requests in progress.
  var releases: ReleaseCount { anchor.handles.releases }

  private func packed(_ words: [UInt32]) -> [UInt8] {
    words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  /// Returns the unique number of the request.
  private func ask(_ operation: UInt32, node: UInt64, _ body: [UInt8]) -> UInt64 {
    // The kernel uses odd numbers for interrupts; this makes no difference here.
    let number = 2 * count.add(1, ordering: .relaxed).newValue
    var message = packed([UInt32(40 + body.count), operation, UInt32(number), 0])
    message += packed([UInt32(truncatingIfNeeded: node), UInt32(node >> 32), 0, 0, UInt32(getpid()), 0]) + body
    unsafe message.withUnsafeMutableBytes { bytes in
      var buffer = unsafe fuse_buf()
      unsafe buffer.mem = bytes.baseAddress
      unsafe buffer.size = bytes.count
      unsafe fuse_session_process_buf(session, &buffer)
    }
    return number
  }

  // MARK: Replies

  /// Waits for the next reply, which must be to this request; ten seconds at most.
  func answer(to question: UInt64) throws -> Answer {
    var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&wanted, 1, 10_000) == 1 else { throw Failure(what: "no answer") }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe read(socket, &bytes, bytes.count)
    guard count >= 16 else { throw Failure(what: "an answer of \(count) bytes") }
    func number(_ start: Int, _ count: Int) -> UInt64 {
      bytes[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    let answer = Answer(
      question: number(8, 8), errno: -Int32(truncatingIfNeeded: number(4, 4)), bytes: Array(bytes[16..<count]))
    guard answer.question == question else { throw Failure(what: "an answer to question \(answer.question)") }
    return answer
  }
}
