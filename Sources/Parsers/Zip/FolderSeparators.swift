/// A detector of the path separator in an archive's names. It is a backslash if Windows programs wrote all names, some
/// contain backslashes and none a slash, as older .NET versions did. Otherwise it is a slash.
struct FolderSeparators {
  private var hasBackslash = false
  private var isSettled = false

  /// The hosts whose file names do not contain backslashes: FAT, OS/2, NTFS, Info-ZIP's NTFS, VFAT (APPNOTE 4.4.2).
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
