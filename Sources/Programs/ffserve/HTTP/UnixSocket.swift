import Glibc

/// A socket in the file system, by which a proxy on this machine connects.
enum UnixSocket {
  /// Returns whether a process accepts connections at a path.
  static func isServed(_ path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8) + [0]
    let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard bytes.count <= room.count else { return false }
      unsafe room.copyBytes(from: bytes)
      return true
    }
    guard isShort else { return false }
    let raw = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard raw >= 0 else { return false }
    defer { close(raw) }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe connect(raw, pointer, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }
}
