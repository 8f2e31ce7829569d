internal import Bytes
internal import Files
internal import Glibc
internal import Synchronization

/// An open text index file: a named one shared by several processes, or an unnamed one of this process. Throws
/// `IndexFailure`.
final class TextFile: ReplaceableFile {
  /// The origin of the texts: the source's state, and the version of the code that made them.
  struct Meaning: Sendable, Equatable {
    let state: [UInt8]
    let version: UInt64
    /// The data by which a later state of the source is recognized as starting with this one.
    let proof: [UInt8]

    fileprivate func isOfSame(_ other: Meaning) -> Bool { state == other.state && version == other.version }
  }

  /// The recorded content of a file.
  struct Content: Sendable, Equatable {
    let meaning: Meaning
    let count: Int
    let isWhole: Bool
  }

  private let path: String
  /// The inode number of the file. Nil for an unnamed file.
  private let inode: UInt64?
  private let key: [UInt8]
  private let writer: BoundedConnection
  private let reader: BoundedConnection

  /// The version of the tables and of the folding of their words, incremented when either changes.
  private static let schemaVersion: Int64 = 6

  private static var schema: String {
    """
    CREATE TABLE meaning(state BLOB NOT NULL, version INTEGER NOT NULL, proof BLOB NOT NULL, count INTEGER NOT NULL,
      isWhole INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;
    CREATE VIRTUAL TABLE text USING fts5(\(IndexedText.columns.joined(separator: ", ")), content='', columnsize=0,
      tokenize='unicode61 remove_diacritics 0 categories ''L* M* N* Co''');
    INSERT INTO text(text, rank) VALUES('hashsize', \(wordsInMemory));
    INSERT INTO text(text, rank) VALUES('automerge', 0);
    """
  }

  /// The size at which words are flushed, in bytes. A larger size needs less merging.
  private static let wordsInMemory = 16 << 20

  private init(
    _ path: String, _ inode: UInt64?, _ key: [UInt8], _ writer: BoundedConnection, _ reader: BoundedConnection
  ) {
    self.path = path
    self.inode = inode
    self.key = key
    self.writer = writer
    self.reader = reader
  }

  var isInPlace: Bool { isTemporary || DatabaseFile.inode(of: path) == inode }
  var isTemporary: Bool { inode == nil }

  // MARK: Opening

  /// Opens the file for `meaning`. A damaged file, or one of another meaning, is replaced. The exception is a file with
  /// the content `start`, whose texts are the first of this meaning's.
  static func open(
    _ path: String, _ key: [UInt8], _ meaning: Meaning, continuing start: Content? = nil
  ) throws -> TextFile {
    try DatabaseFile.open(path) { inode in
      try open(path, inode, key, meaning, continuing: start)
    } orMake: {
      try DatabaseFile.make(path, "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL", hasChecksums: true) {
        database in
        try database.run("PRAGMA user_version = \(schemaVersion); \(schema)")
        try write(Content(meaning: meaning, count: 0, isWhole: false), of: path, key, to: database)
      }
    }.file
  }

  /// Creates an unnamed file, for this process only.
  static func temporary() throws -> TextFile {
    let key = [UInt8](repeating: 0, count: 16)
    let connection = try BoundedConnection(
      temporary: "PRAGMA user_version = \(schemaVersion); \(schema)", cache: 4096)
    let nothing = Content(meaning: Meaning(state: [], version: 0, proof: []), count: 0, isWhole: false)
    try connection.inDatabase { database in try write(nothing, of: "", key, to: database) }
    return TextFile("", nil, key, connection, connection)
  }

  /// The timeout for another process's lock, in seconds.
  private static let blocking = 5.0

  private static func connection(_ path: String, cache: Int) throws -> BoundedConnection {
    try BoundedConnection(path, blocking: blocking, cache: cache, schema: schema, hasChecksums: true)
  }

  private static func open(
    _ path: String, _ inode: UInt64, _ key: [UInt8], _ meaning: Meaning, continuing start: Content?
  ) throws -> TextFile {
    let writer = try connection(path, cache: 4096)
    let isRight = try writer.inDatabase { database in
      let content = try content(database, of: path, key)
      if content.meaning.isOfSame(meaning) { return true }
      guard content == start else { return false }
      try write(Content(meaning: meaning, count: content.count, isWhole: false), of: path, key, to: database)
      return true
    }
    guard isRight else {
      writer.close()
      throw IndexFailure.damage
    }
    let reader = try connection(path, cache: 2048)
    return TextFile(path, inode, key, writer, reader)
  }

  /// Returns the content of a file, without replacing it.
  static func content(of path: String, _ key: [UInt8]) throws -> Content {
    guard OwnFolder.isOwn(file: path) else { throw IndexFailure.passing }
    let connection = try connection(path, cache: 64)
    defer { connection.close() }
    return try connection.inDatabase { database in try content(database, of: path, key) }
  }

  /// Reads the recorded content. Bounds the count: rows are numbered in 32 bits, whatever the file contains.
  private static func content(_ database: Database, of path: String, _ key: [UInt8]) throws -> Content {
    guard try database.integer("PRAGMA user_version") == schemaVersion else { throw IndexFailure.damage }
    let row = try database.rows("SELECT state, version, proof, count, isWhole, checksum FROM meaning")
    guard try row.next(), let count = UInt32(exactly: try row.integer(3)) else { throw IndexFailure.damage }
    let meaning = Meaning(
      state: try row.bytes(0), version: UInt64(bitPattern: try row.integer(1)), proof: try row.bytes(2))
    let content = Content(meaning: meaning, count: Int(count), isWhole: try row.integer(4) == 1)
    guard try content.checksum(of: path, key) == row.integer(5) else { throw IndexFailure.damage }
    return content
  }

  /// Replaces the recorded content.
  private static func write(_ content: Content, of path: String, _ key: [UInt8], to database: Database) throws {
    try database.execute("DELETE FROM meaning")
    try database.execute(
      "INSERT INTO meaning VALUES(?, ?, ?, ?, ?, ?)",
      [
        .blob(content.meaning.state), .integer(Int64(bitPattern: content.meaning.version)),
        .blob(content.meaning.proof), .integer(Int64(content.count)), .integer(content.isWhole ? 1 : 0),
        .integer(content.checksum(of: path, key)),
      ])
  }

  /// Removes the file, unless another has replaced it.
  func condemn() {
    close()
    if let inode { DatabaseFile.condemn(path, inode) }
  }

  func close() {
    reader.close()
    writer.close()
  }

  /// Returns the size in bytes, including the log.
  static func size(_ path: String) -> Int64 {
    ["", "-wal", "-shm"].reduce(0) { sum, suffix in
      var status = stat()
      return unsafe stat(path + suffix, &status) == 0 ? sum + Bounds.size(blocks: Int64(status.st_blocks)) : sum
    }
  }

  // MARK: Texts

  func reach() throws -> (count: Int, isWhole: Bool) {
    let content = try reader.inDatabase { database in try Self.content(database, of: path, key) }
    return (content.count, content.isWhole)
  }

  /// Adds texts. Throws unless exactly `present` texts are in the file.
  func add(_ texts: [IndexedText], behind present: Int, isLast: Bool) throws {
    try writer.inDatabase { database in
      try database.inTransaction {
        let content = try Self.content(database, of: path, key)
        let count = Int64(content.count)
        guard count == present else { throw IndexFailure.passing }
        let statement = try database.statement(
          """
          INSERT INTO text(rowid, \(IndexedText.columns.joined(separator: ", ")))
          VALUES(?, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT))
          """)
        for (number, text) in texts.enumerated() {
          try statement.execute([.integer(count + Int64(number))] + text.fields.map { .blob($0) })
        }
        let more = Content(meaning: content.meaning, count: content.count + texts.count, isWhole: isLast)
        try Self.write(more, of: path, key, to: database)
      }
      if isLast { try database.run("PRAGMA wal_checkpoint(TRUNCATE)") }
    }
  }

  /// Returns the numbers of the matching texts. Throws unless at least `count` texts are in the file.
  func numbers(matching expression: String, among count: Int) throws -> [UInt32] {
    try reader.inDatabase { database in
      guard try Self.content(database, of: path, key).count >= count else { throw IndexFailure.passing }
      let rows = try database.rows(
        "SELECT rowid FROM text WHERE text MATCH CAST(? AS TEXT) ORDER BY rowid", [.blob(Array(expression.utf8))])
      var numbers: [UInt32] = []
      var next: Int64 = 0
      while try rows.next() {
        // The numbers ascend without duplicates. Otherwise, the file is not ours.
        let number = try rows.integer(0)
        guard number >= next, let exact = UInt32(exactly: number) else { throw IndexFailure.damage }
        next = number + 1
        numbers.append(exact)
      }
      return numbers
    }
  }
}

extension TextFile.Content {
  /// Returns a checksum that authenticates the content together with the file's name.
  fileprivate func checksum(of path: String, _ key: [UInt8]) -> Int64 {
    var hash = KeyedHash(key: key)
    hash.combine(field: Array(path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }))
    for field in [meaning.state, meaning.proof] { hash.combine(field: field) }
    for number in [meaning.version, UInt64(count), isWhole ? 1 : 0] { hash.combine(number) }
    return Int64(bitPattern: hash.value)
  }
}
