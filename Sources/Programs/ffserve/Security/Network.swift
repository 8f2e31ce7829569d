import Glibc

/// Where a client is, as far as limits can tell clients apart: an IPv4 address, or the network of an IPv6 address, as
/// somebody who has one of its addresses has 2^64 of them.
struct Network: Hashable, Sendable {
  /// Of IPv4 four bytes, else those of the network's prefix; of no address none.
  private let bytes: [UInt8]

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// - Parameter text: an address as inet_ntop(3) writes it.
  init(_ text: String) {
    var four = [UInt8](repeating: 0, count: 4)
    var six = [UInt8](repeating: 0, count: 16)
    if unsafe inet_pton(AF_INET, text, &four) == 1 {
      bytes = four
    } else if unsafe inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &six) == 1 {
      // An IPv4 address as a socket for both shows it.
      bytes = six.starts(with: Self.mapped) ? Array(six[12...]) : Array(six[..<8])
    } else {
      bytes = []
    }
  }

  private static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xff, 0xff]

  /// What a household or company is given of IPv6; nil for others.
  var site: Network? { bytes.count == 8 ? Network(Array(bytes[..<6])) : nil }

  /// For all whom nothing tells apart.
  static let unknown = Network([])
}
