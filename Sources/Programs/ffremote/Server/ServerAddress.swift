import Assembly
import Glibc

/// The address of a server: `http://host:4200`, with a path if a proxy serves it below one.
struct ServerAddress: Sendable {
  /// The address without a query and a trailing slash, for users.
  let text: String
  /// The query, with its question mark. It may be secret. Empty for most addresses.
  let query: String
  let isTLS: Bool
  /// Whether the address ends in a slash, or has no path.
  let isFolder: Bool

  /// Creates an address that is not one of HTTP.
  init(other given: String) {
    var rest = given[...]
    while rest.last == "/" { rest.removeLast() }
    (text, query, isTLS, isFolder) = (String(rest), "", true, given.last == "/")
  }

  /// - Parameter hasQuery: whether the address of a file can have a query.
  /// - Throws: a refusal that names the part that is not permitted.
  init(_ given: String, hasQuery: Bool = false) throws {
    let scheme = given.hasPrefix("https://") ? "https://" : "http://"
    isTLS = scheme == "https://"
    func refusal(_ reason: String) -> Refusal {
      // The argument may contain a token.
      Refusal(.usage, "cannot show the server: \(reason)")
    }
    var rest = given.dropFirst(scheme.count)
    let mark = rest.firstIndex(of: "?")
    let isFile = rest[..<(mark ?? rest.endIndex)].split(separator: "/").count > 1
    query = String(mark.map { rest[$0...] } ?? "")
    guard query.isEmpty || hasQuery && isFile, !rest.contains("#") else {
      throw refusal(
        "the address must end before the ? (put the token into a file: -o token_file=FILE)")
    }
    rest = rest[..<(mark ?? rest.endIndex)]
    isFolder = !isFile || rest.last == "/"
    let authority = rest.prefix { $0 != "/" }
    guard !authority.contains("@") else {
      throw refusal("a token in the address is visible to other users (put it into a file: -o token_file=FILE)")
    }
    guard Self.isAuthority(authority) else {
      throw refusal("'\(authority)' is not a host and port as in http://host:4200, or http://[::1]:4200")
    }
    while rest.last == "/" { rest.removeLast() }
    guard (rest + query).utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }),
      rest.utf8.count + query.utf8.count < 8192,
      !rest.split(separator: "/").contains("..")
    else { throw refusal("the path is not a URL path (percent-encode other characters)") }
    text = scheme + rest
  }

  /// The path on the server, which ends in a slash.
  var folderPath: [UInt8] {
    let path = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3)
    return Array(("/" + path.map { $0 + "/" }.joined()).utf8)
  }

  private static func isAuthority(_ text: Substring) -> Bool {
    var port = text[...]
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return false }
      let address = text[text.index(after: text.startIndex)..<end].prefix { $0 != "%" }
      var bytes = in6_addr()
      guard unsafe inet_pton(AF_INET6, String(address), &bytes) == 1 else { return false }
      port = text[text.index(after: end)...]
    } else {
      let host = text.prefix { $0 != ":" }
      let isHost = host.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
      }
      guard isHost, !host.isEmpty else { return false }
      port = text[host.endIndex...]
    }
    if port.isEmpty { return true }
    return port.first == ":" && Port.number(port.dropFirst()) != nil
  }
}
