import ArgumentParser
import Assembly
import Bytes
import FileTrees
import Files
import Glibc

/// A source on another machine. The program ffremote mounts it in a folder of this user, for this process and the
/// programs that replace it. It unmounts it when they have ended.
struct SourceElsewhere {
  private let address: String
  /// The path of the source in that mount.
  let path: String

  /// Mounts the source at an address. Returns `nil` if `ffmount serve` runs there, which makes the views itself. Blocks.
  ///
  /// - Parameters:
  ///   - words: the values of `-o`.
  ///   - shown: the mountpoint of the views, below which no cache can be. Nil if they are not mounted.
  init?(_ address: String, _ words: [String], on shown: String? = nil) throws {
    guard let program = OwnPrograms.path(of: "ffremote") else {
      throw Refusal(
        .failure, "ffremote not found beside ffmount or in ../libexec/ffmount (install the package ffmount-client)")
    }
    self.address = address
    let place = try OpenedPlace(forSourceAt: address)
    defer { place.release() }
    let mountpoint = place.folder
    // The other programs that this one starts do not inherit the end of the pipe that is kept.
    let (kept, lifeline) = try Self.pipe()
    let (output, reading) = try Self.pipe()
    defer { for end in [lifeline, reading, output] { close(end) } }
    let cache = CacheFolder.path(awayFrom: shown.flatMap(MountTable.absolute))
    let arguments =
      ["ffremote", "--lifeline", "\(Self.lifeline)"] + (cache.map { ["--cache", $0] } ?? [])
      + words.flatMap { ["-o", $0] } + [address, mountpoint]
    let child: Int32
    do throws(Fault) {
      child = try spawn(
        program, arguments, inheritsVariables: true,
        descriptors: [
          STDIN_FILENO: nil, STDOUT_FILENO: output, STDERR_FILENO: STDERR_FILENO, Self.lifeline: lifeline,
        ], flags: 0)
    } catch { throw Refusal(starting: error) }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else {
      place.remove()
      // ffremote has given the reason.
      throw ExitCode(status & 0x7f == 0 ? status >> 8 & 0xff : ExitStatus.failure.rawValue)
    }
    var said = [UInt8](repeating: 0, count: 512)
    let count = unsafe read(reading, &said, said.count)
    let words = String(decoding: said.prefix(max(0, count)), as: UTF8.self)
    guard words.hasPrefix("file ") || words == "folder" else {
      place.remove()
      close(kept)
      return nil
    }
    path = words == "folder" ? mountpoint : mountpoint + "/" + words.dropFirst("file ".count)
  }

  /// Mounts the source of a command if it is an address. Returns `nil` for a path of this machine. Throws a refusal,
  /// `cannot DO ADDRESS: …`, if `ffmount serve` runs there.
  static func of(_ given: String, _ words: [String] = [], toDo what: String) throws -> SourceElsewhere? {
    guard ServerAccess.isAddress(given) else { return nil }
    guard let elsewhere = try SourceElsewhere(given, words) else {
      throw Refusal(.usage, "cannot \(what) \(given): ffmount serve runs there (mount it, and give the mountpoint)")
    }
    return elsewhere
  }

  /// The descriptor of the pipe in ffremote.
  private static let lifeline: Int32 = 3

  private static func pipe() throws -> (writing: Int32, reading: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&ends) == 0 else { throw Refusal(.failure, "cannot start: pipe: \(describe(errno))") }
    return (ends[1], ends[0])
  }

  /// Runs `body`, whose refusals name the address instead of the path.
  func naming<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let refusal as Refusal {
      throw Refusal(refusal.status, refusal.sentence.replacing(path, with: address))
    }
  }
}
