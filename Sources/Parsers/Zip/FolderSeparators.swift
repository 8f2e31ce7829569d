/// Determines the folder separator in an archive's names: a slash, unless all were written by Windows programs, some
/// contain backslashes and none a slash, as older .NET versions did.
struct FolderSeparators {
  private var hasBackslash = false
  private var isSettled = false

  /// FAT, OS/2, NTFS, Info-ZIP's NTFS, VFAT (APPNOTE 4.4.2): file names do not contain backslashes.
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
