internal import Bytes
internal import Files
internal import Glibc

/// An open index file of the documents below one folder. Throws `IndexFailure`.
final class DocumentFile: ReplaceableFile {
  private let path: String
  /// The inode number of the file. `nil` for an unnamed file.
  private let inode: UInt64?
  private let writer: BoundedConnection
  let reader: BoundedConnection

  /// The version of the tables and of the folding of their words, incremented when either changes.
  fileprivate static let schemaVersion: Int64 = 108

  private static var schema: String {
    """
    CREATE TABLE meaning(version INTEGER NOT NULL, options INTEGER NOT NULL, checksum INTEGER NOT NULL,
      removed INTEGER NOT NULL, length INTEGER NOT NULL) STRICT;
    CREATE TABLE numbers(last INTEGER NOT NULL, sources INTEGER NOT NULL) STRICT;
    CREATE TABLE removed(id INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE ranks(first INTEGER PRIMARY KEY, packed BLOB NOT NULL) STRICT;
    CREATE TABLE source(id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, size INTEGER NOT NULL,
      modified INTEGER NOT NULL, changed INTEGER NOT NULL, inode INTEGER NOT NULL, isDone INTEGER NOT NULL,
      programs INTEGER NOT NULL, error BLOB NOT NULL) STRICT;
    CREATE INDEX sourcesByKind ON source(kind) WHERE kind > 0;
    CREATE INDEX sourcesOpen ON source(id) WHERE isDone = 0;
    CREATE INDEX sourcesInPart ON source(programs) WHERE programs <> 0;
    CREATE TABLE document(id INTEGER PRIMARY KEY, source INTEGER NOT NULL, path BLOB NOT NULL, kind INTEGER NOT NULL,
      date INTEGER, day INTEGER, size INTEGER, isLocked INTEGER NOT NULL, isDeleted INTEGER NOT NULL, title BLOB NOT NULL,
      people BLOB NOT NULL, extension BLOB NOT NULL, language BLOB NOT NULL, parts INTEGER NOT NULL, length INTEGER NOT NULL,
      content INTEGER NOT NULL) STRICT;
    CREATE INDEX documentsOfSource ON document(source);
    CREATE INDEX documentsWithParts ON document(parts) WHERE parts > 0;
    CREATE INDEX documentsLocked ON document(id) WHERE isLocked = 1;
    CREATE INDEX documentsDeleted ON document(id) WHERE isDeleted = 1;
    CREATE TABLE label(name BLOB NOT NULL, document INTEGER NOT NULL, PRIMARY KEY(name, document)) STRICT, WITHOUT ROWID;
    CREATE TABLE text(id INTEGER PRIMARY KEY, packed BLOB NOT NULL) STRICT;
    CREATE VIRTUAL TABLE heads USING fts5(\(IndexedDocument.columns.joined(separator: ", ")), content='',
      tokenize='unicode61 remove_diacritics 0 categories ''L* M* N* Co''');
    CREATE VIRTUAL TABLE bodies USING fts5(body, content='', columnsize=0, detail='none',
      tokenize='unicode61 remove_diacritics 0 categories ''L* M* N* Co''');
    CREATE VIRTUAL TABLE headVocabulary USING fts5vocab(heads, row);
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab(bodies, row);
    INSERT INTO bodies(bodies, rank) VALUES('hashsize', \(wordsInMemory));
    """
  }

  /// The size at which words are flushed, in bytes. A larger size needs less merging.
  private static let wordsInMemory = 16 << 20

  private init(_ path: String, _ inode: UInt64?, _ writer: BoundedConnection, _ reader: BoundedConnection) {
    (self.path, self.inode, self.writer, self.reader) = (path, inode, writer, reader)
  }

  var isInPlace: Bool { isTemporary || DatabaseFile.inode(of: path) == inode }
  var isTemporary: Bool { inode == nil }

  // MARK: Opening

  /// Opens the file, or creates it. A damaged file, or one of another version, is replaced.
  ///
  /// - Parameter share: the number of files that share the memory for caches.
  static func open(
    _ path: String, _ key: [UInt8], version: UInt64, options: UInt64, share: Int = 1
  ) throws -> DocumentFile {
    let meaning = (Int64(bitPattern: version), Int64(bitPattern: options))
    return try DatabaseFile.open(path) { inode in
      let writer = try connection(path, cache: max(512, 16_384 / share))
      guard try writer.hasMeaning(meaning, checksum(path, key, version, options)) else {
        writer.close()
        throw IndexFailure.damage
      }
      return DocumentFile(path, inode, writer, try connection(path, cache: max(512, 8192 / share)))
    } orMake: {
      try DatabaseFile.make(
        path, "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL", hasChecksums: true
      ) {
        database in
        try database.run("PRAGMA user_version = \(schemaVersion); \(schema)")
        try begin(database, meaning, checksum(path, key, version, options))
      }
    }.file
  }

  /// Writes the rows of an empty index.
  private static func begin(
    _ database: Database, _ meaning: (version: Int64, options: Int64), _ checksum: Int64
  ) throws {
    try database.run("INSERT INTO numbers VALUES(0, 0)")
    try database.execute(
      "INSERT INTO meaning VALUES(?, ?, ?, 0, 0)",
      [.integer(meaning.version), .integer(meaning.options), .integer(checksum)])
  }

  /// Creates an unnamed file, for this process only.
  static func temporary() throws -> DocumentFile {
    let connection = try BoundedConnection(
      temporary: "PRAGMA user_version = \(schemaVersion); \(schema)", cache: 16_384)
    try connection.inDatabase { database in try begin(database, (0, 0), 0) }
    return DocumentFile("", nil, connection, connection)
  }

  /// Opens a file that no process changes. Removes it if it is damaged, but not if it is of another version.
  static func openPublished(_ path: String, version: UInt64, options: UInt64) throws -> DocumentFile {
    guard OwnFolder.isOwn(file: path), let inode = DatabaseFile.inode(of: path) else { throw IndexFailure.passing }
    do {
      guard try DatabaseFile.userVersion(of: path) == schemaVersion else { throw IndexFailure.passing }
      let connection = try connection(path, cache: 1024, isImmutable: true)
      let meaning = (Int64(bitPattern: version), Int64(bitPattern: options))
      guard try connection.hasMeaning(meaning, checksum(path, DocumentParts.key, version, options)) else {
        throw IndexFailure.passing
      }
      return DocumentFile(path, inode, connection, connection)
    } catch {
      if IndexFailure(error) == .damage { DatabaseFile.condemn(path, inode) }
      throw error
    }
  }

  /// Copies the file to a directory, unless a process writes to it. Returns whether the copy is there.
  func publish(to folder: String) throws -> Bool {
    try writer.inDatabase { database in
      let log = try database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
      guard try log.next(), try log.integer(0) == 0 else { return false }
      let name = path.split(separator: "/").last.map(String.init) ?? ""
      return PublishedFile.copy(path, to: "\(folder)/\(name)")
    }
  }

  /// The timeout for another process's lock, in seconds.
  private static let blocking = 5.0

  private static func connection(
    _ path: String, cache: Int, isImmutable: Bool = false
  ) throws -> BoundedConnection {
    try BoundedConnection(
      path, blocking: blocking, cache: cache, schema: schema, hasChecksums: true, isImmutable: isImmutable)
  }

  /// Returns a checksum that authenticates the file together with its name.
  private static func checksum(_ path: String, _ key: [UInt8], _ version: UInt64, _ options: UInt64) -> Int64 {
    var hash = KeyedHash(key: key)
    hash.combine(field: Array(path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }))
    hash.combine(version)
    hash.combine(options)
    return Int64(bitPattern: hash.value)
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

  // MARK: Sources

  func forEachSource(isLeadingOnly: Bool, _ body: (DocumentSource) -> Void) throws {
    try reader.inDatabase { database in
      let rows = try database.rows(
        """
        SELECT \(Self.sourceColumns) FROM source
        \(isLeadingOnly ? "WHERE kind > 0" : "")
        """)
      while try rows.next() { body(try Self.source(rows)) }
    }
  }

  /// The columns of a source, as `source(_:)` reads them.
  static let sourceColumns = ["id", "path", "size", "modified", "changed", "inode", "isDone", "kind", "programs"]
    .map { "source.\($0)" }.joined(separator: ", ")

  static func source(_ rows: borrowing Rows) throws -> DocumentSource {
    DocumentSource(
      id: try rows.integer(0), path: try rows.bytes(1), state: try state(rows, from: 2),
      isDone: try rows.integer(6) == 1,
      kind: DocumentSource.Kind(rawValue: UInt8(clamping: try rows.integer(7))) ?? .file,
      programs: try rows.integer(8))
  }

  /// Reads the state of a source, from four columns.
  static func state(_ rows: borrowing Rows, from column: Int32) throws -> DocumentSource.State {
    DocumentSource.State(
      size: try rows.integer(column), modified: try rows.integer(column + 1), changed: try rows.integer(column + 2),
      inode: try rows.integer(column + 3))
  }

  func source(at path: [UInt8]) throws -> DocumentSource? {
    try reader.inDatabase { database in
      let rows = try database.rows(
        "SELECT \(Self.sourceColumns) FROM source WHERE path = ?", [.blob(path)])
      return try rows.next() ? Self.source(rows) : nil
    }
  }

  /// Returns a source's documents, by path.
  func documents(of source: Int64) throws -> [[UInt8]: KnownDocument] {
    try reader.inDatabase { database in
      var found: [[UInt8]: KnownDocument] = [:]
      let rows = try database.rows(
        "SELECT id, path, content, parts, kind FROM document WHERE source = ?", [.integer(source)])
      while try rows.next() {
        found[try rows.bytes(1)] = KnownDocument(
          id: try rows.integer(0), kind: UInt8(clamping: try rows.integer(4)),
          content: UInt64(bitPattern: try rows.integer(2)), parts: Int(clamping: try rows.integer(3)))
      }
      return found
    }
  }

  /// The numbers that a transaction changes.
  private struct Numbers {
    /// The number of the next document.
    var next: Int64
    /// The number by which that of sources grows.
    var sources = 0
    /// The facts of the documents that are added.
    var ranks: [DocumentRank] = []
  }

  /// Applies changes in one transaction.
  func apply(_ changes: [DocumentIndex.Change]) throws {
    try writer.inDatabase { database in
      try database.inTransaction {
        // Words stay when their document is removed, so its number is not used again.
        let first = (try database.integer("SELECT last FROM numbers") ?? 0) + 1
        var numbers = Numbers(next: first)
        for change in changes { try apply(change, &numbers, database) }
        if !numbers.ranks.isEmpty { try add(numbers.ranks, from: first, database) }
        try database.execute(
          "UPDATE numbers SET last = ?, sources = sources + ?",
          [.integer(numbers.next - 1), .integer(Int64(numbers.sources))])
      }
    }
  }

  /// The number of documents after which a row of `ranks` is full.
  private static let ranksInRow = 1000

  /// Adds the facts of documents to the last row of `ranks`, or as a row of their own.
  private func add(_ ranks: [DocumentRank], from first: Int64, _ database: Database) throws {
    let packed = ranks.flatMap(\.packed)
    try database.execute(
      """
      UPDATE ranks SET packed = CAST(packed || ? AS BLOB)
      WHERE first = (SELECT max(first) FROM ranks) AND length(packed) < ?
      """, [.blob(packed), .integer(Int64(Self.ranksInRow * DocumentRank.size))])
    if database.changesCount > 0 { return }
    try database.execute("INSERT INTO ranks VALUES(?, ?)", [.integer(first), .blob(packed)])
  }

  private func apply(_ change: DocumentIndex.Change, _ numbers: inout Numbers, _ database: Database) throws {
    writer.renewLimit()
    switch change {
    case .begin(let path, let state):
      try database.execute(
        """
        INSERT INTO source(path, kind, size, modified, changed, inode, isDone, programs, error)
        VALUES(?, 0, ?, ?, ?, ?, 0, 0, x'')
        ON CONFLICT(path) DO NOTHING
        """,
        [.blob(path), .integer(state.size), .integer(state.modified), .integer(state.changed), .integer(state.inode)])
      numbers.sources += database.changesCount
    case .add(let path, let documents):
      guard let source = try database.integer("SELECT id FROM source WHERE path = ?", [.blob(path)]) else {
        throw IndexFailure.passing
      }
      for document in documents {
        // Numbers have 32 bits.
        guard numbers.next < UInt32.max else { throw IndexFailure.passing }
        try add(document, numbers.next, of: source, database)
        numbers.ranks.append(DocumentRank(date: document.date, length: document.body.count))
        numbers.next += 1
      }
    case .remove(let ids):
      for id in ids { try remove("id", id, database) }
    case .finish(let path, let state, let kind, let programs, let error):
      try database.execute(
        """
        UPDATE source SET kind = ?, size = ?, modified = ?, changed = ?, inode = ?, isDone = 1, programs = ?, error = ?
        WHERE path = ?
        """,
        [
          .integer(Int64(kind.rawValue)),
          .integer(state.size), .integer(state.modified), .integer(state.changed), .integer(state.inode),
          .integer(programs), .blob(error), .blob(path),
        ])
    case .forget(let id):
      try remove("source", id, database)
      try database.execute("DELETE FROM source WHERE id = ?", [.integer(id)])
      numbers.sources -= database.changesCount
    }
  }

  /// Removes the documents that have a number in a column.
  private func remove(_ column: String, _ number: Int64, _ database: Database) throws {
    let value = [SQLValue.integer(number)]
    let ids = "SELECT id FROM document WHERE \(column) = ?"
    try database.execute("DELETE FROM text WHERE id IN (\(ids))", value)
    try database.execute("INSERT INTO removed \(ids)", value)
    try database.execute("DELETE FROM document WHERE \(column) = ?", value)
    try database.execute("UPDATE meaning SET removed = removed + ?", [.integer(Int64(database.changesCount))])
  }

  private func add(_ document: IndexedDocument, _ id: Int64, of source: Int64, _ database: Database) throws {
    writer.renewLimit()
    let values: [SQLValue] = [
      .integer(id), .integer(source), .blob(document.path), .integer(Int64(document.kind)),
      document.date.map { .integer($0) } ?? .null, document.day.map { .integer(Int64($0)) } ?? .null,
      document.size.map { .integer($0) } ?? .null, .integer(document.isLocked ? 1 : 0),
      .integer(document.isDeleted ? 1 : 0), .blob(document.title), .blob(document.people),
      .blob(document.fileExtension), .blob(document.language), .integer(Int64(document.parts)),
      .integer(Int64(document.body.count)), .integer(Int64(bitPattern: document.content)),
    ]
    try database.execute("INSERT INTO document VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    // Labels stay when their document is removed, as its words do.
    for label in document.labels {
      try database.execute("INSERT OR IGNORE INTO label VALUES(?, ?)", [.blob(label), .integer(id)])
    }
    if let text = document.text, !text.isEmpty {
      try database.execute(
        "INSERT INTO text VALUES(?, ?)", [.integer(id), .blob(PackedText.packed(Array(text.prefix(PackedText.most))))])
    }
    if document.words.contains(where: { !$0.isEmpty }) {
      try database.execute(
        """
        INSERT INTO heads(rowid, \(IndexedDocument.columns.joined(separator: ", ")))
        VALUES(?, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT))
        """, [.integer(id)] + document.words.map { .blob($0) })
    }
    if !document.body.isEmpty {
      try database.execute(
        "INSERT INTO bodies(rowid, body) VALUES(?, CAST(? AS TEXT))", [.integer(id), .blob(document.body)])
      try database.execute("UPDATE meaning SET length = length + ?", [.integer(Int64(document.body.count))])
    }
  }

  /// Merges the words of many transactions, and empties the log.
  func settle() throws {
    if isTemporary { return }
    try writer.inDatabase { database in try database.run("PRAGMA wal_checkpoint(TRUNCATE)") }
  }

  func optimize() throws {
    try writer.inDatabase { database in
      try database.run("INSERT INTO bodies(bodies) VALUES('optimize'); INSERT INTO heads(heads) VALUES('optimize')")
      try database.run("PRAGMA incremental_vacuum")
    }
    try settle()
  }
}

extension BoundedConnection {
  /// Returns whether the file is of a version, options and checksum. Throws damage if its tables are of another version.
  fileprivate func hasMeaning(_ meaning: (version: Int64, options: Int64), _ checksum: Int64) throws -> Bool {
    try inDatabase { database in
      guard try database.integer("PRAGMA user_version") == DocumentFile.schemaVersion else {
        throw IndexFailure.damage
      }
      let row = try database.rows("SELECT version, options, checksum FROM meaning")
      guard try row.next() else { throw IndexFailure.damage }
      return try row.integer(0) == meaning.version && row.integer(1) == meaning.options && row.integer(2) == checksum
    }
  }
}
