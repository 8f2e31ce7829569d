import Glibc

/// An address of one of the machine's network interfaces.
struct InterfaceAddress {
  /// The interface's number. 0 if it has been removed.
  let interface: UInt32
  /// The numeric address, without the interface.
  let text: String
  let isIPv6: Bool
  let isLoopback: Bool
  /// Whether the address is valid only on its interface, so that it cannot be used alone in a URL.
  let isLinkLocal: Bool

  /// The addresses of all interfaces that are up. Empty if the system does not report them.
  static var all: [InterfaceAddress] {
    var found: [InterfaceAddress] = []
    var first: UnsafeMutablePointer<ifaddrs>?
    guard unsafe getifaddrs(&first) == 0 else { return found }
    defer { unsafe freeifaddrs(first) }
    var next = unsafe first
    while let entry = unsafe next {
      defer { unsafe next = entry.pointee.ifa_next }
      guard let address = unsafe entry.pointee.ifa_addr, let name = unsafe entry.pointee.ifa_name else { continue }
      let family = Int32(unsafe address.pointee.sa_family)
      guard family == AF_INET || family == AF_INET6 else { continue }
      var text = [CChar](repeating: 0, count: 64)
      let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
      guard unsafe getnameinfo(address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
      else { continue }
      let numbers = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      found.append(
        InterfaceAddress(
          interface: unsafe if_nametoindex(name), text: String(numbers.prefix { $0 != "%" }),
          isIPv6: family == AF_INET6,
          isLoopback: unsafe entry.pointee.ifa_flags & UInt32(IFF_LOOPBACK) != 0, isLinkLocal: numbers.contains("%")))
    }
    return found
  }
}
