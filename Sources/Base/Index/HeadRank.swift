internal import Bytes
internal import CSQLite
internal import Glibc

/// The SQL function `headrank(heads, parameters)`: the relevance of a row of `heads` for the phrases of a query, in
/// millionths.
///
/// It differs from FTS5's `bm25` in that the weight of each phrase is a parameter, and the usual size of a row is a
/// constant. So the relevance of a document does not depend on the other documents in its file, and that of documents
/// in several files can be compared.
enum HeadRank {
  /// Returns the second argument: the weights of the columns, and those of the phrases in millionths.
  static func parameters(columns: [Int], phrases: [Int64]) -> [UInt8] {
    (columns.map { Int64($0) } + phrases).flatMap { [UInt8](littleEndian: UInt64(bitPattern: $0)) }
  }

  /// Adds the function to a connection.
  static func attach(to database: Database) throws {
    var statement: OpaquePointer?
    var api: UnsafeMutablePointer<fts5_api>?
    guard unsafe sqlite3_prepare_v2(database.connection, "SELECT fts5(?1)", -1, &statement, nil) == SQLITE_OK else {
      throw IndexFailure.passing
    }
    unsafe withUnsafeMutablePointer(to: &api) { address in
      // The type of the pointer is identified by this name (FTS5 documentation, section 7), which is used until the
      // statement ends.
      unsafe "fts5_api_ptr".withCString { name in
        _ = unsafe sqlite3_bind_pointer(statement, 1, address, name, nil)
        _ = unsafe sqlite3_step(statement)
        _ = unsafe sqlite3_finalize(statement)
      }
    }
    guard let api = unsafe api, let create = unsafe api.pointee.xCreateFunction,
      unsafe create(api, "headrank", nil, rank, nil) == SQLITE_OK
    else { throw IndexFailure.passing }
  }

  /// The usual number of words of a title, a name and people together.
  private static let usualSize = 8.0

  private typealias Function =
    @convention(c) (
      UnsafePointer<Fts5ExtensionApi>?, OpaquePointer?, OpaquePointer?, CInt, UnsafeMutablePointer<OpaquePointer?>?
    ) -> Void

  private static let rank: Function = { api, row, result, count, values in
    let relevance = unsafe relevance(api, row, count, values) ?? 0
    unsafe sqlite3_result_int64(result, Int64(relevance))
  }

  private static func relevance(
    _ api: UnsafePointer<Fts5ExtensionApi>?, _ row: OpaquePointer?, _ count: CInt,
    _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) -> Double? {
    guard let api = unsafe api?.pointee, count == 1, let value = unsafe values?.pointee,
      let columnCount = unsafe api.xColumnCount?(row), let phraseCount = unsafe api.xPhraseCount?(row),
      let bytes = unsafe sqlite3_value_blob(value), columnCount >= 0, phraseCount >= 0
    else { return nil }
    let (columns, phrases) = (Int(columnCount), Int(phraseCount))
    guard unsafe Int(sqlite3_value_bytes(value)) == 8 * (columns + phrases) else { return nil }
    let parameters = (0..<columns + phrases).map { place in
      unsafe Double(Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * place, as: Int64.self)))
    }
    var instances: CInt = 0
    guard unsafe api.xInstCount?(row, &instances) == SQLITE_OK else { return nil }
    var frequencies = [Double](repeating: 0, count: phrases)
    for instance in 0..<max(0, instances) {
      var (phrase, column, offset): (CInt, CInt, CInt) = (0, 0, 0)
      guard unsafe api.xInst?(row, instance, &phrase, &column, &offset) == SQLITE_OK,
        frequencies.indices.contains(Int(phrase)), (0..<columns).contains(Int(column))
      else { return nil }
      frequencies[Int(phrase)] += parameters[Int(column)]
    }
    var size: CInt = 0
    guard unsafe api.xColumnSize?(row, -1, &size) == SQLITE_OK else { return nil }
    let share = 1.2 * (0.25 + 0.75 * Double(max(0, size)) / usualSize)
    return frequencies.indices.reduce(0) { sum, phrase in
      sum + parameters[columns + phrase] * frequencies[phrase] * 2.2 / (frequencies[phrase] + share)
    }
  }
}
