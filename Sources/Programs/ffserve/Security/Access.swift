import Bytes
import Locks
import NIOHTTP1
import Synchronization
import Text
import Threads

/// Authorizes requests by Host header and credentials.
final class Access: Sendable {
  enum Verdict: Sendable {
    /// `cookie` is the cookie to set, non-nil if the credentials were passed in the URL or a form.
    case admitted(Account, cookie: String?)
    case refused(Response)
    /// The password has to be compared, which blocks.
    case undecided(@Sendable () throws(Fault) -> Verdict)
  }

  private struct State {
    /// The account of the token, or of a server that requires none.
    var owner: Account?
    var users: [Account] = []
    var accounts = Accounts([])
    var changes = 0
  }

  private let state = UnfairLock(State())
  private let hosts: HostNames
  /// The origins of other pages whose scripts may send requests.
  private let origins: Set<String>
  private let guesses = GuessLimit()
  private let wrong = Atomic<Int>(0)
  /// The counts of links. Nil if there are no users.
  private let visits: Visits?
  /// The digests of recently used names and passwords, so that each request of a program does not hash them slowly.
  private let known = UnfairLock<Set<[UInt8]>>([])
  private let salt = Secret.random()
  /// Held while a password is hashed, which takes much memory.
  private let hashing = CancellableLock()

  private static let mostKnown = 1024

  /// The number of wrong credentials received.
  var wrongTokens: Int { wrong.load(ordering: .relaxed) }

  init(hosts: HostNames, _ visits: Visits? = nil, origins: [String] = []) {
    self.origins = Set(origins)
    self.hosts = hosts
    self.visits = visits
  }

  /// Replaces the account of the token. The cookies of an earlier one are no longer valid.
  ///
  /// - Parameter owner: Nil if only users have access.
  func set(owner: Account?) { set { $0.owner = owner } }

  /// Replaces the users.
  func set(users: [Account]) {
    set { $0.users = users }
    visits?.keep(Set(users.filter { $0.share != nil }.map(\.name)))
  }

  /// The number of times that the accounts have been replaced.
  var changes: Int { state.withLock { $0.changes } }

  private func set(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      state.changes += 1
      state.accounts = Accounts((state.owner.map { [$0] } ?? []) + state.users)
    }
  }

  /// Adds a name of the server.
  func add(name: String) { hosts.add(name) }

  /// Returns whether a host, with or without a port, is this server.
  func isOwn(host: String) -> Bool { hosts.contains(host) }

  /// Returns the origin of a request by a script of another page, if such requests are permitted.
  func origin(of request: HTTPRequest) -> String? {
    origins.isEmpty ? nil : request.header("origin").flatMap { origins.contains($0) ? $0 : nil }
  }

  /// Checks a request. Does not block.
  func check(_ request: HTTPRequest) -> Verdict {
    // Without this check, any page could point its own host name here, and read the responses.
    guard let host = request.host else {
      return .refused(.problem(.badRequest, "the request has no Host header, or several"))
    }
    guard hosts.contains(host) else {
      return .refused(
        .problem(.misdirectedRequest, "the server refuses this name (give it with --name, or use its address)"))
    }
    if origin(of: request) != nil { return identify(request, state.withLock { $0.accounts }) }
    if isCrossSite(request) { return .refused(.problem(.forbidden, "requests from other sites' pages are refused")) }
    if isForeign(request) { return .refused(.problem(.forbidden, "changes by other sites' pages are refused")) }
    if isEmbedded(request) { return .refused(.problem(.forbidden, "this cannot be embedded in a page")) }
    return identify(request, state.withLock { $0.accounts })
  }

  /// Finds the account whose credentials a request has.
  private func identify(_ request: HTTPRequest, _ accounts: Accounts) -> Verdict {
    let now = HTTPDate.now.seconds
    if let open = accounts.open(at: now) { return .admitted(open, cookie: nil) }
    let credentials = GivenCredentials(request)
    // The address of a link has precedence over an earlier one.
    if credentials.areForSession, !credentials.isForm, guesses.permits(request.peer) {
      for token in credentials.tokens {
        if let account = accounts.account(token: token, at: now) { return admitted(account, credentials, request) }
      }
    }
    // Cookies cannot be guessed, and clients with one are not locked out by others' guesses.
    if !credentials.isForm, Self.linkName(request) == nil {
      for cookie in Self.cookies(request) {
        if let account = accounts.account(pass: cookie.utf8, at: now) { return .admitted(account, cookie: nil) }
      }
    }
    if let refusal = refusalOfGuess(request) { return .refused(refusal) }
    for token in credentials.tokens {
      if let account = accounts.account(token: token, at: now) { return admitted(account, credentials, request) }
    }
    guard let (name, password) = credentials.login, accounts.haveNames || Account.Share.isName(name) else {
      return .refused(locked(request, accounts, isWrong: !credentials.tokens.isEmpty))
    }
    let account = accounts.account(name: name, at: now)
    let given: String? = if case .password(let hash)? = account?.credential { hash } else { nil }
    let digest = Secret.digest(Array("\(salt)\0\(name)\0\(given ?? "")\0".utf8) + password)
    if let account, known.withLock({ $0.contains(digest) }) { return admitted(account, credentials, request) }
    return .undecided { [self] () throws(Fault) in
      let hash = given ?? Self.unknownHash
      try hashing.lock()
      defer { hashing.unlock() }
      // Many may have been guessed in the meantime.
      if let refusal = refusalOfGuess(request) { return .refused(refusal) }
      guard PasswordHash.isPassword(password, of: hash), let account else {
        return .refused(locked(request, accounts, isWrong: true))
      }
      known.withLock { known in
        if known.count >= Self.mostKnown { known = [] }
        known.insert(digest)
      }
      return admitted(account, credentials, request)
    }
  }

  /// Compared with the passwords of unknown users, so that the time does not reveal that they are unknown.
  private static let unknownHash = PasswordHash.made(of: Array(Secret.random().utf8)) ?? ""

  private func admitted(_ account: Account, _ credentials: GivenCredentials, _ request: HTTPRequest) -> Verdict {
    if let share = account.share {
      // Requests of a program are not visits, and cannot be counted.
      let isPermitted =
        credentials.areForSession
        ? visits?.note(account.name, atMost: share.most) ?? true : share.most == nil
      guard isPermitted else {
        return .refused(.problem(.forbidden, "the link has been opened as often as it permits, or not in a browser"))
      }
    }
    guard credentials.areForSession, let pass = account.pass else { return .admitted(account, cookie: nil) }
    return .admitted(account, cookie: Self.cookie(pass.hexadecimal, request))
  }

  private func refusalOfGuess(_ request: HTTPRequest) -> Response? {
    guesses.permits(request.peer)
      ? nil : .problem(.tooManyRequests, "too many wrong tokens", headers: [("Retry-After", "60")])
  }

  /// Returns the response to a request without credentials, or with wrong ones.
  private func locked(_ request: HTTPRequest, _ accounts: Accounts, isWrong: Bool) -> Response {
    if isWrong {
      guesses.noteWrong(request.peer)
      wrong.add(1, ordering: .relaxed)
    }
    let isDAV = WebDAV.isAsked(by: request)
    let challenge = isDAV ? "Basic realm=\"ffmount\", charset=\"UTF-8\"" : "Bearer realm=\"ffmount\""
    if !isDAV, request.path == "/" || request.path == Page.login {
      let link = Self.linkName(request)
      return Page.locked(hasNames: accounts.haveNames, isWrong: isWrong, link: link).with("WWW-Authenticate", challenge)
    }
    let hint = accounts.haveNames ? "sign in at the page" : "it is in the address that ffmount serve printed"
    return .problem(
      .unauthorized, "the token or password is missing or wrong: \(hint)", headers: [("WWW-Authenticate", challenge)])
  }

  /// Returns the name of the link whose password is asked for, or sent. Returns `nil` for other requests.
  private static func linkName(_ request: HTTPRequest) -> String? {
    guard request.path == Page.login else { return nil }
    let form = request.method == .POST ? Query(String(decoding: request.body, as: UTF8.self)[...]) : request.query
    return form.text("name").flatMap { Account.Share.isName($0) ? $0 : nil }
  }

  /// Returns whether the request is from a page of another site, according to the browser, and not a navigation to the
  /// page itself.
  private func isCrossSite(_ request: HTTPRequest) -> Bool {
    guard let site = request.header("sec-fetch-site"), site == "cross-site" || site == "same-site" else { return false }
    let isPage = request.header("sec-fetch-mode") == "navigate" && request.header("sec-fetch-dest") == "document"
    return !(isPage && (request.path == "/" || request.path == Page.login))
  }

  /// Returns whether a request that may change something is from a page of another site. Browsers that do not send
  /// Sec-Fetch-Site send Origin (RFC 6454). An address in it does not suffice, because it may be any machine's.
  private func isForeign(_ request: HTTPRequest) -> Bool {
    if !request.isChange { return false }
    let origins = request.headers["origin"]
    if origins.isEmpty || request.header("sec-fetch-site") == "same-origin" { return false }
    return origins.count > 1 || HTTPRequest.parts(of: origins[0][...]).authority.map { String($0) } != request.host
  }

  /// Returns whether a browser makes an API request for a picture or a style. Pages of the tree may load files, but not
  /// cause other work.
  private func isEmbedded(_ request: HTTPRequest) -> Bool {
    guard request.path.hasPrefix("/api/"), request.path != "/api/file", let kind = request.header("sec-fetch-dest")
    else { return false }
    return kind != "empty" && kind != "document"
  }

  /// Returns a cookie for the page, or one that removes it.
  ///
  /// - Parameter value: Nil to remove it.
  static func cookie(_ value: String?, _ request: HTTPRequest) -> String {
    "\(cookieName(request))=\(value ?? ""); Path=\(request.base)/; HttpOnly; SameSite=Strict"
      + (value == nil ? "; Max-Age=0" : "") + (request.isSecure ? "; Secure" : "")
  }

  /// Returns the name of the cookie. It contains the port of the requested address, because cookies are not separated
  /// by ports. Several servers behind one address share a cookie.
  private static func cookieName(_ request: HTTPRequest) -> String {
    let host = request.host ?? ""
    let port = host.split(separator: ":").last.map { $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? $0 : "" } ?? ""
    return host.contains(":") && !port.isEmpty && !host.hasSuffix("]") ? "ffserve-\(port)" : "ffserve"
  }

  /// Returns all cookies with the name. Another server on the same machine can set an invalid one that hides the right
  /// one.
  private static func cookies(_ request: HTTPRequest) -> some Sequence<Substring> {
    let start = cookieName(request) + "="
    return request.headers["cookie"].lazy.flatMap { $0.split(separator: ";").prefix(64) }.compactMap { pair in
      let pair = pair.drop { $0 == " " }
      return pair.hasPrefix(start) ? pair.dropFirst(start.count) : nil
    }
  }
}
