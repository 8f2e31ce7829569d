import Assembly
import Bytes
import CQRCode
import Glibc
import Text

/// The output when the server starts to listen: its addresses, and a QR code for phones.
struct StartupMessage {
  let source: String
  let scheme: String
  let host: String
  let port: Int
  let path: String
  let token: String?

  func show() {
    if host.hasPrefix("unix:") {
      print("\(Terminal.shown(source)) is at\n  \(Terminal.shown(host))\(path)/")
      if let token { print("token: \(token)") }
      print("Stop with Ctrl-C.")
      fflush(nil)
      return
    }
    let addresses = addresses
    print("\(Terminal.shown(source)) is at")
    for address in addresses { print("  \(url(address))") }
    if let last = addresses.last, addresses.count > 1 || !isLocal, Terminal.isOne(), let code = Self.code(url(last)) {
      print(code)
    }
    print("WebDAV: \(scheme)://\(bracketed(addresses.last ?? host)):\(port)\(path)/dav/. Stop with Ctrl-C.")
    fflush(nil)
  }

  private var isLocal: Bool { host == "localhost" || host.hasPrefix("127.") || host == "::1" }

  private func url(_ address: String) -> String {
    "\(scheme)://\(bracketed(address)):\(port)\(path)/" + (token.map { "?token=" + Percent.encoded($0.utf8) } ?? "")
  }

  private func bracketed(_ address: String) -> String { address.contains(":") ? "[\(address)]" : address }

  /// The addresses of the server: the given one, or those of all interfaces.
  private var addresses: [String] {
    guard host == "0.0.0.0" || host == "::" else { return [host] }
    let others = InterfaceAddress.all.filter { !$0.isLoopback && !$0.isLinkLocal && (!$0.isIPv6 || host == "::") }
    return [host == "::" ? "::1" : "127.0.0.1"] + others.map(\.text)
  }

  /// Returns a QR code with two rows of modules per line, dark on light with a margin, as scanners expect. Returns
  /// `nil` if it cannot be made.
  static func code(_ text: String) -> String? {
    guard let made = unsafe QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1) else { return nil }
    defer { unsafe QRcode_free(made) }
    let width = Int(unsafe made.pointee.width)
    func isDark(_ row: Int, _ column: Int) -> Bool {
      guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
      return unsafe made.pointee.data[row * width + column] & 1 == 1
    }
    var lines: [String] = []
    for row in stride(from: -2, to: width + 2, by: 2) {
      var line = "\u{1b}[30;47m"
      for column in -2..<width + 2 {
        switch (isDark(row, column), isDark(row + 1, column)) {
        case (true, true): line += "█"
        case (true, false): line += "▀"
        case (false, true): line += "▄"
        case (false, false): line += " "
        }
      }
      lines.append(line + "\u{1b}[0m")
    }
    return lines.joined(separator: "\n")
  }
}
