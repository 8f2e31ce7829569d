import Assembly
import Glibc

/// A server of the local network, as it announces itself. All values are untrusted input.
struct FoundServer {
  let name: String
  /// The host name, such as `box.local`.
  let host: String
  let port: UInt16
  /// The entries of the TXT record, with keys in lower case.
  let texts: [String: String]
  /// The numeric addresses. Link-local ones include their interface, `fe80::1%eth0`.
  var addresses: [String]

  /// The path, which begins with a slash.
  var path: String {
    guard let path = texts["path"], path.hasPrefix("/"), path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      return "/"
    }
    return path
  }

  var scheme: String { texts["scheme"] == "https" ? "https" : "http" }

  /// Whether the server requires a token. Nil if it does not announce that.
  var needsToken: Bool? { texts["token"].flatMap { ["0": false, "1": true][$0] } }

  var urls: [String] {
    addresses.map { address in
      // A zone is escaped in a URL (RFC 6874).
      let host = address.contains(":") ? "[\(address.split(separator: "%").joined(separator: "%25"))]" : address
      return "\(scheme)://\(host):\(port)\(path)"
    }
  }

  var json: JSON {
    [
      "name": .string(name), "host": .string(host), "port": JSON(Int(port)), "path": .string(path),
      "scheme": .string(scheme), "version": JSON(texts["version"]), "token": needsToken.map { .bool($0) } ?? .null,
      "addresses": .array(addresses.map { .string($0) }), "urls": .array(urls.map { .string($0) }),
    ]
  }
}
