import CCurl
import Glibc

/// A request in progress. Belongs to the wire's thread.
@safe final class Transfer {
  let easy: UnsafeMutableRawPointer
  let receiver: any Receiver
  private var headers: UnsafeMutablePointer<curl_slist>?
  private var head = AnswerHead()
  private var hasBegun = false
  /// Whether the receiver ended the request.
  private(set) var isStopped = false
  private(set) var isPaused = false
  /// The time at which bytes last arrived, or the request began, in nanoseconds.
  private(set) var heardAt: UInt64
  private let heard: () -> Void
  /// The number of bytes of the body since `countedAt`. A slow trickle counts as a lost connection.
  private var counted = 0
  private var countedAt: UInt64
  private let errors: UnsafeMutablePointer<CChar>

  /// The minimum speed of a body once it has begun: bytes in a period, in nanoseconds.
  private static let slowest = (bytes: 1024, period: UInt64(30_000_000_000))

  init(
    _ easy: UnsafeMutableRawPointer, _ question: HTTPExchange, _ receiver: any Receiver, _ settings: WireSettings,
    token: String?, heard: @escaping () -> Void
  ) {
    unsafe self.easy = unsafe easy
    self.receiver = receiver
    self.heard = heard
    heardAt = HTTPClient.now
    countedAt = heardAt
    unsafe errors = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errors.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    for header in question.headers + (token.map { ["Authorization: Bearer \($0)"] } ?? []) {
      unsafe headers = curl_slist_append(headers, header)
    }
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let url = settings.base + question.target
    unsafe settings.apply(to: easy)
    _ = unsafe ffmount_curl_set_text(easy, CURLOPT_URL, url)
    _ = unsafe ffmount_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
    _ = unsafe ffmount_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errors)
    _ = unsafe ffmount_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
    _ = unsafe ffmount_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
    if let limit = question.limit { _ = unsafe ffmount_curl_set(easy, CURLOPT_TIMEOUT_MS, limit) }
    _ = unsafe ffmount_curl_set_taker(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
      guard let context = unsafe context else { return 0 }
      let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
      return unsafe transfer.takeHeader(line) ? line.count : 0
    }
    _ = unsafe ffmount_curl_set_taker(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
      guard let context = unsafe context else { return 0 }
      let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      return unsafe transfer.takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
  }

  deinit {
    unsafe curl_slist_free_all(headers)
    unsafe errors.deallocate()
  }

  private func noteHeard() {
    heardAt = HTTPClient.now
    heard()
  }

  private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    noteHeard()
    guard unsafe head.add(line) else { return false }
    // The empty line after the headers. A 1xx response is not the final one.
    guard line.count <= 2, head.status >= 200, !hasBegun else { return true }
    hasBegun = true
    countedAt = heardAt
    isStopped = !receiver.begin(head)
    return !isStopped
  }

  private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    noteHeard()
    counted += bytes.count
    switch unsafe receiver.take(bytes) {
    case .taken: return bytes.count
    case .later:
      isPaused = true
      return ffmount_curl_pause()
    case .ended:
      isStopped = true
      return 0
    }
  }

  func resume() {
    guard isPaused else { return }
    isPaused = false
    heardAt = HTTPClient.now
    (counted, countedAt) = (0, heardAt)
    _ = unsafe curl_easy_pause(easy, 0)
  }

  /// Returns whether the body arrives so slowly that the connection counts as lost.
  func drips(at now: UInt64) -> Bool {
    guard hasBegun, !isPaused, now - countedAt > Self.slowest.period else { return false }
    defer { (counted, countedAt) = (0, now) }
    return counted < Self.slowest.bytes
  }

  /// Returns the outcome for a result of libcurl.
  func outcome(_ code: CURLcode) -> Outcome {
    if code == CURLE_OK { return hasBegun ? .complete : .lost("no answer") }
    if isStopped { return .stopped }
    let said = unsafe String(cString: errors)
    let reason = said.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : said
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR:
      return .away(reason)
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: return .lost(reason)
    default: return .failed(reason)
    }
  }
}
