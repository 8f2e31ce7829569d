import Assembly
import FileTrees
import Glibc

/// A mount of a remote server, by the program ffremote.
enum ServerMount {
  /// Checks the local conditions, and replaces the process by ffremote.
  ///
  /// - Parameter flags: `-f`, `-d` and `-s`, as given.
  static func run(_ address: String, on mountpoint: String, _ words: [String], flags: [String]) throws -> Never {
    let options = try MountOptions(words)
    try options.checkUse(.server)
    try options.checkWriting()
    let place = try Mountpoint(mountpoint)
    try place.check(options)
    guard let program = OwnPrograms.path(of: "ffremote") else {
      throw Refusal(
        .failure, "ffremote not found beside ffmount or in ../libexec/ffmount (install the package ffmount-client)")
    }
    let words = ["ffremote"] + flags + words.flatMap { ["-o", $0] } + [address, place.path]
    var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
    _ = unsafe execv(program, &pointers)
    throw Refusal(.failure, "\(program): \(describe(errno))")
  }
}
