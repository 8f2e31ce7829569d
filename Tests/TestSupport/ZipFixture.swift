/// A ZIP archive for tests: each field can be made invalid.
public struct ZipFixture: Sendable {
  public var entries: [ZipFixtureEntry]
  public var comment: [UInt8] = []
  /// Bytes before the archive; recorded offsets do not include them unless `countsPrefix`.
  public var prefix: [UInt8] = []
  public var countsPrefix = false
  /// Bytes after the end of central directory record.
  public var trailer: [UInt8] = []
  /// Bytes between the last header of the directory and the end record, counted in the directory's size.
  public var directoryTail: [UInt8] = []
  /// Bytes between the directory and the end records, not counted.
  public var directoryGap: [UInt8] = []
  /// Writes ZIP64 end records, even if not needed.
  public var endsInZip64 = false

  // What the end record claims instead of the actual values.
  public var claimedCount: UInt16?
  public var claimedDirectorySize: UInt32?
  public var claimedDirectoryOffset: UInt32?

  public init(_ entries: [ZipFixtureEntry] = []) { self.entries = entries }

  public init(_ entries: ZipFixtureEntry...) { self.init(entries) }

  /// The whole archive.
  public func bytes() -> [UInt8] { layout().bytes }

  /// The archive with the offsets of its parts.
  public func layout() -> ZipLayout {
    var layout = ZipLayout()
    let base = countsPrefix ? 0 : UInt64(prefix.count)
    layout.bytes = prefix
    for entry in entries {
      layout.localHeaders.append(layout.bytes.count)
      entry.appendLocal(to: &layout.bytes, &layout.data)
    }
    layout.directory = layout.bytes.count
    for (index, entry) in entries.enumerated() {
      layout.centralHeaders.append(layout.bytes.count)
      entry.appendCentral(to: &layout.bytes, localHeader: UInt64(layout.localHeaders[index]) - base)
    }
    layout.bytes += directoryTail
    let directorySize = UInt64(layout.bytes.count - layout.directory)
    layout.bytes += directoryGap
    appendEnd(to: &layout, directory: UInt64(layout.directory) - base, directorySize: directorySize, base: base)
    layout.bytes += trailer
    return layout
  }

  private func appendEnd(to layout: inout ZipLayout, directory: UInt64, directorySize: UInt64, base: UInt64) {
    let isLarge = endsInZip64 || entries.count >= 0xffff || directory >= 0xffff_ffff
    if isLarge {
      let record = UInt64(layout.bytes.count) - base
      layout.bytes.append(u32: 0x0606_4b50)
      layout.bytes.append(u64: 44)
      layout.bytes.append(u16: 0x031e)
      layout.bytes.append(u16: 45)
      layout.bytes.append(u32: 0)
      layout.bytes.append(u32: 0)
      layout.bytes.append(u64: UInt64(entries.count))
      layout.bytes.append(u64: UInt64(entries.count))
      layout.bytes.append(u64: directorySize)
      layout.bytes.append(u64: directory)
      layout.bytes.append(u32: 0x0706_4b50)
      layout.bytes.append(u32: 0)
      layout.bytes.append(u64: record)
      layout.bytes.append(u32: 1)
    }
    layout.end = layout.bytes.count
    layout.bytes.append(u32: 0x0605_4b50)
    layout.bytes.append(u32: 0)
    let count = claimedCount ?? (isLarge ? 0xffff : UInt16(entries.count))
    layout.bytes.append(u16: count)
    layout.bytes.append(u16: count)
    layout.bytes.append(u32: claimedDirectorySize ?? (isLarge ? 0xffff_ffff : UInt32(directorySize)))
    layout.bytes.append(u32: claimedDirectoryOffset ?? (isLarge ? 0xffff_ffff : UInt32(directory)))
    layout.bytes.append(u16: UInt16(comment.count))
    layout.bytes += comment
  }
}

/// The offsets of the parts of an archive, in bytes.
public struct ZipLayout: Sendable {
  public var bytes: [UInt8] = []
  public var localHeaders: [Int] = []
  /// Each entry's data.
  public var data: [Int] = []
  public var centralHeaders: [Int] = []
  public var directory = 0
  /// The end of central directory record.
  public var end = 0
}
