internal import Bytes
internal import CSQLite
internal import Glibc
internal import Locks

/// The checksums at the end of every page of a database file. A mismatch is damage.
///
/// SQLite itself detects only damage that breaks a page's structure. Changed letters of a word do not, and the word is
/// then no longer found. Wrappers around the connection's I/O methods add the checksums when pages are written to the
/// file and verify them when pages are read. Only pages that are read are verified, so a query costs no more than its
/// own pages. Pages in the log get their checksums at the checkpoint.
enum PageChecksums {
  /// The size of the reserved space at a page's end, in bytes.
  static let size = 8

  /// Makes a connection write and verify page checksums. The connection must not have read or written anything yet.
  static func attach(to database: Database) throws {
    let connection = unsafe database.connection
    var reserved = CInt(size)
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard unsafe sqlite3_file_control(connection, nil, SQLITE_FCNTL_RESERVE_BYTES, &reserved) == SQLITE_OK,
      unsafe sqlite3_file_control(connection, nil, SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
      let file = unsafe file, let methods = unsafe file.pointee.pMethods
    else { throw IndexFailure.passing }
    unsafe file.pointee.pMethods = checking(methods)
  }

  /// The addresses of wrapping method tables by those of the wrapped ones. Never freed: there is one for each of
  /// SQLite's VFS method tables.
  private static let made = UnfairLock<[UInt: UInt]>([:])

  /// Returns the wrapping methods, directly followed by the wrapped ones.
  private static func checking(_ methods: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods>? {
    let place = made.withLock { made -> UInt in
      let key = UInt(bitPattern: methods)
      if let known = made[key] { return known }
      let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 2)
      unsafe table.initialize(repeating: methods.pointee, count: 2)
      unsafe table.pointee.xRead = read
      unsafe table.pointee.xWrite = write
      made[key] = UInt(bitPattern: table)
      return UInt(bitPattern: table)
    }
    return unsafe UnsafePointer(bitPattern: place)
  }

  private typealias Reading =
    @convention(c) (
      UnsafeMutablePointer<sqlite3_file>?, UnsafeMutableRawPointer?, CInt, sqlite3_int64
    ) -> CInt
  private typealias Writing =
    @convention(c) (UnsafeMutablePointer<sqlite3_file>?, UnsafeRawPointer?, CInt, sqlite3_int64) -> CInt

  private static let read: Reading = { file, buffer, count, offset in
    guard let file = unsafe file, let buffer = unsafe buffer, let methods = unsafe file.pointee.pMethods,
      let read = unsafe methods[1].xRead
    else { return SQLITE_IOERR }
    let status = unsafe read(file, buffer, count, offset)
    guard status == SQLITE_OK, isPage(count, offset) else { return status }
    let page = unsafe UnsafeRawBufferPointer(start: buffer, count: Int(count))
    return unsafe isAsWritten(page, offset) ? SQLITE_OK : SQLITE_CORRUPT
  }

  private static let write: Writing = { file, buffer, count, offset in
    guard let file = unsafe file, let buffer = unsafe buffer, let methods = unsafe file.pointee.pMethods,
      let write = unsafe methods[1].xWrite
    else { return SQLITE_IOERR }
    if isPage(count, offset) {
      // The page's end is reserved for the checksum.
      let page = unsafe UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(mutating: buffer), count: Int(count))
      let sum = unsafe checksum(UnsafeRawBufferPointer(page), offset)
      unsafe page.storeBytes(of: sum, toByteOffset: page.count - size, as: UInt64.self)
    }
    return unsafe write(file, buffer, count, offset)
  }

  /// Returns whether a transfer of `count` bytes is a page. The only other transfers, of the start of the first page,
  /// are smaller than a page or not a power of two.
  private static func isPage(_ count: CInt, _ offset: sqlite3_int64) -> Bool {
    count >= 512 && count & (count - 1) == 0 && offset % sqlite3_int64(count) == 0
  }

  /// Returns whether a page matches its checksum. A page that was never written is all zeros, which SQLite does not
  /// accept as a valid page.
  private static func isAsWritten(_ page: UnsafeRawBufferPointer, _ offset: sqlite3_int64) -> Bool {
    let sum = unsafe page.loadUnaligned(fromByteOffset: page.count - size, as: UInt64.self)
    return unsafe sum == checksum(page, offset) || (sum == 0 && page.allSatisfy { $0 == 0 })
  }

  /// Returns the checksum of a page's bytes and its offset.
  static func checksum(_ page: UnsafeRawBufferPointer, _ offset: sqlite3_int64) -> UInt64 {
    var hash = StableHash(seed: UInt64(bitPattern: offset))
    let content = unsafe UnsafeRawBufferPointer(rebasing: page.dropLast(size))
    unsafe hash.combine(long: content.bytes)
    return hash.value
  }
}
