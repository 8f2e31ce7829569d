/// An entry of a `ZipFixture`; values that are nil are computed.
public struct ZipFixtureEntry: Sendable {
  public enum Host: UInt8, Sendable {
    case dos = 0
    case unix = 3
    case ntfs = 10
    case macOS = 19
  }

  public var name: [UInt8]
  public var content: [UInt8] = []
  /// The stored data; `content` itself if nil.
  public var data: [UInt8]?
  public var method: UInt16 = 0
  public var flags: UInt16 = 0
  public var host = Host.dos
  public var externalAttributes: UInt32 = 0
  /// 1980-01-01 and midnight by default.
  public var dosDate: UInt16 = 0x21
  public var dosTime: UInt16 = 0
  public var centralExtra: [UInt8] = []
  public var localExtra: [UInt8] = []
  public var comment: [UInt8] = []
  /// Bit 3: sizes and CRC follow the data, and the local header contains zeros.
  public var hasDataDescriptor = false
  public var hasDescriptorSignature = true
  /// Sizes and offset are in the ZIP64 extra field, the fixed fields at their maximum.
  public var isZip64 = false
  public var localName: [UInt8]?

  // What the central directory claims instead of the actual values.
  public var claimedSize: UInt64?
  public var claimedCompressedSize: UInt64?
  public var claimedCRC: UInt32?
  public var claimedOffset: UInt64?
  public var localSignature: UInt32 = 0x0403_4b50
  public var centralSignature: UInt32 = 0x0201_4b50

  public init(_ name: [UInt8], _ content: [UInt8] = []) {
    self.name = name
    self.content = content
  }

  public init(_ name: String, _ content: String = "") { self.init(Array(name.utf8), Array(content.utf8)) }

  public init(_ name: String, _ content: [UInt8]) { self.init(Array(name.utf8), content) }

  /// A changed copy.
  public func with(_ change: (inout ZipFixtureEntry) -> Void) -> ZipFixtureEntry {
    var copy = self
    change(&copy)
    return copy
  }

  /// Created on Unix, with these type and permission bits.
  public func unix(mode: UInt32) -> ZipFixtureEntry {
    with {
      $0.host = .unix
      $0.externalAttributes = mode << 16
    }
  }

  /// A symbolic link as Info-ZIP writes it.
  public static func link(_ name: String, to target: String) -> ZipFixtureEntry {
    ZipFixtureEntry(name, target).unix(mode: 0o120777)
  }

  /// Deflated: with the given data, or stored blocks.
  public func deflated(as data: [UInt8]? = nil) -> ZipFixtureEntry {
    with {
      $0.method = 8
      $0.data = data ?? ZipDeflate.stored($0.content)
    }
  }

  private var written: [UInt8] { data ?? content }
  private var crc: UInt32 { claimedCRC ?? ZipChecksum.crc32(content) }

  func appendLocal(to bytes: inout [UInt8], _ dataOffsets: inout [Int]) {
    let name = localName ?? name
    bytes.append(u32: localSignature)
    bytes.append(u16: 45)
    bytes.append(u16: flags | (hasDataDescriptor ? 8 : 0))
    bytes.append(u16: method)
    bytes.append(u16: dosTime)
    bytes.append(u16: dosDate)
    bytes.append(u32: hasDataDescriptor ? 0 : ZipChecksum.crc32(content))
    bytes.append(u32: hasDataDescriptor ? 0 : UInt32(written.count))
    bytes.append(u32: hasDataDescriptor ? 0 : UInt32(content.count))
    bytes.append(u16: UInt16(name.count))
    bytes.append(u16: UInt16(localExtra.count))
    bytes += name
    bytes += localExtra
    dataOffsets.append(bytes.count)
    bytes += written
    guard hasDataDescriptor else { return }
    if hasDescriptorSignature { bytes.append(u32: 0x0807_4b50) }
    bytes.append(u32: ZipChecksum.crc32(content))
    bytes.append(u32: UInt32(written.count))
    bytes.append(u32: UInt32(content.count))
  }

  func appendCentral(to bytes: inout [UInt8], localHeader: UInt64) {
    let size = claimedSize ?? UInt64(content.count)
    let compressedSize = claimedCompressedSize ?? UInt64(written.count)
    let offset = claimedOffset ?? localHeader
    var extra: [UInt8] = []
    let large = [size, compressedSize, offset].map { isZip64 || $0 >= 0xffff_ffff }
    if large.contains(true) {
      let values = zip([size, compressedSize, offset], large).filter(\.1).map(\.0)
      extra.append(u16: 1)
      extra.append(u16: UInt16(8 * values.count))
      for value in values { extra.append(u64: value) }
    }
    // After the test's own field, to show whether a preceding field does harm.
    extra = centralExtra + extra
    bytes.append(u32: centralSignature)
    bytes.append(u16: UInt16(host.rawValue) << 8 | 30)
    bytes.append(u16: 45)
    bytes.append(u16: flags | (hasDataDescriptor ? 8 : 0))
    bytes.append(u16: method)
    bytes.append(u16: dosTime)
    bytes.append(u16: dosDate)
    bytes.append(u32: crc)
    bytes.append(u32: large[1] ? 0xffff_ffff : UInt32(compressedSize))
    bytes.append(u32: large[0] ? 0xffff_ffff : UInt32(size))
    bytes.append(u16: UInt16(name.count))
    bytes.append(u16: UInt16(extra.count))
    bytes.append(u16: UInt16(comment.count))
    bytes.append(u16: 0)
    bytes.append(u16: 0)
    bytes.append(u32: externalAttributes)
    bytes.append(u32: large[2] ? 0xffff_ffff : UInt32(offset))
    bytes += name
    bytes += extra
    bytes += comment
  }
}
