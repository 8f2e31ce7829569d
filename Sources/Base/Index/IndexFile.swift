internal import Bytes
internal import Glibc
internal import Locks

/// The open index file. Throws `IndexFailure`.
///
/// It has two connections, so that a reader does not wait while a batch is written.
final class IndexFile: Sendable {
  private let path: String
  private let inode: UInt64
  /// The key that authenticates stored records.
  let key: [UInt8]
  private let writer: BoundedConnection
  private let reader: BoundedConnection
  /// The row IDs of the sources read since their time of use was written.
  private let touched = UnfairLock<Set<Int64>>([])

  /// The accuracy of a source's time of use, in seconds, so that not every read causes a write.
  private static let useAccuracy: Int64 = 600

  init(path: String, inode: UInt64, key: [UInt8], writer: BoundedConnection, reader: BoundedConnection) {
    self.path = path
    self.inode = inode
    self.key = key
    self.writer = writer
    self.reader = reader
  }

  /// Whether the name still leads to this file. A user may have cleared the cache, or another process may have
  /// recreated the file.
  var isInPlace: Bool { DatabaseFile.inode(of: path) == inode }

  /// The maximum number of records that fail their checksum. With more, the whole file counts as damaged.
  private static let damagedAtMost = 100

  private static var now: Int64 { Int64(time(nil)) }

  // MARK: Reading

  func records(
    of source: [UInt8], _ kind: IndexKind, from first: [UInt8], through last: [UInt8], descending: Bool,
    atMost limit: Int
  ) throws -> [IndexRecord] {
    var records: [IndexRecord] = []
    var damaged: [[UInt8]] = []
    var before: [UInt8]?
    let seed = kind.seed(of: source, key: key)
    try reader.inDatabase { database in
      let rows = try database.rows(
        """
        SELECT source.id, source.usedAt, record.key, record.checksum, record.value
        FROM record JOIN source ON source.id = record.source
        WHERE source.identity = ? AND kind = ? AND key BETWEEN ? AND ? AND version = ?
        ORDER BY key \(descending ? "DESC" : "ASC")
        """,
        [
          .blob(source), .integer(Int64(kind.number)), .blob(first), .blob(last),
          .integer(Int64(bitPattern: kind.version)),
        ])
      while records.count < limit, try rows.next() {
        if records.isEmpty { touch(try rows.integer(0), usedAt: try rows.time(1)) }
        let record = try IndexRecord(key: rows.bytes(2), value: rows.bytes(4))
        // A cycle of pages returns the same records repeatedly.
        if let before, !(descending ? [record.key, before] : [before, record.key]).isAscending {
          throw IndexFailure.damage
        }
        before = record.key
        if try record.checksum(from: seed) == rows.integer(3) {
          records.append(record)
        } else {
          damaged.append(record.key)
          if damaged.count > IndexFile.damagedAtMost { throw IndexFailure.damage }
        }
      }
    }
    // Damaged records are removed so that they do not hinder their replacements.
    if !damaged.isEmpty { try forget(damaged, of: source, kind) }
    return records
  }

  private func touch(_ source: Int64, usedAt: Int64) {
    if abs(IndexFile.now - usedAt) > IndexFile.useAccuracy { touched.withLock { _ = $0.insert(source) } }
  }

  // MARK: Writing

  /// Stores records. Returns false if they do not fit.
  func store(_ records: [IndexRecord], _ kind: IndexKind, of source: [UInt8], atMost maximumSize: Int64) throws -> Bool
  {
    let size = records.reduce(Int64(0)) { $0 + Int64($1.key.count + $1.value.count + 40) }
    let seed = kind.seed(of: source, key: key)
    return try writer.inDatabase { database in
      guard try makeRoom(in: database, for: size, atMost: maximumSize, sparing: source) else { return false }
      try database.inTransaction {
        let row = try IndexFile.row(of: source, in: database)
        let statement = try database.statement(
          "INSERT OR REPLACE INTO record(source, kind, key, version, checksum, value) VALUES(?, ?, ?, ?, ?, ?)")
        for record in records {
          try statement.execute([
            .integer(row), .integer(Int64(kind.number)), .blob(record.key), .integer(Int64(bitPattern: kind.version)),
            .integer(record.checksum(from: seed)), .blob(record.value),
          ])
        }
      }
      return true
    }
  }

  /// Returns the source's row ID, and sets its time of use to now.
  private static func row(of source: [UInt8], in database: Database) throws -> Int64 {
    let row = try database.integer(
      """
      INSERT INTO source(identity, usedAt) VALUES(?, ?)
      ON CONFLICT(identity) DO UPDATE SET usedAt = excluded.usedAt RETURNING id
      """, [.blob(source), .integer(now)])
    guard let row else { throw IndexFailure.damage }
    return row
  }

  func forget(_ source: [UInt8]) throws {
    try writer.inDatabase { database in
      let row = try database.integer("SELECT id FROM source WHERE identity = ?", [.blob(source)])
      if let row { try IndexFile.remove(row, from: database) }
    }
  }

  func forget(_ source: [UInt8], _ kind: IndexKind, from first: [UInt8], through last: [UInt8]) throws {
    try writer.inDatabase { database in
      try database.execute(
        """
        DELETE FROM record WHERE source = (SELECT id FROM source WHERE identity = ?) AND kind = ?
        AND key BETWEEN ? AND ?
        """, [.blob(source), .integer(Int64(kind.number)), .blob(first), .blob(last)])
    }
  }

  private func forget(_ keys: [[UInt8]], of source: [UInt8], _ kind: IndexKind) throws {
    for key in keys { try forget(source, kind, from: key, through: key) }
  }

  // MARK: Room

  /// Evicts the least recently used sources until `size` more bytes fit. Returns false if they still do not.
  private func makeRoom(
    in database: Database, for size: Int64, atMost maximumSize: Int64, sparing source: [UInt8]
  ) throws -> Bool {
    guard try IndexFile.size(of: database) + size > maximumSize else { return true }
    try writeUse(in: database)
    // Somewhat more than needed, so that not every batch has to evict.
    let goal = maximumSize / 10 * 9 - size
    while try IndexFile.size(of: database) > goal {
      let oldest = try database.integer(
        "SELECT id FROM source WHERE identity <> ? ORDER BY usedAt, id LIMIT 1", [.blob(source)])
      guard let oldest else { break }
      try IndexFile.remove(oldest, from: database)
    }
    // Freed pages are returned to the file system, a bounded number at a time.
    try database.run("PRAGMA incremental_vacuum(4096)")
    return try IndexFile.size(of: database) + size <= maximumSize
  }

  /// Returns the size of the pages in use, in bytes.
  private static func size(of database: Database) throws -> Int64 {
    let size = try database.integer(
      """
      SELECT (page_count - freelist_count) * page_size
      FROM pragma_page_count, pragma_freelist_count, pragma_page_size
      """)
    guard let size else { throw IndexFailure.damage }
    return Bounds.size(size)
  }

  private static let removedAtOnce = 2000

  /// Removes a source in batches, so that the log stays short and other processes can write in between.
  private static func remove(_ source: Int64, from database: Database) throws {
    repeat {
      try database.execute(
        """
        DELETE FROM record WHERE (source, kind, key) IN
        (SELECT source, kind, key FROM record WHERE source = ? LIMIT \(removedAtOnce))
        """, [.integer(source)])
    } while database.changesCount == removedAtOnce
    // Includes records that another process has added meanwhile.
    try database.inTransaction {
      try database.execute("DELETE FROM record WHERE source = ?", [.integer(source)])
      try database.execute("DELETE FROM source WHERE id = ?", [.integer(source)])
    }
  }

  private func writeUse(in database: Database) throws {
    for source in touched.withLock({ $0 }) {
      try database.execute("UPDATE source SET usedAt = ? WHERE id = ?", [.integer(IndexFile.now), .integer(source)])
    }
    touched.withLock { $0.removeAll() }
  }

  // MARK: Contents

  func contents() throws -> [IndexedSource] {
    try reader.inDatabase { database in
      let rows = try database.rows(
        """
        SELECT source.identity, source.usedAt, record.kind, count(*), sum(length(record.key) + length(record.value))
        FROM record JOIN source ON source.id = record.source GROUP BY source.id, record.kind ORDER BY source.id
        """)
      var contents: [IndexedSource] = []
      while try rows.next() {
        contents.append(
          IndexedSource(
            source: try rows.bytes(0), kind: UInt32(truncatingIfNeeded: try rows.integer(2)),
            records: Int(try rows.size(3)), size: try rows.size(4), usedAt: try rows.time(1)))
      }
      return contents
    }
  }

  /// Removes sources and returns their number.
  func forget(sourcesStartingWith prefix: [UInt8]) throws -> Int {
    try writer.inDatabase { database in
      let rows = try database.rows(
        "SELECT id FROM source WHERE substr(identity, 1, ?) = ?", [.integer(Int64(prefix.count)), .blob(prefix)])
      var sources: [Int64] = []
      while try rows.next() { sources.append(try rows.integer(0)) }
      for source in sources { try IndexFile.remove(source, from: database) }
      try database.run("PRAGMA incremental_vacuum")
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)")
      return sources.count
    }
  }

  /// The size in bytes, including the log.
  var size: Int64 {
    ["", "-wal", "-shm"].reduce(0) { sum, suffix in
      var status = stat()
      return unsafe stat(path + suffix, &status) == 0 ? sum + Bounds.size(blocks: Int64(status.st_blocks)) : sum
    }
  }

  // MARK: The end

  func close() {
    try? writer.inDatabase { database in try writeUse(in: database) }
    reader.close()
    writer.close()
  }

  /// Removes the file, so that the next process to open it recreates it.
  func condemn() {
    reader.close()
    writer.close()
    DatabaseFile.condemn(path, inode)
  }
}

extension [[UInt8]] {
  /// Whether the second of two keys is greater in SQLite's order.
  fileprivate var isAscending: Bool { self[0].lexicographicallyPrecedes(self[1]) }
}

extension Rows {
  /// Returns a size or a count, clamped to `Bounds`.
  fileprivate func size(_ column: CInt) throws -> Int64 { Bounds.size(try integer(column)) }

  /// Returns a time in seconds since 1970, clamped to `Bounds`.
  fileprivate func time(_ column: CInt) throws -> Int64 { Bounds.time(try integer(column)) }
}
