internal import Bytes
internal import Pixels

/// A copy of a document with rebuilt cross-references appended, which list the objects found in all of its bytes. For a
/// document whose own cross-references are lost or make it seem locked.
///
/// As in other readers, the later of two objects with the same number wins, even if it is in an object stream.
@safe final class RecoveredDocument {
  /// The document's bytes from `%PDF-` on, with the new cross-references.
  let bytes: UnsafeRawBufferPointer
  /// Whether only attached files are encrypted.
  let hidesFiles: Bool
  /// The page objects, in file order.
  let pages: [PDFObject.ID]

  /// The maximum size of a document that is copied, in bytes.
  private static let largest = 1 << 30
  private static let largestStream = 1 << 26

  /// Returns `nil` if there is neither a catalog nor a page, or the document is too large. Returns `nil`, too, if it is
  /// locked and really encrypted.
  ///
  /// - Parameter replacesTree: Whether the catalog gets an empty page tree, for a document without one that libqpdf reads.
  init?(of source: UnsafeRawBufferPointer, isLocked: Bool, replacesTree: Bool = false) {
    guard source.count <= Self.largest else { return nil }
    let mark = Array("%PDF-".utf8)
    let start = unsafe source.prefix(1024).indices.first { unsafe source[$0...].starts(with: mark) } ?? 0
    var scan = unsafe RecoveryScan(UnsafeRawBufferPointer(rebasing: source[start...]))
    scan.run()
    // An object stream of an encrypted document cannot be read without its key.
    if scan.encryption == nil { scan.unpack(atMost: Self.largestStream) }
    pages = scan.pages
    let root = scan.root
    if root == nil, pages.isEmpty { return nil }
    hidesFiles = scan.encryption.map(Self.isForFilesOnly) ?? false
    if isLocked, !hidesFiles { return nil }
    let entries = scan.trailer(withEncryption: !hidesFiles)
    let size = source.count - start
    let catalog = replacesTree ? scan.catalogText ?? ObjectText(Array("<< /Type /Catalog >>".utf8)) : nil
    let table = Self.table(scan.places, root: root, replacing: catalog, entries, at: size)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size + table.count, alignment: 1)
    unsafe copy.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start...]))
    unsafe UnsafeMutableRawBufferPointer(rebasing: copy[size...]).copyBytes(from: table)
    unsafe bytes = UnsafeRawBufferPointer(copy)
  }

  deinit { unsafe bytes.deallocate() }

  /// Returns whether only attached files are encrypted: neither strings nor streams name a crypt filter (ISO 32000-1,
  /// table 20).
  private static func isForFilesOnly(_ encryption: ObjectText) -> Bool {
    encryption.integer(for: "/V") ?? 0 >= 4
      && ["/StmF", "/StrF"].allSatisfy { encryption.value(of: $0)?.elementsEqual("/Identity".utf8) ?? true }
  }

  /// Returns a cross-reference stream (ISO 32000-1, 7.5.8). A catalog and an empty page tree precede it if the document
  /// has no catalog, or `catalog` replaces it.
  private static func table(
    _ places: [Int32: RecoveryScan.Place], root: PDFObject.ID?, replacing catalog: ObjectText?, _ entries: String,
    at end: Int
  ) -> [UInt8] {
    var places = places
    var added: [UInt8] = [0x0A]
    let root = root ?? PDFObject.ID(number: (places.keys.max() ?? 0) + 1, generation: 0)
    if catalog != nil || places[root.number] == nil {
      let rest = catalog?.without(["/Pages"]).bytes.dropFirst(2) ?? Array(" /Type /Catalog >>".utf8)[...]
      places[root.number] = .byte(end + added.count, generation: root.generation)
      let tree = (places.keys.max() ?? 0) + 1
      added += Array("\(root.number) \(root.generation) obj\n<< /Pages \(tree) 0 R".utf8) + rest
      added += "\nendobj\n".utf8
      places[tree] = .byte(end + added.count, generation: 0)
      added += "\(tree) 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\n".utf8
    }
    let own = (places.keys.max() ?? 0) + 1
    let start = end + added.count
    var rows: [UInt8] = []
    var runs: [(first: Int32, count: Int)] = []
    for number in places.keys.sorted() + [own] {
      if let last = runs.last, Int(last.first) + last.count == Int(number) {
        runs[runs.count - 1].count += 1
      } else {
        runs.append((number, 1))
      }
      switch places[number] {
      case .byte(let place, let generation): rows += row(1, place, Int(generation))
      case .packed(let stream, let index): rows += row(2, Int(stream), index)
      case nil: rows += row(1, start, 0)
      }
    }
    let index = runs.map { "\($0.first) \($0.count)" }.joined(separator: " ")
    let head = """
      \(own) 0 obj
      << /Type /XRef /Size \(own + 1) /W [1 4 2] /Index [\(index)] /Length \(rows.count) \
      /Root \(root.number) \(root.generation) R\(entries) >>
      stream

      """
    return added + Array(head.utf8) + rows + Array("\nendstream\nendobj\nstartxref\n\(start)\n%%EOF\n".utf8)
  }

  private static func row(_ kind: UInt8, _ value: Int, _ other: Int) -> [UInt8] {
    [kind] + [UInt8](bigEndian: value, count: 4) + [UInt8](bigEndian: other, count: 2)
  }
}
