import Assembly
import Glibc
import Locks

/// The host names of the server. An address is always permitted: it cannot be made to point elsewhere.
final class HostNames: Sendable {
  private let names: UnfairLock<Set<String>>

  /// - Parameter given: the names in options.
  init(given: [String]) {
    var names: Set = ["localhost"]
    var buffer = [CChar](repeating: 0, count: 256)
    if unsafe gethostname(&buffer, buffer.count - 1) == 0 {
      let own = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
      names.formUnion([own, own.split(separator: ".").first.map { $0 + ".local" } ?? own])
    }
    names.formUnion(given.map { $0.lowercased() })
    self.names = UnfairLock(names)
  }

  /// Adds a name that is determined later.
  func add(_ name: String) { names.withLock { _ = $0.insert(name.lowercased()) } }

  /// - Parameter header: a Host header, with or without a port.
  func contains(_ header: String) -> Bool {
    let text = header.lowercased()
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]"), Self.isPort(text[text.index(after: end)...]) else { return false }
      return Self.isAddress(text[text.index(after: text.startIndex)..<end], AF_INET6)
    }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 1 || Self.isPort(":" + parts[1]) else { return false }
    let name = parts[0].hasSuffix(".") ? parts[0].dropLast() : parts[0]
    if names.withLock({ $0.contains(String(name)) }) { return true }
    return Self.isAddress(name, AF_INET)
  }

  private static func isAddress(_ text: Substring, _ family: Int32) -> Bool {
    // Space for either family.
    var address = [UInt8](repeating: 0, count: 16)
    return unsafe inet_pton(family, String(text), &address) == 1
  }

  private static func isPort(_ text: Substring) -> Bool { isPort(String(text)) }

  private static func isPort(_ text: String) -> Bool {
    // A port without digits is the usual one (RFC 3986, section 3.2.3).
    text.isEmpty || text == ":" || text.first == ":" && Port.number(text.dropFirst()) != nil
  }
}
