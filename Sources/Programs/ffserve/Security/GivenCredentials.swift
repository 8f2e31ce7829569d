import NIOHTTP1
import Text

/// The credentials in a request, other than cookies.
struct GivenCredentials: Sendable {
  /// The possible tokens. File managers send them as the password of any user.
  private(set) var tokens: [[UInt8]] = []
  private(set) var login: (name: String, password: [UInt8])?
  /// Whether they were entered in the form of the page.
  let isForm: Bool
  /// Whether the client then uses a cookie.
  private(set) var areForSession: Bool

  init(_ request: HTTPRequest) {
    isForm = request.path == Page.login && request.method == .POST
    areForSession = isForm
    if isForm {
      let form = Query(String(decoding: request.body, as: UTF8.self)[...])
      add(form.text("name") ?? "", form.bytes("password") ?? [])
      return
    }
    if let header = request.header("authorization") {
      if let bearer = Self.after("bearer ", header) { tokens.append(Array(bearer.utf8)) }
      if let basic = Self.after("basic ", header), let decoded = Base64.bytes(of: basic) {
        let name = decoded.prefix { $0 != UInt8(ascii: ":") }
        add(String(decoding: name, as: UTF8.self), Array(decoded.dropFirst(name.count + 1)))
      }
    }
    if let token = request.query.bytes("token") {
      tokens.append(token)
      areForSession = true
    }
  }

  private mutating func add(_ name: String, _ password: [UInt8]) {
    tokens.append(password)
    if !name.isEmpty { login = (name, password) }
  }

  private static func after(_ scheme: String, _ header: String) -> Substring? {
    header.lowercased().hasPrefix(scheme) ? header.dropFirst(scheme.count) : nil
  }
}
