internal import Catalogue
internal import Glibc
internal import Locks

/// The only named file of a worker, for libraries that read only files with a name.
public enum ScratchFile {
  private struct Place {
    let descriptor: Int32
    let path: String
    let room: Int
  }

  private static let place = UnfairLock<Place?>(nil)

  /// Sets the path of the empty file, the descriptor for writing it, and its maximum size in bytes.
  public static func set(_ descriptor: Int32, path: String, room: Int) {
    place.withLock { $0 = Place(descriptor: descriptor, path: path, room: room) }
  }

  /// Calls `body` with the path of a file that contains an input's bytes until `body` returns. Not for concurrent use.
  public static func with<Result>(
    _ input: JobInput, _ body: (String) throws(JobFailure) -> Result
  ) throws(JobFailure) -> Result {
    guard let place = place.withLock({ $0 }) else {
      throw JobFailure(.unsupported, "is of a kind that cannot be read, because workers have no files on this system")
    }
    guard input.count <= place.room else {
      throw JobFailure(.limit, "is larger than \(place.room >> 20) MiB, which is too large for its kind")
    }
    defer { _ = ftruncate(place.descriptor, 0) }
    guard lseek(place.descriptor, 0, SEEK_SET) == 0 else { throw JobFailure("cannot be copied", errno: errno) }
    try unsafe JobOutput.write(input.bytes.bytes, to: place.descriptor)
    return try body(place.path)
  }
}
