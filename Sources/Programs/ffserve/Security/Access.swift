import Bytes
import Locks
import NIOHTTP1
import Synchronization
import Text

/// Authorizes requests by token and Host header.
final class Access: Sendable {
  enum Verdict {
    /// `cookie` is the cookie to set, non-nil if the token was passed in the URL.
    case admitted(cookie: String?)
    case refused(Response)
  }

  private struct Key {
    let token: Secret
    /// The value of the cookie. It proves that its owner knew the token, but is not the token.
    let pass: Secret
  }

  /// The token and its cookie. Nil if none is required.
  private let key = UnfairLock<Key?>(nil)
  private let hosts: HostNames
  private let guesses = GuessLimit()
  private let wrong = Atomic<Int>(0)

  /// The number of wrong tokens received.
  var wrongTokens: Int { wrong.load(ordering: .relaxed) }

  init(hosts: HostNames) { self.hosts = hosts }

  /// Replaces the token. The cookie of an earlier one is no longer valid.
  func set(token: String?) {
    let new = token.map { token in
      Key(token: Secret(Array(token.utf8)), pass: Secret.derived(from: token, for: "cookie of ffserve"))
    }
    key.withLock { $0 = new }
  }

  /// Adds a name of the server.
  func add(name: String) { hosts.add(name) }

  /// Returns whether a host, with or without a port, is this server.
  func isOwn(host: String) -> Bool { hosts.contains(host) }

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
    if isCrossSite(request) { return .refused(.problem(.forbidden, "requests from other sites' pages are refused")) }
    if isForeign(request) { return .refused(.problem(.forbidden, "changes by other sites' pages are refused")) }
    if isEmbedded(request) { return .refused(.problem(.forbidden, "this cannot be embedded in a page")) }
    guard let key = key.withLock({ $0 }) else { return .admitted(cookie: nil) }
    // 256 bits cannot be guessed, and clients with the cookie are not locked out by others' guesses.
    let cookieName = Self.cookieName(host)
    if Self.cookies(cookieName, request).contains(where: { key.pass.matches(Array($0.utf8)) }) {
      return .admitted(cookie: nil)
    }
    guard guesses.permits(request.peer) else {
      return .refused(.problem(.tooManyRequests, "too many wrong tokens", headers: [("Retry-After", "60")]))
    }
    var given: [[UInt8]] = []
    if let header = request.header("authorization") {
      if let bearer = Self.after("bearer ", header) { given.append(Array(bearer.utf8)) }
      // File managers also ask for a user name, which is ignored.
      if let basic = Self.after("basic ", header), let decoded = Base64.bytes(of: basic) {
        given.append(Array(decoded.drop { $0 != UInt8(ascii: ":") }.dropFirst()))
      }
    }
    let fromQuery = request.query.bytes("token")
    if let fromQuery { given.append(fromQuery) }
    if given.contains(where: key.token.matches) {
      guard let fromQuery, key.token.matches(fromQuery) else { return .admitted(cookie: nil) }
      let secure = request.isSecure ? "; Secure" : ""
      return .admitted(
        cookie: "\(cookieName)=\(key.pass.hexadecimal); Path=/; HttpOnly; SameSite=Strict\(secure)")
    }
    if !given.isEmpty {
      guesses.noteWrong(request.peer)
      wrong.add(1, ordering: .relaxed)
    }
    let isDAV = WebDAV.isAsked(by: request)
    let challenge = isDAV ? "Basic realm=\"ffmount\", charset=\"UTF-8\"" : "Bearer realm=\"ffmount\""
    if request.path == "/" { return .refused(Page.locked.with("WWW-Authenticate", challenge)) }
    return .refused(
      .problem(
        .unauthorized, "the token is missing or wrong: it is in the address that ffmount serve printed",
        headers: [("WWW-Authenticate", challenge)]))
  }

  /// Returns whether the request is from a page of another site, according to the browser, and not a navigation to the
  /// page itself.
  private func isCrossSite(_ request: HTTPRequest) -> Bool {
    guard let site = request.header("sec-fetch-site"), site == "cross-site" || site == "same-site" else { return false }
    let isPage = request.header("sec-fetch-mode") == "navigate" && request.header("sec-fetch-dest") == "document"
    return !(isPage && request.path == "/")
  }

  /// Returns whether a request that may change something is from a page of another site. Browsers that do not send
  /// Sec-Fetch-Site send Origin (RFC 6454). An address in it does not suffice, because it may be any machine's.
  private func isForeign(_ request: HTTPRequest) -> Bool {
    if [.GET, .HEAD, .OPTIONS, .PROPFIND].contains(request.method) { return false }
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

  /// Returns the name of the cookie. It contains the port of the requested address, because cookies are not separated
  /// by ports. Several servers behind one address share a cookie.
  private static func cookieName(_ host: String) -> String {
    let port = host.split(separator: ":").last.map { $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? $0 : "" } ?? ""
    return host.contains(":") && !port.isEmpty && !host.hasSuffix("]") ? "ffserve-\(port)" : "ffserve"
  }

  /// Returns all cookies with the name. Another server on the same machine can set an invalid one that hides the right
  /// one.
  private static func cookies(_ cookieName: String, _ request: HTTPRequest) -> some Sequence<Substring> {
    request.headers["cookie"].lazy.flatMap { $0.split(separator: ";").prefix(64) }.compactMap { pair in
      let pair = pair.drop { $0 == " " }
      return pair.hasPrefix(cookieName + "=") ? pair.dropFirst(cookieName.count + 1) : nil
    }
  }

  private static func after(_ scheme: String, _ header: String) -> Substring? {
    header.lowercased().hasPrefix(scheme) ? header.dropFirst(scheme.count) : nil
  }
}
