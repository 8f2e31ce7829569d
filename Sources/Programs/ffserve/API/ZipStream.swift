import Bytes
import Codecs
import NIOCore
import Tree

/// A directory as a ZIP archive: everything in it except the listed views, which would only repeat its files.
///
/// Compressible files are deflated on the threads that read the tree, at most one piece ahead of the bytes sent.
/// Unreadable files are named in a text at the end.
final class ZipStream: BodySource {
  var length: Int64? { nil }

  private struct Frame {
    let place: ResolvedPath
    let path: [UInt8]
    /// The remaining entries, the next one last.
    var rows: [FolderRows.Row]
  }

  private struct Open {
    let entry: ZipRecords.Entry
    let file: Tree.OpenFile
    var crc = CRC32()
    /// The numbers of bytes read and written.
    var count: Int64 = 0
    var packed: Int64 = 0
    /// Whether the last byte has been compressed.
    var isWhole = false
  }

  private struct State {
    var frames: [Frame] = []
    var open: Open?
    var records = ZipRecords()
    var missing: [String] = []
    var isEnded = false
  }

  private let visitor: Visitor
  // Used by one thread at a time.
  private nonisolated(unsafe) var state = State()
  /// The compressor. Nil if everything is stored.
  private nonisolated(unsafe) let packer: ZipPacker?
  private let allocator = ByteBufferAllocator()

  private static let piece = ZipPacker.piece
  /// The maximum number of bytes read for one piece of the archive. Other jobs wait for the thread.
  private static let mostRead: Int64 = 1 << 20
  private static let deepest = 256
  private static let mostEntries = 1_000_000
  /// The maximum number of unreadable files that are named.
  private static let mostMissing = 10_000

  /// - Parameter chosen: the entries to include. All if empty.
  init(
    _ folder: ResolvedPath, named name: FileName, _ method: ZipRecords.Method, only chosen: Set<FileName> = [],
    for visitor: Visitor
  ) throws(Fault) {
    self.visitor = visitor
    unsafe packer = method == .deflated ? ZipPacker() : nil
    let rows = try entries(of: folder).filter { chosen.isEmpty || chosen.contains($0.name) }
    unsafe state.frames = [Frame(place: folder, path: name.bytes + [UInt8(ascii: "/")], rows: rows)]
  }

  /// Returns the entries of a directory in reverse order.
  private func entries(of folder: ResolvedPath) throws(Fault) -> [FolderRows.Row] {
    var rows: [FolderRows.Row] = []
    try FolderRows(folder, visitor.site.library).eachName { row in
      if row.view == nil { rows.append(row) }
      return rows.count < Self.mostEntries
    }
    return rows.reversed()
  }

  func next() throws(Fault) -> ByteBuffer? {
    var output = allocator.buffer(capacity: Self.piece + 1024)
    var read: Int64 = 0
    do throws(Fault) {
      while output.readableBytes < Self.piece, read < Self.mostRead || output.readableBytes == 0,
        unsafe !state.isEnded
      {
        if unsafe state.open != nil { read += try copy(to: &output) } else { try step(&output) }
      }
    } catch {
      // Available bytes are sent before the wait.
      guard error.isDelay, output.readableBytes > 0 else { throw error }
    }
    return output.readableBytes > 0 ? output : nil
  }

  /// Begins the next entry.
  private func step(_ output: inout ByteBuffer) throws(Fault) {
    guard let frame = unsafe state.frames.last else { return finish(&output) }
    guard let row = frame.rows.last else {
      unsafe state.frames.removeLast()
      return
    }
    let path = frame.path + row.name.bytes
    do throws(Fault) {
      let (depth, count) = unsafe (state.frames.count, state.records.count)
      guard path.count < 65_000, depth < Self.deepest, count < Self.mostEntries
      else { throw Fault(.limit, "it is too deep, or exceeds the number of entries") }
      let place = try ResolvedPath.find(frame.place.names + [row.name], in: frame.place.tree, .blocking)
      let attributes = place.attributes
      switch attributes.kind {
      // The target of a link may be hidden.
      case _ where row.kind == .link && !visitor.sees(place.names): break
      case .folder:
        // A link to a directory could cause a loop.
        if row.kind == .link { break }
        let rows = try entries(of: place)
        let entry = unsafe state.records.begin(
          path + [UInt8(ascii: "/")], .folder, .stored, attributes.modified, permissions: attributes.permissions,
          isLarge: false, to: &output)
        unsafe try state.records.end(entry, crc: 0, count: 0, packed: 0, to: &output)
        drop()
        unsafe state.frames.append(Frame(place: place, path: path + [UInt8(ascii: "/")], rows: rows))
        return
      case .file:
        let file = try place.open(.blocking)
        let isLarge = !file.source.hasKnownSize || file.source.size >= 0xf000_0000
        let start = unsafe try packer?.begin(file, named: row.name)
        let entry = unsafe state.records.begin(
          path, .file, start == nil ? .stored : .deflated, attributes.modified, permissions: attributes.permissions,
          isLarge: isLarge, to: &output)
        unsafe state.open = Open(entry: entry, file: file)
        if let start { write(start, &output) }
      case .link, .fifo, .socket, .characterDevice, .blockDevice, .unknown: break
      }
      drop()
    } catch {
      if error.isDelay { throw error }
      let isNamed = unsafe state.missing.count < Self.mostMissing
      if isNamed { unsafe state.missing.append("\(String(decoding: path, as: UTF8.self)): \(error.sentence)") }
      drop()
    }
  }

  /// Removes the row that has been processed.
  private func drop() { unsafe state.frames[state.frames.count - 1].rows.removeLast() }

  /// Writes compressed bytes of the open file.
  private func write(_ part: ZipPacker.Part, _ output: inout ByteBuffer) {
    output.writeBytes(part.packed)
    unsafe state.records.note(written: part.packed.count)
    unsafe state.open!.packed += Int64(part.packed.count)
    unsafe part.bytes.withUnsafeBytes { unsafe state.open!.crc.update($0) }
    unsafe state.open!.count += Int64(part.bytes.count)
    unsafe state.open!.isWhole = part.isLast
  }

  /// Copies a piece of the open file, or ends the file. Returns the number of bytes read.
  private func copy(to output: inout ByteBuffer) throws(Fault) -> Int64 {
    guard let open = unsafe state.open else { return 0 }
    if let packer = unsafe packer, open.entry.method == .deflated {
      if !open.isWhole { write(try packer.next(open.file, at: open.count), &output) }
      guard unsafe state.open!.isWhole else { return unsafe state.open!.count - open.count }
    } else {
      let count = try store(open, to: &output)
      if count > 0 { return count }
    }
    guard let open = unsafe state.open else { return 0 }
    unsafe try state.records.end(
      open.entry, crc: open.crc.value, count: UInt64(open.count), packed: UInt64(open.packed), to: &output)
    unsafe state.open = nil
    return 0
  }

  /// Copies a piece without compression.
  private func store(_ open: Open, to output: inout ByteBuffer) throws(Fault) -> Int64 {
    var fault: Fault?
    let room = Self.piece
    let count = unsafe output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { space in
      do throws(Fault) {
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: space[..<room])
        let count = unsafe try open.file.read(into: part, at: open.count)
        unsafe state.open!.crc.update(UnsafeRawBufferPointer(rebasing: part[..<count]))
        return count
      } catch {
        fault = error
        return 0
      }
    }
    if let fault { throw fault }
    unsafe state.records.note(written: count)
    unsafe state.open!.count += Int64(count)
    unsafe state.open!.packed += Int64(count)
    return Int64(count)
  }

  private func finish(_ output: inout ByteBuffer) {
    unsafe state.isEnded = true
    let missing = unsafe state.missing
    if !missing.isEmpty {
      let text = Array(("These could not be read:\n" + missing.joined(separator: "\n") + "\n").utf8)
      var crc = CRC32()
      unsafe text.withUnsafeBytes { unsafe crc.update($0) }
      let entry = unsafe state.records.begin(
        Array("Not included.txt".utf8), .file, .stored, HTTPDate.now, permissions: 0o644, isLarge: false, to: &output)
      output.writeBytes(text)
      unsafe state.records.note(written: text.count)
      let count = UInt64(text.count)
      unsafe try? state.records.end(entry, crc: crc.value, count: count, packed: count, to: &output)
    }
    output.writeBytes(unsafe state.records.finish())
  }
}
