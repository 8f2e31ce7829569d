internal import Bytes

/// The statements of searches.
extension DocumentFile {
  /// Returns the numbers of documents.
  func counts() throws -> DocumentIndex.Counts {
    try reader.inDatabase { database in
      let row = try database.rows("SELECT last, removed, length FROM numbers, meaning")
      guard try row.next() else { throw IndexFailure.damage }
      let (last, removed) = (try row.integer(0), try row.integer(1))
      guard last < UInt32.max, removed >= 0, removed <= last else { throw IndexFailure.damage }
      return DocumentIndex.Counts(
        documents: Int(last - removed), limit: Int(last) + 1, removed: Int(removed), length: max(0, try row.integer(2)))
    }
  }

  /// Returns the number of sources, and of those that are not done, or that other programs than these read in part.
  func sourceCounts(programs: Int64) throws -> (all: Int, open: Int) {
    try reader.inDatabase { database in
      (
        Int(clamping: try database.integer("SELECT sources FROM numbers") ?? 0),
        Int(clamping: try database.integer("SELECT count(*) FROM source WHERE isDone = 0") ?? 0)
          + Int(
            clamping: try database.integer(
              "SELECT count(*) FROM source WHERE programs <> 0 AND isDone = 1 AND programs <> ?", [.integer(programs)])
              ?? 0)
      )
    }
  }

  /// Returns the numbers of all documents, ascending.
  func numbers() throws -> [UInt32] {
    let removed = Set(try numbers("SELECT id FROM removed", []))
    let limit = UInt32(try counts().limit)
    return (1..<limit).filter { !removed.contains($0) }
  }

  /// Returns the numbers that a statement selects, ascending or not.
  func numbers(_ sql: String, _ values: [SQLValue]) throws -> [UInt32] {
    try reader.inDatabase { database in
      let rows = try database.rows(sql, values)
      var numbers: [UInt32] = []
      while try rows.next() {
        guard let number = UInt32(exactly: try rows.integer(0)) else { throw IndexFailure.damage }
        numbers.append(number)
      }
      return numbers
    }
  }

  /// Returns the numbers of the documents below a directory, in no order.
  func numbers(below folder: [UInt8]) throws -> [UInt32] {
    let (slash, dot) = (UInt8(ascii: "/"), UInt8(ascii: "."))
    let all = "SELECT document.id FROM document JOIN source ON source.id = document.source"
    var found = try numbers(
      "\(all) WHERE source.path > ? AND source.path < ?", [.blob(folder + [slash]), .blob(folder + [slash + 1])])
    // The directory may be in a view, whose name starts with that of its source and a dot.
    for place in folder.indices.dropFirst().filter({ folder[$0] == dot }).suffix(Self.sourcesAtMost) {
      let start = folder[place...] + [slash]
      found += try numbers(
        "\(all) WHERE source.path = ? AND substr(document.path, 1, ?) = ?",
        [.blob(Array(folder[..<place])), .integer(Int64(start.count)), .blob(Array(start))])
    }
    return found
  }

  /// The maximum number of sources in whose views a directory may be.
  private static let sourcesAtMost = 1000

  /// Returns the facts by which results are ordered, by the numbers of their documents, including removed ones.
  func ranks() throws -> [DocumentRank] {
    try reader.inDatabase { database in
      let last = try database.integer("SELECT last FROM numbers") ?? 0
      guard (0..<Int64(UInt32.max)).contains(last) else { throw IndexFailure.damage }
      // No document has the number 0.
      var ranks = [DocumentRank(date: nil, length: 0)]
      ranks.reserveCapacity(Int(last) + 1)
      let rows = try database.rows("SELECT first, packed FROM ranks ORDER BY first")
      while try rows.next() {
        guard try rows.integer(0) == Int64(ranks.count) else { throw IndexFailure.damage }
        DocumentRank.append(try rows.bytes(1), to: &ranks)
      }
      // Another process may have added documents in between.
      guard ranks.count > last else { throw IndexFailure.damage }
      return ranks
    }
  }

  /// Calls `body` with the head of each document, until it returns false.
  func forEachHead(_ body: (UInt32, DocumentHead) -> Bool) throws {
    try reader.inDatabase { database in
      let rows = try database.rows(
        """
        SELECT document.id, source.path, document.path, title, people
        FROM document JOIN source ON source.id = document.source
        """)
      while try rows.next() {
        reader.renewLimit()
        guard let number = UInt32(exactly: try rows.integer(0)) else { throw IndexFailure.damage }
        let path = try rows.bytes(1) + rows.bytes(2)
        let head = DocumentHead(
          name: path.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? [], title: try rows.bytes(3),
          people: try rows.bytes(4))
        if !body(number, head) { return }
      }
    }
  }

  /// Returns pairs of numbers that a statement selects.
  func pairs(_ sql: String, _ values: [SQLValue]) throws -> [(UInt32, Int64)] {
    try reader.inDatabase { database in
      let rows = try database.rows(sql, values)
      var pairs: [(UInt32, Int64)] = []
      while try rows.next() {
        guard let number = UInt32(exactly: try rows.integer(0)) else { throw IndexFailure.damage }
        pairs.append((number, try rows.integer(1)))
      }
      return pairs
    }
  }

  /// Returns all labels, including those of removed documents.
  func labels() throws -> [[UInt8]] {
    try reader.inDatabase { database in
      // One lookup for each label, however many documents have it.
      let rows = try database.rows(
        """
        WITH RECURSIVE names(name) AS (
          SELECT min(name) FROM label
          UNION ALL SELECT (SELECT min(name) FROM label WHERE name > names.name) FROM names WHERE name IS NOT NULL)
        SELECT name FROM names WHERE name IS NOT NULL
        """)
      var labels: [[UInt8]] = []
      while try rows.next() { labels.append(try rows.bytes(0)) }
      return labels
    }
  }

  func document(_ id: UInt32) throws -> FoundDocument? {
    try reader.inDatabase { database in
      let rows = try database.rows(
        """
        SELECT source.path, document.path, document.kind, date, day, document.size, title, people, parts, length,
          source.size, source.modified, source.changed, source.inode
        FROM document JOIN source ON source.id = document.source WHERE document.id = ?
        """, [.integer(Int64(id))])
      guard try rows.next() else { return nil }
      return FoundDocument(
        id: UInt64(id), source: try rows.bytes(0), state: try Self.state(rows, from: 10), path: try rows.bytes(1),
        kind: UInt8(clamping: try rows.integer(2)), date: try? rows.integer(3),
        day: (try? rows.integer(4)).map { Int32(clamping: $0) }, size: try? rows.integer(5),
        title: try rows.bytes(6), people: try rows.bytes(7), parts: Int(clamping: try rows.integer(8)),
        length: Int(clamping: try rows.integer(9)))
    }
  }

  /// Returns the sources of documents, with the documents' numbers.
  func sources(of numbers: [UInt32]) throws -> [(number: UInt32, source: DocumentSource)] {
    try reader.inDatabase { database in
      var sources: [(number: UInt32, source: DocumentSource)] = []
      for number in numbers {
        reader.renewLimit()
        let rows = try database.rows(
          """
          SELECT \(Self.sourceColumns)
          FROM document JOIN source ON source.id = document.source WHERE document.id = ?
          """, [.integer(Int64(number))])
        if try rows.next() { sources.append((number, try Self.source(rows))) }
      }
      return sources
    }
  }

  /// Returns the stored text of a document: its own, or its part of that of the document of which it is a part.
  func text(of id: UInt32) throws -> [UInt8]? {
    try reader.inDatabase { database in
      let rows = try database.rows(
        """
        SELECT text.id, packed, parts FROM text JOIN document ON document.id = text.id
        WHERE text.id <= ? ORDER BY text.id DESC LIMIT 1
        """, [.integer(Int64(id))])
      guard try rows.next() else { return nil }
      let part = Int64(id) - (try rows.integer(0))
      let parts = try rows.integer(2)
      guard part <= parts else { return nil }
      let text = try PackedText.text(try rows.bytes(1))
      if parts == 0 { return text }
      // The document has no text besides that of its parts.
      if part == 0 { return nil }
      let pages = text.split(separator: 0x0c, maxSplits: Int(clamping: part), omittingEmptySubsequences: false)
      return pages.count >= part ? Array(pages[Int(part) - 1]) : nil
    }
  }

  /// Returns the stored texts of a document's parts. Returns `nil` if they are not stored with it.
  func partTexts(of id: UInt32) throws -> [[UInt8]]? {
    try reader.inDatabase { database in
      let rows = try database.rows(
        "SELECT packed, parts FROM text JOIN document ON document.id = text.id WHERE text.id = ? AND parts > 0",
        [.integer(Int64(id))])
      guard try rows.next() else { return nil }
      let parts = Int(clamping: try rows.integer(1))
      return try PackedText.text(try rows.bytes(0)).split(separator: 0x0c, omittingEmptySubsequences: false)
        .prefix(parts).map { Array($0) }
    }
  }

  /// Returns words of the index with the number of their documents.
  func words(
    isOfHeads: Bool, from first: String, through last: String, atMost limit: Int
  ) throws -> [(word: String, count: Int)] {
    try reader.inDatabase { database in
      let rows = try database.rows(
        """
        SELECT term, doc FROM \(isOfHeads ? "headVocabulary" : "vocabulary")
        WHERE term >= CAST(? AS TEXT) AND term <= CAST(? AS TEXT) LIMIT ?
        """, [.blob(Array(first.utf8)), .blob(Array(last.utf8)), .integer(Int64(limit))])
      var words: [(word: String, count: Int)] = []
      while try rows.next() {
        if let word = rows.text(0) { words.append((word, Int(clamping: try rows.integer(1)))) }
      }
      return words
    }
  }
}
