internal import Bytes

/// The formats of disk images, and of archives, that 7-Zip's library and others read.
public enum DiskFormat: String, CaseIterable, Sendable {
  // The names are 7-Zip's.
  case sevenZip = "7z"
  case squashFS = "SquashFS"
  case cramFS = "CramFS"
  case qcow = "QCOW"
  case vmdk = "VMDK"
  case vdi = "VDI"
  case vhdx = "VHDX"
  case vhd = "VHD"
  case dmg = "Dmg"
  case wim = "wim"
  case chm = "Chm"
  case arj = "Arj"
  case androidSparse = "Sparse"
  case apm = "APM"
  case gpt = "GPT"
  case ntfs = "NTFS"
  case apfs = "APFS"
  case ext = "Ext"
  case hfs = "HFS"
  case udf = "Udf"
  case msi = "Compound"
  case fat = "FAT"
  case exFAT = "exFAT"
  case mbr = "MBR"

  /// The extensions that usually mean one of these formats. Images with other names are detected by their content.
  public static let usualExtensions: [String] = [
    "squashfs", "sqsh", "sfs", "snap", "appimage", "cramfs", "qcow", "qcow2", "vmdk", "vdi", "vhdx", "vhd", "dmg",
    "wim", "esd",
    "swm", "chm", "arj", "msi", "udf", "ext2", "ext3", "ext4",
    // Images in images.
    "gpt", "mbr", "apm", "fat", "exfat", "ntfs", "hfs", "apfs",
  ]

  /// Whether an image contains the bytes of files unchanged, apart from compressed files.
  public var isPlain: Bool {
    switch self {
    case .qcow, .vmdk, .vdi, .vhdx, .vhd, .ntfs, .apfs, .ext, .hfs, .udf, .fat: true
    default: false
    }
  }

  /// Whether deleted files are found in an image.
  public var hasDeletedFiles: Bool { [.ntfs, .fat, .exFAT, .ext].contains(self) }

  /// Whether names are bytes, of which 7-Zip's library escapes those that are not UTF-8. Its own archives have the escapes.
  public var hasNamesOfBytes: Bool { [.ext, .squashFS, .cramFS, .sevenZip].contains(self) }

  /// The number of bytes at the start that identify most formats.
  private static let headSize = 4096
  private static let sector = 512

  /// Detects the format of an image of `size` bytes. Returns `nil` if it has none of these formats.
  ///
  /// - Parameters:
  ///   - size: `nil` if the size is unknown. Formats with a signature at the end are not detected then.
  ///   - read: Returns up to `count` bytes at an offset, fewer at the end.
  public static func detect<Failure: Error>(
    size: Int64?, _ read: (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> DiskFormat? {
    let head = try read(0, headSize)
    if let format = atStart.first(where: { has($0.mark, at: $0.offset, in: head) })?.format { return format }
    if isARJ(head) { return .arj }
    if isExt(head) { return .ext }
    if let place = rootOfCompound(head) {
      // The class of Windows Installer's databases. Office documents have others.
      let identifier = try read(place + 80, 16)
      return identifier == [0x84, 0x10, 0x0c, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x46] ? .msi : nil
    }
    if let size, size > Int64(sector) {
      let tail = try read(size - Int64(sector), sector)
      if has("koly\0\0\0\u{4}\0\0\u{2}\0", at: 0, in: tail) { return .dmg }
      if has("conectix", at: 0, in: tail) { return .vhd }
    }
    if let format = withBootSector(head) { return format }
    // Volume recognition (ECMA-167 2/8) starts at the 17th sector of 2,048 bytes. It begins with descriptors of ISO 9660 if
    // the disc has both file systems.
    let (recognition, discSector) = (Int64(32768), 2048)
    guard size.map({ $0 > recognition + Int64(discSector) }) ?? true else { return nil }
    let first = try read(recognition, 6)
    if first == [0] + Array("BEA01".utf8) { return .udf }
    guard first == [1] + Array("CD001".utf8) else { return nil }
    let mostDescriptors = 16
    let descriptors = try read(recognition, mostDescriptors * discSector)
    let names = stride(from: 1, to: descriptors.count - 5, by: discSector).map { descriptors[$0..<$0 + 5] }
    let hasUDF = names.contains { $0.elementsEqual("NSR02".utf8) || $0.elementsEqual("NSR03".utf8) }
    return hasUDF ? .udf : nil
  }

  private static let atStart: [(mark: String, offset: Int, format: DiskFormat)] = [
    ("hsqs", 0, .squashFS), ("Compressed ROMFS", 16, .cramFS), ("QFI\u{fb}\0\0\0", 0, .qcow), ("KDMV", 0, .vmdk),
    ("\u{7f}\u{10}\u{da}\u{be}", 64, .vdi), ("vhdxfile", 0, .vhdx), ("conectix", 0, .vhd), ("MSWIM\0\0\0", 0, .wim),
    ("ITSF\u{3}\0\0\0\u{60}\0\0\0", 0, .chm), (":\u{ff}&\u{ed}\u{1}\0", 0, .androidSparse),
    ("EFI PART\0\0\u{1}\0", 512, .gpt),
    ("NTFS    \0", 3, .ntfs), ("EXFAT   \0", 3, .exFAT),
    ("NXSB", 32, .apfs), ("H+\0\u{4}", 1024, .hfs), ("HX\0\u{5}", 1024, .hfs),
  ]

  /// Returns whether bytes have a signature, of whose characters each stands for one byte.
  private static func has(_ mark: String, at offset: Int, in bytes: [UInt8]) -> Bool {
    bytes.dropFirst(offset).starts(with: mark.unicodeScalars.lazy.map { UInt8(truncatingIfNeeded: $0.value) })
  }

  private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
    guard offset + count <= bytes.count else { return 0 }
    return bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// Returns whether bytes are an ARJ main header: its size, a first header of at least 30 bytes, and type 2.
  private static func isARJ(_ head: [UInt8]) -> Bool {
    guard has("\u{60}\u{ea}", at: 0, in: head), (30...2600).contains(number(head, 2, 2)), head.count > 12 else {
      return false
    }
    return head[4] >= 30 && head[5] <= 100 && head[10] == 2
  }

  /// Returns whether bytes have an ext superblock, at 1,024, of blocks of up to 64 KiB.
  private static func isExt(_ head: [UInt8]) -> Bool {
    let block = 1024
    return number(head, block + 0x38, 2) == 0xef53 && number(head, block, 4) > 0 && number(head, block + 4, 4) > 0
      && number(head, block + 0x18, 4) <= 6 && number(head, block + 0x28, 4) > 0
  }

  /// Returns the offset of the first directory entry of a compound file (MS-CFB 2.2). Returns `nil` for other files.
  private static func rootOfCompound(_ head: [UInt8]) -> Int64? {
    guard has("\u{d0}\u{cf}\u{11}\u{e0}\u{a1}\u{b1}\u{1a}\u{e1}", at: 0, in: head) else { return nil }
    let shift = number(head, 0x1e, 2)
    guard shift == 9 || shift == 12 else { return nil }
    return Int64(number(head, 0x30, 4) + 1) << Int64(shift)
  }

  /// Detects FAT and partition tables, which both have only the mark of a boot sector.
  private static func withBootSector(_ head: [UInt8]) -> DiskFormat? {
    let block = 512
    if has("ER", at: 0, in: head), has("PM\0\0", at: block, in: head) { return .apm }
    guard head.count >= block, head[510] == 0x55, head[511] == 0xaa else { return nil }
    let (bytes, sectors, copies) = (number(head, 11, 2), number(head, 13, 1), number(head, 16, 1))
    let isPower = sectors > 0 && sectors & (sectors - 1) == 0
    if head[0] == 0xeb || head[0] == 0xe9, [512, 1024, 2048, 4096].contains(bytes), isPower, (1...4).contains(copies),
      number(head, 14, 2) > 0, head[21] >= 0xf0
    {
      return .fat
    }
    let partitions = (0..<4).map { 446 + 16 * $0 }
    let isTable = partitions.allSatisfy { head[$0] & 0x7f == 0 }
    let isUsed = partitions.contains {
      head[$0 + 4] != 0 && number(head, $0 + 8, 4) > 0 && number(head, $0 + 12, 4) > 0
    }
    return isTable && isUsed ? .mbr : nil
  }
}
