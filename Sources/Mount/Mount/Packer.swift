/// Programs that write a file's size before they open it, and then that many bytes, whatever there is: with an estimate the
/// packed file would end in zeros.
enum Packer {
  /// As their files are called.
  private static let names: Set<String> = [
    "afio", "bsdcpio", "bsdtar", "cpio", "genisoimage", "mkisofs", "mksquashfs", "pax", "star", "xorriso", "xorrisofs",
  ]

  /// Whether a thread, 0 if it is not known, is one of such a program. Reads /proc.
  static func runs(_ thread: Int32) -> Bool { RunningProgram.file(of: thread).map(names.contains) ?? false }
}
