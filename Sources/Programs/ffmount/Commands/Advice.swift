import Assembly
import Bytes
import FileTrees

/// Advice on the errors that `user.ffmount.error` reports.
enum Advice {
  /// The advice for each phrase of an error, with `PATH` for the file. The first match is used.
  private static let table: [(word: String, advice: String)] = [
    (
      notDecrypted,
      (Converter.packages(lackingFor: Converter.disk).isEmpty
        ? "" : "\(Converter.remedy([Converter.disk])) for 7z archives; ")
        + "give RAR archives their password with ffmount unlock, or unpack them with unar or unrar"
    ),
    (
      "password_file",
      "type: ffmount unlock PATH; or write the password into a file that only you can read (one per line, chmod 600 FILE), and mount with -o password_file=FILE"
    ),
    ("convert_time", "mount with more time for a conversion, such as -o convert_time=600"),
    ("convert_memory", "mount with more memory for a conversion, such as -o convert_memory=4G"),
    ("max_size", "if you trust the archive, mount with a higher limit, such as -o max_size=10T"),
    ("max_ratio", "if you trust the archive, mount with a higher limit, such as -o max_ratio=10000"),
    ("damaged=show", "get another copy; to read this one anyway, mount with -o damaged=show"),
    ("memory=", "mount with more memory for names, such as -o memory=2G"),
    ("sandbox=weak", "run 'ffmount doctor' to find the cause; -o sandbox=weak converts with less protection"),
    (
      "could not be started",
      Converter.installed["ffconvert"] ?? Converter.installed[Converter.reduced] == nil
        ? "the converters are missing: \(Converter.remedy())"
        : "if ffmount was moved or replaced, unmount and mount again; otherwise run 'ffmount doctor'"
    ),
    (
      "ended ffmount",
      "report this defect, with the file if possible; unmount and mount again to retry"
    ),
    ("ended twice before it began", "run 'ffmount doctor', and reinstall the package that it names"),
    ("was killed", "open it again: the file was not the cause"),
    ("No space", "make room on the disk, or type: ffmount cache clear"),
    ("no room for the result", "make room on the disk, or type: ffmount cache clear"),
    (
      "is encrypted with a password",
      "open it with its password in another program, such as LibreOffice, and save a copy without one"
    ),
    ("another volume", "extract the archive with all its volumes, by tar --multi-volume"),
    ("(apt install ", "install the package that the message names, then unmount and mount again"),
    (
      "changes in its journal",
      "to apply them, mount a copy of the image once: sudo mount -o loop COPY FOLDER"
    ),
    ("is missing", "put the missing file beside the others, and open it again"),
    ("not supported", "another program may read it; the file itself can be copied out of the mount"),
    ("is not a prefix", onQueries),
    ("is not changed", "nothing: the file is served unchanged"),
  ]

  private static let notDecrypted = "archives of this kind are not decrypted"

  /// Returns the reason why no password opens a file with this error: the program that decrypts it is not installed.
  /// Returns `nil` if it is.
  static func lackOfDecryption(_ error: String) -> String? {
    guard error.contains(notDecrypted), !Converter.packages(lackingFor: Converter.disk).isEmpty else { return nil }
    return "\(Converter.disk) is not installed (\(Converter.remedy([Converter.disk])), and mount again)"
  }

  static let onQueries = "change the query: ffmount help search has its syntax"

  static func on(_ error: String, at path: String) -> String {
    table.first { error.contains($0.word) }?.advice.replacing("PATH", with: ShellWord.quoted(path))
      ?? "the file itself is the cause: get another copy, or try another program"
  }
}
