internal import Bytes
public import SystemPackage
internal import Tree

extension FileTree {
  /// Returns all bytes of a file.
  ///
  /// - Parameter limit: The maximum size, in bytes. Larger files are not read, because a file can claim any size.
  /// - Throws: `notFound`, `isADirectory`, `limitExceeded`; `damaged`, `passwordNeeded` and similar errors if a file
  ///   cannot be made.
  public func read(_ path: FilePath, limit: Int = 2 << 30) async throws(FileTreeError) -> [UInt8] {
    try await run(path) { [self] () throws(Fault) in
      var reader = ChunkReader(self, path, nil, size: 1 << 20)
      return try reader.all(limit: limit)
    }
  }

  /// Returns the bytes of a file or a part of it, in chunks.
  ///
  /// One chunk is read ahead. A change of the file while it is read is an error.
  ///
  /// - Parameters:
  ///   - range: The range of bytes. Offsets beyond the end are ignored. `nil` for the whole file.
  ///   - size: The size of each chunk except the last, in bytes.
  /// - Throws: While it is iterated: the errors of `read(_:limit:)`.
  public func chunks(
    of path: FilePath, range: Range<Int64>? = nil, size: Int = 512 << 10
  ) -> TreeStream<[UInt8]> {
    TreeStream(ChunkReader(self, path, range, size: max(1, size)), of: path, on: bench)
  }

  /// Returns the bytes of a file or a part of it, one by one.
  ///
  /// - Parameter range: The range of bytes. Offsets beyond the end are ignored. `nil` for the whole file.
  /// - Throws: While it is iterated: the errors of `read(_:limit:)`.
  public func bytes(of path: FilePath, range: Range<Int64>? = nil) -> TreeBytes {
    TreeBytes(chunks(of: path, range: range))
  }
}

/// Reads consecutive chunks of a file.
struct ChunkReader: Producer {
  private let tree: FileTree
  private let path: FilePath
  private let size: Int
  private var offset: Int64
  private let end: Int64
  private var file: Tree.OpenFile?

  init(_ tree: FileTree, _ path: FilePath, _ range: Range<Int64>?, size: Int) {
    self.tree = tree
    self.path = path
    self.size = size
    offset = max(0, range?.lowerBound ?? 0)
    end = range?.upperBound ?? .max
  }

  /// Creates a reader of a file that is already open.
  init(_ tree: FileTree, _ path: FilePath, _ range: Range<Int64>?, size: Int, of file: Tree.OpenFile) {
    self.init(tree, path, range, size: size)
    self.file = file
  }

  mutating func next() throws(Fault) -> [[UInt8]]? {
    let chunk = try part(size)
    return chunk.isEmpty ? nil : [chunk]
  }

  /// Returns all remaining bytes.
  mutating func all(limit: Int) throws(Fault) -> [UInt8] {
    let source = try opened().source
    if source.hasKnownSize {
      guard source.size <= limit else { throw Self.tooLarge(limit) }
      let bytes = try part(max(1, Int(source.size - min(offset, source.size))))
      guard Int64(bytes.count) == source.size else { throw Fault(.changed, "it became shorter while it was read") }
      return bytes
    }
    var bytes: [UInt8] = []
    while case let chunk = try part(size), !chunk.isEmpty {
      guard bytes.count + chunk.count <= limit else { throw Self.tooLarge(limit) }
      bytes += chunk
    }
    return bytes
  }

  private static func tooLarge(_ limit: Int) -> Fault {
    Fault(.limit, "it has more than the \(limit) bytes that may be read at once")
  }

  private mutating func opened() throws(Fault) -> Tree.OpenFile {
    if let file { return file }
    let place = try tree.place(path)
    if place.attributes.kind == .folder { throw .isFolder }
    let opened = try waiting { () throws(Fault) in try place.open(.blocking) }
    file = opened
    return opened
  }

  private mutating func part(_ size: Int) throws(Fault) -> [UInt8] {
    let file = try opened()
    let wanted = Int(min(Int64(size), max(0, end - offset)))
    guard wanted > 0 else { return [] }
    try CancellationToken.check()
    let offset = offset
    let bytes = try waiting { () throws(Fault) in try file.bytes(at: offset, count: wanted) }
    self.offset += Int64(bytes.count)
    return bytes
  }
}

extension Tree.OpenFile {
  /// Returns bytes to pass to a caller. The result is shorter than `count` only at the end of the file. Blocks.
  func bytes(at offset: Int64, count: Int) throws(Fault) -> [UInt8] {
    try reading(.blocking) { (source) throws(Fault) in
      let count = source.hasKnownSize ? min(count, Int(max(0, source.size - offset))) : count
      var fault: Fault?
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { room, initialized in
        do throws(Fault) {
          initialized = unsafe try source.read(into: UnsafeMutableRawBufferPointer(room), at: offset, .blocking)
          let given = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(room)[..<initialized])
          unsafe try note(given, at: offset, of: source, .blocking)
        } catch { fault = error }
      }
      if let fault { throw fault }
      return bytes
    }
  }
}
