import Glibc

/// The identity of a client for limits: an IPv4 address, or the network of an IPv6 address. A user of one IPv6 address
/// has 2^64 of them.
struct Network: Hashable, Sendable {
  /// The four bytes of an IPv4 address, or those of the IPv6 network's prefix. Empty without an address.
  private let bytes: [UInt8]
  /// Whether this is the machine itself.
  let isLoopback: Bool

  private init(_ bytes: [UInt8], isLoopback: Bool = false) {
    self.bytes = bytes
    self.isLoopback = isLoopback
  }

  /// - Parameter text: an address as formatted by inet_ntop(3).
  init(_ text: String) {
    var four = [UInt8](repeating: 0, count: 4)
    var six = [UInt8](repeating: 0, count: 16)
    if unsafe inet_pton(AF_INET, text, &four) == 1 {
      self.init(four, isLoopback: four[0] == 127)
    } else if unsafe inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &six) == 1 {
      // An IPv4 address in the form of a dual-stack socket.
      let isMapped = six.starts(with: Self.mapped)
      let isLoopback = isMapped ? six[12] == 127 : six == Self.loopback
      self.init(Array(isMapped ? six[12...] : six[..<8]), isLoopback: isLoopback)
    } else {
      self.init([])
    }
  }

  private static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]
  private static let loopback: [UInt8] = Array(repeating: 0, count: 15) + [1]

  /// The IPv6 prefix of a household or company. Nil for IPv4.
  var site: Network? { bytes.count == 8 ? Network(Array(bytes[..<6])) : nil }

  /// Clients without a usable address.
  static let unknown = Network([])
}
