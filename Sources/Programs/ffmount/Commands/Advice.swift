import Assembly
import FileTrees

/// Advice on the errors that `user.ffmount.error` reports.
enum Advice {
  /// The advice for each phrase of an error. The first match is used.
  private static let table: [(word: String, advice: String)] = [
    (
      "password_file",
      "write the password into a file, one a line, that only you can read (chmod 600 FILE), and mount with -o password_file=FILE"
    ),
    ("convert_time", "mount with more time for a conversion, such as -o convert_time=600"),
    ("convert_memory", "mount with more memory for a conversion, such as -o convert_memory=4G"),
    ("max_size", "if you trust the archive, mount with a higher limit, such as -o max_size=10T"),
    ("max_ratio", "if you trust the archive, mount with a higher limit, such as -o max_ratio=10000"),
    ("damaged=show", "take it from another copy; to read it all the same, mount with -o damaged=show"),
    ("memory=", "mount with more memory for names, such as -o memory=2G"),
    ("sandbox=weak", "ffmount doctor says what the system lacks; -o sandbox=weak converts with less protection"),
    ("could not be started", "install what converts: \(Converter.remedy())"),
    (
      "ended ffmount",
      "report it, with the file if you may; unmount and mount again to have it tried once more"
    ),
    ("was killed", "open it again: the cause was not the file"),
    ("No space", "make room on the disk, or type: ffmount cache clear"),
    ("no room for the result", "make room on the disk, or type: ffmount cache clear"),
    (
      "whatever the password",
      "unpack it with a program that decrypts: 7z for 7z archives, unar or unrar for RAR archives"
    ),
    ("is missing", "put the missing file beside the others, and open it again"),
    ("not supported", "another program may read it; the file itself can be copied out of the mount"),
    ("is not changed", "nothing: the file is served as it is"),
  ]

  static func on(_ error: String) -> String {
    table.first { error.contains($0.word) }?.advice
      ?? "the file itself is the cause: get it again from where it came, or try another program on it"
  }
}
