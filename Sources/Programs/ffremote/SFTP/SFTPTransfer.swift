import Bytes
import ServerAnswers
import Text

/// A request of SFTP in progress. Belongs to the thread of the client.
final class SFTPTransfer {
  let exchange: HTTPExchange
  let receiver: any Receiver
  let beganAt = HTTPClient.now
  private unowned let client: SFTPClient
  private let path: [UInt8]
  private(set) var hasBegun = false
  private var isEnded = false
  private var handle: [UInt8]?

  // A directory.
  private var names: [(name: [UInt8], attributes: SFTPMessage.Attributes, target: [UInt8]?)] = []
  /// The number of requests whose responses are outstanding.
  private var asked = 0
  private var isListed = false

  // A file.
  private var version: SFTPMessage.Attributes?
  private var range: Range<Int64> = 0..<0
  private var requested: Int64 = 0
  private var pieces: [Piece] = []
  private var isPaused = false
  private var isDelivering = false

  /// A part of the range. It is delivered once a check that was sent after its request has found the same version.
  private final class Piece {
    let offset: Int64
    let count: Int
    var bytes: [UInt8] = []
    let isCheck: Bool
    /// The number of outstanding responses of a check.
    var pending = 0

    init(offset: Int64, count: Int, isCheck: Bool) {
      (self.offset, self.count, self.isCheck) = (offset, count, isCheck)
    }
  }

  /// The size of a read, in bytes. All servers permit this.
  private static let piece = 32 << 10
  /// The maximum number of reads between two checks, and of pieces in flight or not yet delivered.
  private static let mostUnchecked: Int64 = 16
  private static let mostPieces = 68
  private static let mostListings = 4

  init(_ exchange: HTTPExchange, _ receiver: any Receiver, _ client: SFTPClient) {
    (self.exchange, self.receiver, self.client) = (exchange, receiver, client)
    path = Percent.decoded(Array(exchange.target.utf8)) ?? []
  }

  func begin() {
    hasBegun = true
    switch exchange.method {
    case "STAT": look(.stat)
    case "LSTAT": look(.lstat)
    case "LIST": list()
    default: open()
    }
  }

  /// Ends the request without telling the receiver.
  func cancel() {
    isEnded = true
    release()
  }

  private func release() {
    guard let handle else { return }
    self.handle = nil
    client.ask(self, .close, [handle]) { _, _ in }
  }

  private func finish(_ outcome: Outcome) {
    guard !isEnded else { return }
    cancel()
    client.finish(self, outcome)
  }

  /// Responds with a head, and a body that is complete.
  private func answer(_ head: AnswerHead, _ body: [UInt8] = []) {
    guard !isEnded else { return }
    guard receiver.begin(head) else { return finish(.stopped) }
    var rest = body[...]
    while !rest.isEmpty {
      let part = rest.prefix(64 << 10)
      rest = rest.dropFirst(part.count)
      // Only streams of files can be paused.
      if case .taken = unsafe part.withUnsafeBytes({ unsafe receiver.take($0) }) { continue }
      return finish(.stopped)
    }
    finish(.complete)
  }

  private func answer(_ status: Int, _ body: [UInt8] = []) {
    var head = AnswerHead()
    head.status = status
    answer(head, body)
  }

  /// Responds to a failure of the server.
  private func fail(_ response: SFTPMessage.Response) {
    guard case .status(let code, let message) = response else {
      return finish(.failed("its answer has the wrong type"))
    }
    answer(code == 2 ? 404 : code == 3 ? 403 : 500, Array(message.utf8))
  }

  // MARK: Attributes

  private func look(_ kind: SFTPMessage.Kind) {
    client.ask(self, kind, [path]) { [self] response, _ in
      guard case .attributes(let found) = response else { return fail(response) }
      names = [([], found, nil)]
      resolveLinks()
    }
  }

  /// Reads the targets of the links, and responds with all entries.
  private func resolveLinks() {
    asked = 1
    for index in names.indices where names[index].attributes.kind == .link {
      asked += 1
      let link = names[index].name.isEmpty ? path : path + [UInt8(ascii: "/")] + names[index].name
      client.ask(self, .readlink, [link]) { [self] response, _ in
        if case .names(let targets) = response, let target = targets.first { names[index].target = target.name }
        resolved()
      }
    }
    resolved()
  }

  private func resolved() {
    asked -= 1
    guard asked == 0, !isEnded else { return }
    answer(200, SFTPSource.encoded(names.map { (FileName($0.name), $0.attributes, $0.target) }))
  }

  // MARK: Listings

  private func list() {
    client.ask(self, .opendir, [path]) { [self] response, _ in
      guard case .handle(let handle) = response else { return fail(response) }
      self.handle = handle
      if isEnded { return release() }
      for _ in 0..<Self.mostListings { readDirectory(handle) }
    }
  }

  private func readDirectory(_ handle: [UInt8]) {
    asked += 1
    client.ask(self, .readdir, [handle]) { [self] response, _ in
      asked -= 1
      guard !isEnded else { return }
      switch response {
      case .names(let found):
        for (name, attributes) in found where ServerItem.isName(name) { names.append((name, attributes, nil)) }
        guard names.count <= ServerAnswer.mostItems else {
          return finish(.failed("it lists more than \(ServerAnswer.mostItems) entries in one folder"))
        }
        if !isListed, !found.isEmpty { readDirectory(handle) } else { isListed = true }
      case .status(1, _): isListed = true
      default: return fail(response)
      }
      guard isListed, asked == 0 else { return }
      release()
      resolveLinks()
    }
  }

  // MARK: Files

  private func header(_ name: String) -> String? {
    exchange.headers.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
  }

  private func open() {
    // Opened for reading, without attributes.
    client.ask(self, .open, [path], rest: [0, 0, 0, 1, 0, 0, 0, 0]) { [self] response, _ in
      guard case .handle(let handle) = response else { return fail(response) }
      self.handle = handle
      if isEnded { return release() }
      client.ask(self, .fstat, [handle]) { [self] response, _ in
        guard !isEnded else { return }
        guard case .attributes(let found) = response else { return fail(response) }
        begin(found)
      }
    }
  }

  private func begin(_ found: SFTPMessage.Attributes) {
    guard found.kind == .file, let size = found.size else { return answer(403, Array("not a file".utf8)) }
    version = found
    var head = AnswerHead()
    (head.tag, head.version, head.modified) = (found.tag, found.tag, found.modified)
    if header("If-None-Match") == found.tag {
      head.status = 304
      return answer(head)
    }
    let words = (header("Range") ?? "bytes=0-").dropFirst("bytes=".count).split(separator: "-")
    let first = words.first.flatMap { Int64($0) } ?? 0
    let last = words.count > 1 ? Int64(words[1]) ?? Int64.max : Int64.max
    guard first < size else {
      (head.status, head.sizeAlone) = (416, size)
      return answer(head)
    }
    range = first..<min(size - 1, max(first, last)) + 1
    (head.status, head.part, head.length) = (206, (range, size), range.upperBound - range.lowerBound)
    requested = first
    guard receiver.begin(head) else { return finish(.stopped) }
    request()
  }

  /// Requests as many pieces as can be in flight.
  private func request() {
    while requested < range.upperBound, pieces.count < Self.mostPieces {
      let count = Int(min(Int64(Self.piece), range.upperBound - requested))
      let piece = Piece(offset: requested, count: count, isCheck: false)
      pieces.append(piece)
      fill(piece)
      requested += Int64(count)
      let isDue = (requested - range.lowerBound) % (Int64(Self.piece) * Self.mostUnchecked) == 0
      guard isDue || requested == range.upperBound else { continue }
      let check = Piece(offset: requested, count: 0, isCheck: true)
      pieces.append(check)
      verify(check)
    }
  }

  private func verify(_ check: Piece) {
    guard let handle else { return }
    check.pending += 1
    client.ask(self, .fstat, [handle]) { [self] response, _ in
      guard !isEnded else { return }
      guard case .attributes(let now) = response, let version, now.tag == version.tag else {
        return finish(.lost("the file changes while it is read"))
      }
      check.pending -= 1
      deliver()
    }
  }

  /// Requests the bytes that a piece lacks.
  private func fill(_ piece: Piece) {
    guard let handle else { return }
    let have = piece.bytes.count
    let place = [UInt8](bigEndian: UInt64(piece.offset) + UInt64(have)) + [UInt8](bigEndian: UInt32(piece.count - have))
    client.ask(self, .read, [handle], rest: place) { [self] response, packet in
      guard !isEnded else { return }
      switch response {
      case .data(let found) where !found.isEmpty && found.count <= piece.count - have:
        piece.bytes += packet[found]
        if piece.bytes.count < piece.count { return fill(piece) }
        guard have > 0, let index = pieces.firstIndex(where: { $0 === piece }) else { return }
        // The check was sent before the last of these bytes were requested.
        if let check = pieces[index...].first(where: { $0.isCheck }) { verify(check) }
      case .status(1, _): finish(.lost("the file changes while it is read"))
      case .status(let code, let message): finish(.failed(message.isEmpty ? "it answers with \(code)" : message))
      default: finish(.failed("its answer has the wrong type"))
      }
    }
  }

  func resume() {
    isPaused = false
    deliver()
  }

  /// Delivers the pieces up to the last check that has found the same version.
  private func deliver() {
    guard !isPaused, !isDelivering else { return }
    isDelivering = true
    defer { isDelivering = false }
    while let end = pieces.firstIndex(where: { $0.isCheck }), pieces[end].pending == 0 {
      guard pieces[..<end].allSatisfy({ $0.bytes.count == $0.count }) else { return }
      while let piece = pieces.first, !piece.isCheck {
        switch unsafe piece.bytes.withUnsafeBytes({ unsafe receiver.take($0) }) {
        case .taken: pieces.removeFirst()
        case .later:
          isPaused = true
          return
        case .ended: return finish(.stopped)
        }
      }
      pieces.removeFirst()
      // The next groups are requested before the last one of these is delivered.
      if pieces.isEmpty { return finish(.complete) }
      request()
    }
  }
}
