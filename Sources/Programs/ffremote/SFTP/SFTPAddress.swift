import Assembly
import Glibc
import Text

/// The address of a file or folder of an SFTP server: `sftp://me@host:22/path`.
struct SFTPAddress {
  /// The words that start ssh.
  let command: [String]
  /// The path on the server, without a trailing slash.
  let path: [UInt8]
  /// The user, host and port, and the settings of ssh, which can lead the same host elsewhere.
  let place: String

  /// - Throws: a refusal that names the part that is not permitted.
  init(_ given: String, _ options: ServerAccess) throws {
    func refusal(_ reason: String) -> Refusal { Refusal(.usage, "cannot show the server: \(reason)") }
    let rest = given.dropFirst("sftp://".count)
    let authority = rest.prefix { $0 != "/" }
    place = "sftp://\(authority)?\(options.sshSettings ?? "")"
    var host = authority
    var words = [
      "-oBatchMode=yes", "-oConnectTimeout=10", "-oServerAliveInterval=15", "-oClearAllForwardings=yes",
      "-oForwardAgent=no", "-oForwardX11=no", "-oPermitLocalCommand=no", "-oRequestTTY=no",
    ]
    if let file = options.sshSettings { words = ["-F", file] + words }
    if let mark = authority.lastIndex(of: "@") {
      let user = authority[..<mark]
      guard !user.contains(":") else {
        throw refusal("a password in the address is visible to other users (let ssh use a key)")
      }
      guard Self.isName(user) else { throw refusal("'\(user)' is not the name of a user") }
      words += ["-l", String(user)]
      host = authority[authority.index(after: mark)...]
    }
    var name = host.prefix { $0 != ":" }
    if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
      name = host[host.index(after: host.startIndex)..<end]
      var bytes = in6_addr()
      guard unsafe inet_pton(AF_INET6, String(name.prefix { $0 != "%" }), &bytes) == 1, Self.isName(name, "%:") else {
        throw refusal("'\(host)' is not a host")
      }
      host = host[host.index(after: end)...]
    } else {
      guard Self.isName(name) else { throw refusal("'\(name)' is not a host, as in sftp://me@host/path") }
      host = host[name.endIndex...]
    }
    if !host.isEmpty {
      guard host.first == ":", let port = Port.number(host.dropFirst()) else {
        throw refusal("'\(host.dropFirst())' is not a port")
      }
      words += ["-p", "\(port)"]
    }
    guard let decoded = Percent.decoded(Array(rest.dropFirst(authority.count).utf8)), !decoded.contains(0),
      decoded.count < 4096, decoded.allSatisfy({ $0 != UInt8(ascii: "\n") })
    else { throw refusal("the path is not one of a URL (write % as %25)") }
    var path = decoded[...]
    while path.last == UInt8(ascii: "/") { path.removeLast() }
    // A path from the user's own folder there.
    let home = Array("/~".utf8)
    if path.elementsEqual(home) || path.starts(with: home + [UInt8(ascii: "/")]) {
      path = [UInt8(ascii: ".")] + path.dropFirst(2)
    }
    self.path = Array(path)
    let programs: [String] = ["/usr/bin/ssh", "/usr/local/bin/ssh", "/bin/ssh"]
    let program = programs.first { path in unsafe access(path, X_OK) == 0 }
    guard let program else {
      throw Refusal(.failure, "cannot show \(given): the program ssh is not installed (install openssh-client)")
    }
    command = [program] + words + ["-s", "--", String(name), "sftp"]
  }

  /// Returns whether a name contains nothing that ssh, or a command of its settings, could take for something else.
  private static func isName(_ text: Substring, _ more: String = "") -> Bool {
    text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
        || (".-_" + more).utf8.contains(byte)
    } && !text.hasPrefix("-") && (1...255).contains(text.utf8.count)
  }
}
