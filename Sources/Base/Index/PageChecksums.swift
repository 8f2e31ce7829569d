internal import Bytes
internal import CSQLite
internal import Glibc
internal import Synchronization

/// A checksum at the end of every page of a database file: a mismatch is damage.
///
/// SQLite itself notices only damage that breaks a page's structure. Changed letters of a word do not, and the word is
/// then not found any more. Pages get their checksums when they are written to the file and are verified when they are
/// read, by wrappers around the connection's I/O methods; only what is read is verified, so a query costs no more than
/// its own pages. Pages in the log get theirs at the checkpoint.
enum PageChecksums {
  /// Of the reserved space at a page's end, in bytes.
  static let size = 8

  /// Has a connection that has not yet read or written anything write and verify page checksums.
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

  /// Addresses of wrapping method tables by those of the wrapped ones. Never freed: there is one for each of SQLite's
  /// VFS method tables.
  private static let made = Mutex<[UInt: UInt]>([:])

  /// The wrapping methods, directly followed by the wrapped ones.
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

  /// Whether a transfer of `count` bytes is a page: anything else read or written of the file, the start of its first
  /// page, is not a power of two or smaller than a page can be.
  private static func isPage(_ count: CInt, _ offset: sqlite3_int64) -> Bool {
    count >= 512 && count & (count - 1) == 0 && offset % sqlite3_int64(count) == 0
  }

  /// A page never written is all zeros, which SQLite does not take for a valid page.
  private static func isAsWritten(_ page: UnsafeRawBufferPointer, _ offset: sqlite3_int64) -> Bool {
    let sum = unsafe page.loadUnaligned(fromByteOffset: page.count - size, as: UInt64.self)
    return unsafe sum == checksum(page, offset) || (sum == 0 && page.allSatisfy { $0 == 0 })
  }

  /// Over a page's bytes and its offset.
  static func checksum(_ page: UnsafeRawBufferPointer, _ offset: sqlite3_int64) -> UInt64 {
    var hash = StableHash(seed: UInt64(bitPattern: offset))
    let content = unsafe UnsafeRawBufferPointer(rebasing: page.dropLast(size))
    unsafe hash.combine(long: content.bytes)
    return hash.value
  }
}
