import Bytes
import NIOHTTP1
import Synchronization
import Text

/// Who may ask: whoever knows the token, by a name that the server goes by.
final class Access: Sendable {
  enum Verdict {
    /// With the cookie to set, for who gave the token in the address.
    case admitted(cookie: String?)
    case refused(Response)
  }

  /// nil if everybody may.
  private let token: Secret?
  /// What the cookie holds: it says that its owner knew the token, and is not the token.
  private let pass: Secret
  private let hosts: HostNames
  private let guesses = GuessLimit()
  private let wrong = Atomic<Int>(0)

  /// How many wrong tokens have come.
  var wrongTokens: Int { wrong.load(ordering: .relaxed) }

  init(token: String?, hosts: HostNames) {
    self.token = token.map { Secret(Array($0.utf8)) }
    pass = Secret.derived(from: token ?? "", for: "cookie of ffserve")
    self.hosts = hosts
  }

  /// From now on the server goes by this name, too.
  func add(name: String) { hosts.add(name) }

  /// Blocks on nothing.
  func check(_ request: Request) -> Verdict {
    // Without this, any page could have its own name lead here, and read what is answered.
    guard let host = request.host else {
      return .refused(.problem(.badRequest, "the request has no Host header, or several"))
    }
    guard hosts.contains(host) else {
      return .refused(
        .problem(.misdirectedRequest, "the server does not go by this name (give it with --name, or use its address)"))
    }
    if isCrossSite(request) { return .refused(.problem(.forbidden, "another site's page asks")) }
    if isEmbedded(request) { return .refused(.problem(.forbidden, "a page asks for this as a part of itself")) }
    guard let token else { return .admitted(cookie: nil) }
    // Nobody guesses 256 bits, and who knew the token is not locked out by those who do not.
    let cookieName = Self.cookieName(host)
    if Self.cookies(cookieName, request).contains(where: { pass.matches(Array($0.utf8)) }) {
      return .admitted(cookie: nil)
    }
    guard guesses.permits(request.peer) else {
      return .refused(.problem(.tooManyRequests, "too many wrong tokens", headers: [("Retry-After", "60")]))
    }
    var given: [[UInt8]] = []
    if let header = request.header("authorization") {
      if let bearer = Self.after("bearer ", header) { given.append(Array(bearer.utf8)) }
      // A file manager asks for a name, too, which does not matter.
      if let basic = Self.after("basic ", header), let decoded = Base64.bytes(of: basic) {
        given.append(Array(decoded.drop { $0 != UInt8(ascii: ":") }.dropFirst()))
      }
    }
    let fromQuery = request.query.bytes("token")
    if let fromQuery { given.append(fromQuery) }
    if given.contains(where: token.matches) {
      guard let fromQuery, token.matches(fromQuery) else { return .admitted(cookie: nil) }
      let secure = request.isSecure ? "; Secure" : ""
      return .admitted(
        cookie: "\(cookieName)=\(pass.hexadecimal); Path=/; HttpOnly; SameSite=Strict\(secure)")
    }
    if !given.isEmpty {
      guesses.noteWrong(request.peer)
      wrong.add(1, ordering: .relaxed)
    }
    let isDAV = request.path.hasPrefix("/dav")
    let challenge = isDAV ? "Basic realm=\"ffmount\", charset=\"UTF-8\"" : "Bearer realm=\"ffmount\""
    if request.path == "/" { return .refused(Page.locked.with("WWW-Authenticate", challenge)) }
    return .refused(
      .problem(
        .unauthorized, "the token is missing or wrong: it is in the address that ffmount serve printed",
        headers: [("WWW-Authenticate", challenge)]))
  }

  /// Whether a browser says that a page from elsewhere wants this, other than to show it as a page of its own.
  private func isCrossSite(_ request: Request) -> Bool {
    guard let site = request.header("sec-fetch-site"), site == "cross-site" || site == "same-site" else { return false }
    let isPage = request.header("sec-fetch-mode") == "navigate" && request.header("sec-fetch-dest") == "document"
    return !(isPage && request.path == "/")
  }

  /// Whether a browser asks for work as for a picture or a style: pages of the tree may load files, and have nothing else
  /// done.
  private func isEmbedded(_ request: Request) -> Bool {
    guard request.path.hasPrefix("/api/"), request.path != "/api/file", let kind = request.header("sec-fetch-dest")
    else { return false }
    return kind != "empty" && kind != "document"
  }

  /// Cookies are not separated by ports. That of the address that is asked: several servers behind one have one cookie.
  private static func cookieName(_ host: String) -> String {
    let port = host.split(separator: ":").last.map { $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? $0 : "" } ?? ""
    return host.contains(":") && !port.isEmpty && !host.hasSuffix("]") ? "ffserve-\(port)" : "ffserve"
  }

  /// All of the name: another server of the same machine can set one that hides the right one, and is none.
  private static func cookies(_ cookieName: String, _ request: Request) -> some Sequence<Substring> {
    request.headers["cookie"].lazy.flatMap { $0.split(separator: ";").prefix(64) }.compactMap { pair in
      let pair = pair.drop { $0 == " " }
      return pair.hasPrefix(cookieName + "=") ? pair.dropFirst(cookieName.count + 1) : nil
    }
  }

  private static func after(_ scheme: String, _ header: String) -> Substring? {
    header.lowercased().hasPrefix(scheme) ? header.dropFirst(scheme.count) : nil
  }
}
