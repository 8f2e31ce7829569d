import Bytes
import Codecs
import NIOCore
import Tree

/// A folder as a ZIP archive: everything in it but the views that are listed beside its files, which say the same
/// again.
///
/// Entries are stored. What cannot be read is named in a text at the end.
final class ZipStream: BodySource {
  var length: Int64? { nil }

  private struct Frame {
    let place: Place
    let path: [UInt8]
    /// What is left of it, the next one last.
    var rows: [FolderRows.Row]
  }

  private struct Open {
    let entry: ZipRecords.Entry
    let file: Tree.OpenFile
    var crc = CRC32()
    var count: Int64 = 0
  }

  private struct State {
    var frames: [Frame] = []
    var open: Open?
    var records = ZipRecords()
    var missing: [String] = []
    var isEnded = false
  }

  // By one thread at a time.
  private nonisolated(unsafe) var state = State()
  private let allocator = ByteBufferAllocator()

  private static let piece = 128 << 10
  private static let deepest = 256
  private static let mostEntries = 1_000_000
  /// Of what could not be read, how much is named.
  private static let mostMissing = 10_000

  init(_ folder: Place, named name: FileName) throws(Fault) {
    let rows = try Self.rows(of: folder)
    unsafe state.frames = [Frame(place: folder, path: name.bytes + [UInt8(ascii: "/")], rows: rows)]
  }

  /// What is in a folder, in the reverse order.
  private static func rows(of folder: Place) throws(Fault) -> [FolderRows.Row] {
    var rows: [FolderRows.Row] = []
    try FolderRows(folder).eachName { row in
      if row.view == nil { rows.append(row) }
      return rows.count < mostEntries
    }
    return rows.reversed()
  }

  func next() throws(Fault) -> ByteBuffer? {
    var output = allocator.buffer(capacity: Self.piece + 1024)
    do throws(Fault) {
      while output.readableBytes < Self.piece, unsafe !state.isEnded {
        if unsafe state.open != nil { try copy(to: &output) } else { try step(&output) }
      }
    } catch {
      // What is there is sent before the wait.
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
      else { throw Fault(.limit, "it is too deep, or one of too many") }
      let place = try Place.find(frame.place.names + [row.name], in: frame.place.tree, .blocking)
      let attributes = place.attributes
      switch attributes.kind {
      case .folder:
        // A link to a folder may lead back.
        if row.kind == .link { break }
        let rows = try Self.rows(of: place)
        let entry = unsafe state.records.begin(
          path + [UInt8(ascii: "/")], .folder, attributes.modified, permissions: attributes.permissions,
          isLarge: false, to: &output)
        unsafe try state.records.end(entry, crc: 0, count: 0, to: &output)
        drop()
        unsafe state.frames.append(Frame(place: place, path: path + [UInt8(ascii: "/")], rows: rows))
        return
      case .file:
        let file = try place.open(.blocking)
        let isLarge = !file.source.hasKnownSize || file.source.size >= 0xf000_0000
        let entry = unsafe state.records.begin(
          path, .file, attributes.modified, permissions: attributes.permissions, isLarge: isLarge, to: &output)
        unsafe state.open = Open(entry: entry, file: file)
      case .link, .fifo, .socket, .characterDevice, .blockDevice: break
      }
      drop()
    } catch {
      if error.isDelay { throw error }
      let isNamed = unsafe state.missing.count < Self.mostMissing
      if isNamed { unsafe state.missing.append("\(String(decoding: path, as: UTF8.self)): \(error.sentence)") }
      drop()
    }
  }

  /// The row has been dealt with.
  private func drop() { unsafe state.frames[state.frames.count - 1].rows.removeLast() }

  /// Copies a piece of the open file, or ends it.
  private func copy(to output: inout ByteBuffer) throws(Fault) {
    guard unsafe state.open != nil else { return }
    let (file, offset) = unsafe (state.open!.file, state.open!.count)
    var fault: Fault?
    let room = Self.piece
    let count = unsafe output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { space in
      do throws(Fault) {
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: space[..<room])
        return try file.reading(.blocking) { (source) throws(Fault) in
          let count = unsafe try source.read(into: part, at: offset, .blocking)
          let bytes = unsafe UnsafeRawBufferPointer(rebasing: part[..<count])
          unsafe try file.note(bytes, at: offset, of: source, .blocking)
          unsafe state.open!.crc.update(bytes)
          return count
        }
      } catch {
        fault = error
        return 0
      }
    }
    if let fault { throw fault }
    unsafe state.records.note(written: count)
    unsafe state.open!.count += Int64(count)
    if count > 0 { return }
    let open = unsafe state.open!
    unsafe try state.records.end(open.entry, crc: open.crc.value, count: UInt64(open.count), to: &output)
    unsafe state.open = nil
  }

  private func finish(_ output: inout ByteBuffer) {
    unsafe state.isEnded = true
    let missing = unsafe state.missing
    if !missing.isEmpty {
      let text = Array(("These could not be read:\n" + missing.joined(separator: "\n") + "\n").utf8)
      var crc = CRC32()
      unsafe text.withUnsafeBytes { unsafe crc.update($0) }
      let entry = unsafe state.records.begin(
        Array("Not included.txt".utf8), .file, HTTPDate.now, permissions: 0o644, isLarge: false, to: &output)
      output.writeBytes(text)
      unsafe state.records.note(written: text.count)
      unsafe try? state.records.end(entry, crc: crc.value, count: UInt64(text.count), to: &output)
    }
    output.writeBytes(unsafe state.records.finish())
  }
}
