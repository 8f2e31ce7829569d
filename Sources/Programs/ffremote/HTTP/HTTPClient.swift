import Assembly
import CCurl
import Glibc
import ServerAnswers
import Synchronization
import Threads

/// The HTTP client thread. It runs all requests concurrently and never blocks on one of them.
@safe final class HTTPClient: Wire, @unchecked Sendable {
  // Sendable: `orders` is Sendable, `lastHeard` is atomic, and libcurl lets any thread wake the waiting one. Everything
  // else belongs to the thread, or is set before it runs.
  private let settings: WireSettings
  private let multi: UnsafeMutableRawPointer
  private var transfers: [UnsafeMutableRawPointer: Transfer] = unsafe [:]
  /// Reusable handles for the next requests.
  private var spare: [UnsafeMutableRawPointer] = unsafe []
  private var timers = WireTimers()
  /// The current URLs of redirected requests, by their own URLs.
  private var redirections: [String: (target: HTTPExchange.Redirected, until: UInt64)] = [:]
  private let orders = WireOrders()
  private let thread = ThreadPool(atMost: 1)
  /// The time at which anything last arrived from the server, in nanoseconds.
  private let lastHeard = Atomic<UInt64>(0)
  /// The maximum time without bytes from the server while a response is expected, in nanoseconds.
  private let silence: UInt64
  /// The action when the server has been silent for a while: a probe request.
  private var whenQuiet: @Sendable () -> Void = {}

  /// The silence after which the server is probed, in nanoseconds.
  private static let quietTime: UInt64 = 5_000_000_000
  private static let round: UInt64 = 1_000_000_000
  /// The maximum time between two pieces of a response that does not end, in nanoseconds.
  private static let longestPause: UInt64 = 45_000_000_000
  private static let mostConnections = 64
  private static let mostKept = 16
  /// The time for which a redirection is remembered, in nanoseconds. Signed URLs expire.
  private static let redirectionLifetime: UInt64 = 60_000_000_000
  private static let mostRedirections = 5
  private static let mostRemembered = 1000

  /// - Throws: a refusal if libcurl cannot be used.
  init(_ settings: WireSettings, silence seconds: Int, whenQuiet: @escaping @Sendable (HTTPClient) -> Void) throws {
    self.settings = settings
    silence = UInt64(seconds) * 1_000_000_000
    _ = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    guard let made = unsafe curl_multi_init() else { throw Refusal(.failure, "cannot start: no memory for libcurl") }
    unsafe multi = unsafe made
    _ = unsafe ffmount_curl_set_all(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, Self.mostConnections)
    _ = unsafe ffmount_curl_set_all(multi, CURLMOPT_MAXCONNECTS, Self.mostKept)
    self.whenQuiet = { [weak self] in if let self { whenQuiet(self) } }
    thread.submit { [self] in run() }
  }

  // MARK: Methods for any thread

  func start(_ question: HTTPExchange, token: String?, _ receiver: any Receiver) {
    add(.start(question, receiver, token: token))
  }

  func cancel(_ receiver: any Receiver) { add(.cancel(receiver)) }

  func resume(_ receiver: any Receiver) { add(.resume(receiver)) }

  func after(milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
    add(.later(at: Self.now + UInt64(milliseconds) * 1_000_000, body))
  }

  func stop() {
    orders.end()
    _ = unsafe curl_multi_wakeup(multi)
    thread.stop()
  }

  private func add(_ order: WireOrders.Order) {
    if orders.add(order) { _ = unsafe curl_multi_wakeup(multi) }
  }

  static var now: UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  // MARK: The thread

  private func run() {
    var nextRound = Self.now + Self.round
    while let orders = orders.take() {
      for order in orders { follow(order) }
      for body in timers.takeDue(at: Self.now) { body() }
      var running: Int32 = 0
      _ = unsafe curl_multi_perform(multi, &running)
      collect()
      let now = Self.now
      if now >= nextRound {
        nextRound = now + Self.round
        look(at: now)
      }
      if self.orders.areDue { continue }
      var until = unsafe transfers.isEmpty ? now + 60 * Self.round : nextRound
      if let first = timers.next { until = min(until, first) }
      var count: Int32 = 0
      let pause = until > now ? Int32((until - now) / 1_000_000) + 1 : 0
      _ = unsafe curl_multi_poll(multi, nil, 0, pause, &count)
    }
    for transfer in unsafe transfers.values.map({ $0 }) { finish(transfer, .failed("the mount is ending")) }
    // `multi` exists until the process exits: another thread may be about to wake it.
  }

  private func follow(_ order: WireOrders.Order) {
    switch order {
    case .start(let question, let receiver, let token): begin(question, receiver, token)
    case .cancel(let receiver):
      if let transfer = transfer(of: receiver) { remove(transfer) }
    case .resume(let receiver): transfer(of: receiver)?.resume()
    case .later(let time, let body): timers.add(at: time, body)
    }
  }

  private func transfer(of receiver: any Receiver) -> Transfer? {
    unsafe transfers.values.first { $0.receiver === receiver }
  }

  private func begin(_ question: HTTPExchange, _ receiver: any Receiver, _ token: String?) {
    var question = question
    if question.redirected == nil, let known = redirections[settings.base + question.target], known.until > Self.now {
      question.redirected = known.target
    }
    guard let easy = unsafe spare.popLast() ?? curl_easy_init() else {
      return receiver.end(.failed("out of memory"))
    }
    let transfer = unsafe Transfer(easy, question, receiver, settings, token: token) { [self] in
      lastHeard.store(Self.now, ordering: .relaxed)
    }
    unsafe transfers[easy] = transfer
    _ = unsafe curl_multi_add_handle(multi, easy)
  }

  private func collect() {
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let easy = unsafe message.pointee.easy_handle,
        let transfer = unsafe transfers[easy]
      else { continue }
      let code = unsafe ffmount_curl_result(message)
      if transfer.isDiversion, code == CURLE_OK {
        divert(transfer)
      } else {
        finish(transfer, transfer.outcome(code))
      }
    }
  }

  /// Sends a redirected request to its target, or one to an outdated target again.
  private func divert(_ transfer: Transfer) {
    var question = transfer.exchange
    let own = settings.base + question.target
    do throws(Diversion) {
      question.redirected = try redirected(transfer)
    } catch { return finish(transfer, .failed(error.reason)) }
    if redirections.count >= Self.mostRemembered { redirections = [:] }
    if var target = question.redirected {
      (target.isRemembered, target.count) = (true, 0)
      redirections[own] = (target, Self.now + Self.redirectionLifetime)
    } else {
      redirections[own] = nil
    }
    remove(transfer)
    begin(question, transfer.receiver, transfer.token)
  }

  private struct Diversion: Error { let reason: String }

  /// Returns the target of a redirection. Returns `nil` if the request has to be sent to its own URL again.
  private func redirected(_ transfer: Transfer) throws(Diversion) -> HTTPExchange.Redirected? {
    let before = transfer.exchange.redirected
    guard let url = transfer.redirection else {
      if before?.isRemembered ?? false { return nil }
      throw Diversion(reason: "it redirects without saying where to")
    }
    let count = (before?.count ?? 0) + 1
    guard count <= Self.mostRedirections else { throw Diversion(reason: "it redirects again and again") }
    let base = WebOrigin(of: settings.base)
    let wasAbroad = before?.isAbroad ?? false
    let current = before.flatMap { WebOrigin(of: $0.url) } ?? base
    switch current?.redirection(to: url) ?? .refused {
    case .same: return HTTPExchange.Redirected(url: url, isAbroad: wasAbroad, count: count)
    // A server elsewhere does not lead back: nothing would tell its requests from those of this process.
    case .other where !wasAbroad || WebOrigin(of: url) != base:
      return HTTPExchange.Redirected(url: url, isAbroad: true, count: count)
    case .other, .refused:
      throw Diversion(reason: "it redirects to \(url.prefix(256)), which is not followed (mount that instead)")
    }
  }

  private func finish(_ transfer: Transfer, _ outcome: Outcome) {
    remove(transfer)
    transfer.receiver.end(outcome)
  }

  private func remove(_ transfer: Transfer) {
    unsafe transfers[transfer.easy] = nil
    _ = unsafe curl_multi_remove_handle(multi, transfer.easy)
    if unsafe spare.count < Self.mostKept {
      unsafe curl_easy_reset(transfer.easy)
      unsafe spare.append(transfer.easy)
    } else {
      unsafe curl_easy_cleanup(transfer.easy)
    }
  }

  /// Ends requests to a server that has been silent for too long. While it works on a slow response, such as a film
  /// being converted, it answers other requests.
  private func look(at now: UInt64) {
    let heard = lastHeard.load(ordering: .relaxed)
    var isQuiet = false
    for transfer in unsafe Array(transfers.values) where !transfer.isPaused {
      if transfer.exchange.isEndless {
        if now - min(now, transfer.heardAt) > Self.longestPause { finish(transfer, .lost("no more events")) }
        continue
      }
      if transfer.drips(at: now) {
        finish(transfer, .lost("the answer is too slow"))
        continue
      }
      let quiet = now - min(now, transfer.heardAt)
      if quiet > Self.quietTime { isQuiet = true }
      if quiet > silence, now - min(now, heard) > silence { finish(transfer, .silent) }
    }
    if isQuiet { whenQuiet() }
  }
}
