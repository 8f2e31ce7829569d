import CCurl
import Glibc
import ServerAnswers

/// A request in progress. Belongs to the wire's thread.
@safe final class Transfer {
  let easy: UnsafeMutableRawPointer
  let receiver: any Receiver
  let exchange: HTTPExchange
  let token: String?
  private let url: String
  private var headers: UnsafeMutablePointer<curl_slist>?
  private var head = AnswerHead()
  private var hasBegun = false
  /// Whether the receiver ended the request.
  private(set) var isStopped = false
  private(set) var isPaused = false
  /// Whether the response is a redirection to follow, or its URL is no longer valid. The receiver does not get it.
  private(set) var isDiversion = false
  /// Whether the server has led to an address that is not public.
  private var isBarred = false
  private let followsRedirections: Bool
  /// The time at which bytes last arrived, or the request began, in nanoseconds.
  private(set) var heardAt: UInt64
  private let heard: () -> Void
  /// The number of bytes of the body since `countedAt`. A slow trickle counts as a lost connection.
  private var counted = 0
  private var countedAt: UInt64
  private let errors: UnsafeMutablePointer<CChar>

  /// The minimum speed of a body once it has begun: bytes in a period, in nanoseconds.
  private static let slowest = (bytes: 1024, period: UInt64(30_000_000_000))
  /// The maximum size of the body of a redirection, in bytes.
  private static let longestDiversion = 64 << 10

  init(
    _ easy: UnsafeMutableRawPointer, _ question: HTTPExchange, _ receiver: any Receiver, _ settings: WireSettings,
    token: String?, heard: @escaping () -> Void
  ) {
    unsafe self.easy = unsafe easy
    self.receiver = receiver
    exchange = question
    url = question.redirected?.url ?? settings.base + question.target
    self.token = token
    self.heard = heard
    followsRedirections = settings.followsRedirections
    heardAt = HTTPClient.now
    countedAt = heardAt
    unsafe errors = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errors.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    let isAbroad = question.redirected?.isAbroad ?? false
    let secret = isAbroad ? nil : token.map { "Authorization: Bearer \($0)" }
    let signing = isAbroad ? nil : settings.signing
    for header in question.headers + (secret.map { [$0] } ?? []) + (signing?.headers ?? []) {
      unsafe headers = curl_slist_append(headers, header)
    }
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe settings.apply(to: easy)
    unsafe signing?.apply(to: easy)
    if settings.usesPasswordFile, !isAbroad {
      _ = unsafe ffmount_curl_set(easy, CURLOPT_NETRC, ffmount_curl_netrc_optional())
      _ = unsafe ffmount_curl_set(easy, CURLOPT_HTTPAUTH, 1)
    }
    if question.method == "HEAD" { _ = unsafe ffmount_curl_set(easy, CURLOPT_NOBODY, 1) }
    if let upload = question.upload { unsafe give(upload, context) }
    if let content = question.content {
      _ = unsafe ffmount_curl_set_text(easy, CURLOPT_COPYPOSTFIELDS, content)
    }
    if !["GET", "HEAD"].contains(question.method) {
      _ = unsafe ffmount_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, question.method)
    }
    if isAbroad {
      _ = unsafe ffmount_curl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context)
      _ = unsafe ffmount_curl_set_opener(easy) { context, _, address in
        guard let context = unsafe context, let address = unsafe address else { return CURL_SOCKET_BAD }
        let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return unsafe transfer.openPublic(address)
      }
    }
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

  /// The number of bytes of the body that have been sent.
  private var sent: Int64 = 0

  /// Has libcurl read the body of the request from a file.
  private func give(_ upload: HTTPExchange.Upload, _ context: UnsafeMutableRawPointer) {
    _ = unsafe ffmount_curl_set(easy, CURLOPT_UPLOAD, 1)
    _ = unsafe ffmount_curl_set_size(easy, CURLOPT_INFILESIZE_LARGE, Int(upload.size - upload.start))
    _ = unsafe ffmount_curl_set_pointer(easy, CURLOPT_READDATA, context)
    _ = unsafe ffmount_curl_set_pointer(easy, CURLOPT_SEEKDATA, context)
    _ = unsafe ffmount_curl_set_taker(easy, CURLOPT_READFUNCTION) { bytes, size, count, context in
      guard let context = unsafe context else { return ffmount_curl_abort() }
      let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      return unsafe transfer.giveBody(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
    }
    // A kept connection may turn out to be closed when some of the body has been sent.
    _ = unsafe ffmount_curl_set_seeker(easy) { context, offset, origin in
      guard let context = unsafe context, origin == SEEK_SET else { return Int32(CURL_SEEKFUNC_FAIL) }
      unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().sent = Int64(offset)
      return Int32(CURL_SEEKFUNC_OK)
    }
  }

  private func giveBody(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    heardAt = HTTPClient.now
    guard let upload = exchange.upload, let count = unsafe upload.read(into: buffer, at: upload.start + sent) else {
      return ffmount_curl_abort()
    }
    sent += Int64(count)
    return count
  }

  private var diverted = 0

  /// Opens a socket for an address, if that is public.
  private func openPublic(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    let family = unsafe address.pointee.family
    // The address is larger than its declaration. Before it are the family, the port, and for IPv6 the flow.
    let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
    let count = Int(min(unsafe address.pointee.addrlen, 128))
    let bytes = unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + offset, count: count)
    let host: [UInt8]
    switch family {
    case AF_INET where count >= 8: host = unsafe Array(bytes[4..<8])
    case AF_INET6 where count >= 24: host = unsafe Array(bytes[8..<24])
    default: host = []
    }
    guard PublicAddress.contains(host) else {
      isBarred = true
      return CURL_SOCKET_BAD
    }
    return unsafe socket(
      family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
  }

  /// The absolute target of a redirection. Nil if the response is not one, or its target is not a URL.
  var redirection: String? {
    guard (300..<400).contains(head.status), let location = head.location,
      let resolved = unsafe ffmount_curl_resolved(url, location)
    else { return nil }
    defer { unsafe curl_free(resolved) }
    return unsafe String(cString: resolved)
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
    let isOutdated = exchange.redirected?.isRemembered ?? false && head.status >= 400
    isDiversion = isOutdated || followsRedirections && [301, 302, 303, 307, 308].contains(head.status)
    if isDiversion { return true }
    isStopped = !receiver.begin(head)
    return !isStopped
  }

  private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
    noteHeard()
    counted += bytes.count
    if isDiversion {
      diverted += bytes.count
      return diverted <= Self.longestDiversion ? bytes.count : 0
    }
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
    if isBarred, let url = exchange.redirected?.url {
      return .failed("it redirects to \(url.prefix(256)), which is not a public address (mount that instead)")
    }
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
