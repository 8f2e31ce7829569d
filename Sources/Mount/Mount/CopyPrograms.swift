/// The programs that copy whole directory trees.
///
/// Listings of real directories contain no views for them. The copy of a source is then the source, and nothing is
/// converted for it.
public struct CopyPrograms: Sendable {
  /// The first bytes of the names of the programs, as in proc(5).
  private let names: Set<String>

  /// Creates the set of the known programs and others, by their names. With `nil`, there are none, and listings are the
  /// same for all programs.
  public init(and others: [String]?) {
    names = others.map { Self.known.union($0.map(RunningProgram.shown)) } ?? []
  }

  private static let known: Set<String> = [
    "7z", "7za", "7zr", "7zz", "borg", "bsdtar", "bup", "cp", "dar", "duplicacy", "duplicity", "fossil", "genisoimage",
    "git", "hg", "kopia", "mkisofs", "mksquashfs", "mv", "pax", "rar", "rclone", "rdiff-backup", "restic", "rsync",
    "rustic", "scp", "star", "syncthing", "tar", "tarsnap", "unison", "xorriso", "xorrisofs", "zip",
  ]

  /// Returns whether a thread, 0 if unknown, runs such a program. Reads /proc.
  func run(_ thread: Int32) -> Bool { !names.isEmpty && names.contains(RunningProgram.name(of: thread)) }
}
