internal import Bytes
internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import Synchronization

/// A checksum at the end of every page of a database file: what does not lie there as it was written is damage.
///
/// SQLite itself notices only damage that breaks a page's form. Letters of a word that have changed do not, and the word is
/// then not found any more. Pages get their sums on the way to the file and are looked at on the way back, by functions put
/// in the place of those with which the connection reads and writes; what it reads is all that is looked at, so a query costs
/// no more than its own pages. Pages in the log get theirs when they come to the file.
enum PageChecksums {
  /// Of what is kept free at a page's end, in bytes.
  static let size = 8

  /// Has a connection that has not read or written anything yet put checksums into its file's pages and look at them.
  static func attach(to database: Database) throws {
    let connection = unsafe database.sqliteConnection
    var reserved = CInt(size)
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard unsafe sqlite3_file_control(connection, nil, SQLITE_FCNTL_RESERVE_BYTES, &reserved) == SQLITE_OK,
      unsafe sqlite3_file_control(connection, nil, SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
      let file = unsafe file, let methods = unsafe file.pointee.pMethods
    else { throw IndexFailure.passing }
    unsafe file.pointee.pMethods = checking(methods)
  }

  /// Where tables of methods lie, by where those lie that they were made of. They stay for good: there is one for each way in
  /// which SQLite can use files.
  private static let made = Mutex<[UInt: UInt]>([:])

  /// Methods as some are, but for checksums; right behind them are those that they were made of.
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
      // The page's end is nobody else's.
      let page = unsafe UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(mutating: buffer), count: Int(count))
      let sum = unsafe checksum(UnsafeRawBufferPointer(page), offset)
      unsafe page.storeBytes(of: sum, toByteOffset: page.count - size, as: UInt64.self)
    }
    return unsafe write(file, buffer, count, offset)
  }

  /// Whether so many bytes are a page: what else is read or written of the file, the start of its first page, is no power of
  /// two or less than a page can be.
  private static func isPage(_ count: CInt, _ offset: sqlite3_int64) -> Bool {
    count >= 512 && count & (count - 1) == 0 && offset % sqlite3_int64(count) == 0
  }

  /// What has never been written is all zeros, and no page that SQLite would take for one.
  private static func isAsWritten(_ page: UnsafeRawBufferPointer, _ offset: sqlite3_int64) -> Bool {
    let sum = unsafe page.loadUnaligned(fromByteOffset: page.count - size, as: UInt64.self)
    return unsafe sum == checksum(page, offset) || (sum == 0 && page.allSatisfy { $0 == 0 })
  }

  /// Of a page's bytes and its place.
  static func checksum(_ page: UnsafeRawBufferPointer, _ offset: sqlite3_int64) -> UInt64 {
    var hash = StableHash(seed: UInt64(bitPattern: offset))
    let content = unsafe UnsafeRawBufferPointer(rebasing: page.dropLast(size))
    unsafe hash.combine(long: content.bytes)
    return hash.value
  }
}
