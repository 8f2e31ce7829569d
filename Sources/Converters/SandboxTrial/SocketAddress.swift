internal import Glibc

/// A socket address.
struct SocketAddress {
  private let family: Int32
  private var bytes: [UInt8]

  init(path: String) { self.init(name: Array(path.utf8)) }
  init(abstractName: String) { self.init(name: [0] + Array(abstractName.utf8)) }

  private init(name: [UInt8]) {
    family = AF_UNIX
    bytes = SocketAddress.start(AF_UNIX) + name
  }

  /// Creates the address of a port on 127.0.0.1.
  init(port: Int) {
    family = AF_INET
    bytes =
      SocketAddress.start(AF_INET) + [UInt8(port >> 8), UInt8(port & 0xFF), 127, 0, 0, 1]
      + [UInt8](repeating: 0, count: 8)
  }

  private static func start(_ family: Int32) -> [UInt8] {
    // The family is in native byte order.
    let words = [UInt16(family)]
    return unsafe words.withUnsafeBytes { unsafe Array($0) }
  }

  /// Returns a listening descriptor, which is never closed. Returns `nil` on failure.
  func listen() -> Int32? {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0, unsafe with({ unsafe bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 1) == 0
    else {
      return nil
    }
    return descriptor
  }

  /// Connects to the address. Returns 0, or the errno of the failure.
  func connect() -> Int32 {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    if descriptor < 0 { return errno }
    defer { close(descriptor) }
    return unsafe with({ unsafe Glibc.connect(descriptor, $0, $1) }) == 0 ? 0 : errno
  }

  private func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    unsafe bytes.withUnsafeBytes { raw in
      guard let start = raw.baseAddress else { return -1 }
      return unsafe body(start.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
    }
  }

  static func port(of descriptor: Int32) -> Int? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &size) }
    }
    return status == 0 ? Int(address.sin_port.bigEndian) : nil
  }
}
