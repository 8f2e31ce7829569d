/// The programs that record a file's size before they open it and then write exactly that many bytes, such as cpio.
/// They get exact sizes. With an estimate, the archived file would end in zeros.
enum ExactSizePrograms {
  /// The names of the executables.
  private static let names: Set<String> = [
    "afio", "bsdcpio", "bsdtar", "cpio", "genisoimage", "mkisofs", "mksquashfs", "pax", "star", "xorriso", "xorrisofs",
  ]

  /// Returns whether a thread, 0 if unknown, runs such a program. Reads /proc.
  static func runs(_ thread: Int32) -> Bool { RunningProgram.file(of: thread).map(names.contains) ?? false }
}
