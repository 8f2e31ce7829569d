import Assembly
import Bytes
import Files
import Glibc
import ServerAnswers
import Text
import Threads

/// The client of SFTP on the standard streams of the program ssh, which makes the connection. One thread runs all
/// requests concurrently.
///
/// A request is an exchange whose method is STAT, LSTAT, LIST or GET, and whose target is a path. Its response has the
/// status that a web server would give.
@safe final class SFTPClient: Wire, @unchecked Sendable {
  // Sendable: `orders` is Sendable. Everything else belongs to the thread, or is set before it runs.
  private let command: [String]
  private let orders = WireOrders()
  private let thread = ThreadPool(atMost: 1)
  /// The maximum time without bytes from the server while a response is expected, in nanoseconds.
  private let silence: UInt64
  /// The ends of a pipe that wakes the thread.
  private let waking: (reading: Int32, writing: Int32)

  private var connection: SFTPConnection?
  private var transfers: [ObjectIdentifier: SFTPTransfer] = [:]
  private var waiting: [UInt32: (transfer: SFTPTransfer, done: (SFTPMessage.Response, [UInt8]) -> Void)] = [:]
  private var lastID: UInt32 = 0
  private var timers = WireTimers()

  private static let round: UInt64 = 1_000_000_000

  /// - Parameter command: the words that start ssh.
  /// - Throws: a refusal if the system has no room for the client.
  init(_ command: [String], silence seconds: Int) throws {
    self.command = command
    silence = UInt64(seconds) * 1_000_000_000
    guard let ends = SFTPConnection.pipe() else { throw Refusal(.failure, "cannot start: pipe: \(describe(errno))") }
    for end in [ends.reading, ends.writing] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    waking = ends
    thread.submit { [self] in run() }
  }

  // MARK: Methods for any thread

  func start(_ question: HTTPExchange, token: String?, _ receiver: any Receiver) {
    add(.start(question, receiver, token: nil))
  }

  func cancel(_ receiver: any Receiver) { add(.cancel(receiver)) }

  func resume(_ receiver: any Receiver) { add(.resume(receiver)) }

  func after(milliseconds: Int, _ body: @escaping @Sendable () -> Void) {
    add(.later(at: HTTPClient.now + UInt64(milliseconds) * 1_000_000, body))
  }

  func stop() {
    orders.end()
    wake()
    thread.stop()
  }

  private func add(_ order: WireOrders.Order) {
    if orders.add(order) { wake() }
  }

  private func wake() {
    var byte: UInt8 = 0
    unsafe _ = write(waking.writing, &byte, 1)
  }

  // MARK: The thread

  private func run() {
    var nextRound = HTTPClient.now + Self.round
    while let orders = orders.take() {
      for order in orders { follow(order) }
      for body in timers.takeDue(at: HTTPClient.now) { body() }
      let now = HTTPClient.now
      if now >= nextRound {
        nextRound = now + Self.round
        look(at: now)
      }
      if self.orders.areDue { continue }
      var until = transfers.isEmpty ? now + 60 * Self.round : nextRound
      if let first = timers.next { until = min(until, first) }
      wait(until > now ? Int32(min((until - now) / 1_000_000 + 1, 60_000)) : 0)
    }
    connection?.end()
    for transfer in transfers.values { transfer.receiver.end(.failed("the mount is ending")) }
    // The descriptors exist until the process exits: another thread may be about to wake this one.
  }

  private func follow(_ order: WireOrders.Order) {
    switch order {
    case .start(let exchange, let receiver, _):
      let transfer = SFTPTransfer(exchange, receiver, self)
      transfers[ObjectIdentifier(receiver)] = transfer
      begin(transfer)
    case .cancel(let receiver): transfers.removeValue(forKey: ObjectIdentifier(receiver))?.cancel()
    case .resume(let receiver): transfers[ObjectIdentifier(receiver)]?.resume()
    case .later(let time, let body): timers.add(at: time, body)
    }
  }

  /// Waits for orders, and for bytes in both directions.
  private func wait(_ milliseconds: Int32) {
    var watched = [pollfd(fd: waking.reading, events: Int16(POLLIN), revents: 0)]
    if let connection { watched += connection.watched }
    guard unsafe poll(&watched, nfds_t(watched.count), milliseconds) > 0 else { return }
    var bytes = [UInt8](repeating: 0, count: 64)
    if watched[0].revents != 0 { unsafe _ = read(waking.reading, &bytes, bytes.count) }
    guard let connection else { return }
    do throws(SFTPConnection.Lost) {
      try connection.advance()
      while let packet = try connection.next() { try take(packet, from: connection) }
    } catch { lose(error.reason) }
  }

  private func take(_ packet: [UInt8], from connection: SFTPConnection) throws(SFTPConnection.Lost) {
    let found: (id: UInt32, response: SFTPMessage.Response)
    do throws(Fault) { found = try SFTPMessage.response(packet[...]) } catch {
      throw SFTPConnection.Lost(reason: error.reason)
    }
    if case .version(let version) = found.response {
      guard version >= 3, !connection.isReady else { throw SFTPConnection.Lost(reason: "it has no SFTP version 3") }
      connection.isReady = true
      for transfer in transfers.values where !transfer.hasBegun { transfer.begin() }
      return
    }
    guard let (_, done) = waiting.removeValue(forKey: found.id) else {
      throw SFTPConnection.Lost(reason: "it answers what it was not asked")
    }
    done(found.response, packet)
  }

  private func begin(_ transfer: SFTPTransfer) {
    if let connection {
      if connection.isReady { transfer.begin() }
      return
    }
    do throws(SFTPConnection.Lost) { connection = try SFTPConnection(command) } catch {
      transfers[ObjectIdentifier(transfer.receiver)] = nil
      transfer.receiver.end(.away(error.reason))
    }
  }

  /// Ends the connection and all requests.
  private func lose(_ reason: String, isSilent: Bool = false) {
    guard let connection else { return }
    let wasReady = connection.isReady
    self.connection = nil
    connection.end()
    waiting = [:]
    let ended = transfers.values
    transfers = [:]
    for transfer in ended {
      transfer.receiver.end(isSilent ? .silent : wasReady ? .lost(reason) : .away(reason))
    }
  }

  /// Ends the connection to a server that has been silent for too long.
  private func look(at now: UInt64) {
    for transfer in Array(transfers.values) {
      if let limit = transfer.exchange.limit, now > transfer.beganAt + UInt64(limit) * 1_000_000 {
        transfer.cancel()
        finish(transfer, .away("it has not answered in time"))
      }
    }
    guard let connection, !waiting.isEmpty || !connection.isReady, !transfers.isEmpty else { return }
    if now > connection.heardAt + silence { lose("it does not answer", isSilent: true) }
  }

  // MARK: Methods for transfers

  /// Sends a request. `done` gets the response and its packet.
  func ask(
    _ transfer: SFTPTransfer, _ kind: SFTPMessage.Kind, _ strings: [[UInt8]], rest: [UInt8] = [],
    _ done: @escaping (SFTPMessage.Response, [UInt8]) -> Void
  ) {
    guard let connection else { return }
    if waiting.isEmpty { connection.heardAt = HTTPClient.now }
    repeat { lastID &+= 1 } while waiting[lastID] != nil
    waiting[lastID] = (transfer, done)
    connection.send(SFTPMessage.request(kind, id: lastID, strings, rest: rest))
  }

  func finish(_ transfer: SFTPTransfer, _ outcome: Outcome) {
    guard transfers.removeValue(forKey: ObjectIdentifier(transfer.receiver)) != nil else { return }
    transfer.receiver.end(outcome)
  }
}
