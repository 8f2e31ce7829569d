/// Finds out what parts folders in the names of an archive: a slash, unless programs of Windows wrote all names, some of them
/// with backslashes and none with a slash, as .NET did.
struct FolderSeparators {
  private var hasBackslash = false
  private var isSettled = false

  /// FAT, OS/2, NTFS, Info-ZIP's NTFS, VFAT (APPNOTE 4.4.2): where a backslash is in no name.
  private static let hosts: Set<UInt8> = [0, 6, 10, 11, 14]

  var areBackslashes: Bool { hasBackslash && !isSettled }

  mutating func note(_ entry: CentralDirectory.Entry) {
    if isSettled { return }
    if !Self.hosts.contains(entry.header.madeByHost) || entry.path.contains(0x2f) {
      isSettled = true
    } else if !hasBackslash {
      hasBackslash = entry.path.contains(0x5c)
    }
  }
}
