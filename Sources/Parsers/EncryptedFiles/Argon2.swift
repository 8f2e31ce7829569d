internal import Bytes
internal import Glibc

/// Argon2id (RFC 9106), by libargon2, which is loaded when it is first needed.
enum Argon2 {
  private typealias Function =
    @convention(c) (
      _ passes: UInt32, _ memory: UInt32, _ lanes: UInt32, _ password: UnsafeRawPointer?, _ passwordSize: Int,
      _ salt: UnsafeRawPointer?, _ saltSize: Int, _ key: UnsafeMutableRawPointer?, _ keySize: Int
    ) -> Int32

  private static let function: Function? = {
    guard let library = unsafe dlopen("libargon2.so.1", RTLD_NOW | RTLD_LOCAL),
      let symbol = unsafe dlsym(library, "argon2id_hash_raw")
    else { return nil }
    return unsafe unsafeBitCast(symbol, to: Function.self)
  }()

  /// The limits of one key. LibreOffice uses 64 MiB three times.
  private static let mostMemory = 256 << 10
  private static let mostWork = 1 << 20
  private static let mostLanes = 16

  /// Returns whether the library is installed.
  static var isAvailable: Bool { unsafe function != nil }

  /// Returns whether deriving a key takes less than about a second.
  ///
  /// - Parameter memory: in KiB.
  static func allows(passes: Int, memory: Int, lanes: Int) -> Bool {
    (1...mostWork).contains(passes) && (8...mostMemory).contains(memory) && (1...mostLanes).contains(lanes)
      && memory >= 8 * lanes && passes * memory <= mostWork
  }

  /// Returns a key. `memory` is in KiB. The parameters are allowed.
  static func key(
    _ password: [UInt8], salt: [UInt8], passes: Int, memory: Int, lanes: Int, size: Int
  ) throws(Fault) -> [UInt8] {
    guard let function = unsafe function else { throw Fault(.unsupported, "libargon2 is not installed") }
    var key = [UInt8](repeating: 0, count: size)
    let result = unsafe function(
      UInt32(passes), UInt32(memory), UInt32(lanes), password, password.count, salt, salt.count, &key, key.count)
    guard result == 0 else { throw Fault(.limit, "a key cannot be derived (error \(result) of libargon2)") }
    return key
  }
}
