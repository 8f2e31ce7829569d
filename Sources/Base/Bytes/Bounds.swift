/// The bounds to which untrusted numbers are clamped on entry, so that later arithmetic cannot overflow.
///
/// An archive's header, an index record, a worker's reply and the command line can contain any number. A file can have
/// any size that the kernel can report. Each number is clamped once, at its entry point. A few bounded numbers can then
/// be added, subtracted and multiplied by small factors without checks. The entry points:
///
/// | numbers of | entry point |
/// |---|---|
/// | source files of views | `Source` for displayed attributes, `Item.content` for the bytes |
/// | a view's size | `Attributes.view` |
/// | archives | `CentralHeader`, `EndOfCentralDirectory` |
/// | the index | `IndexFile`'s rows, `TextFile.Content`; in its values `BlockIndex`, `MessageRow`, `ResultSizes`, `DeflateRestartPoint` |
/// | workers, and jobs for them | `JobAnswer`, `Job` |
/// | the command line | `MountOptions` |
/// | a reader | `ByteSource.read` accepts any offset; `ByteRange` bounds the numbers that it adds to one |
///
/// Mirrored attributes are not clamped. `FileStatus` has a file's true size and times, which are shown unchanged and
/// not used in arithmetic. Archive and message times are `Timestamp`s, which are not used in arithmetic either.
public enum Bounds {
  /// The largest size or file offset, in bytes: 64 PiB. Even a small multiple of it fits in an `Int64`.
  public static let largestSize: Int64 = 1 << 56

  /// The latest time, in seconds since 1970: the year 36812.
  public static let latestTime: Int64 = 1 << 40

  /// Clamps a size or an offset to 0 through `largestSize`.
  @inlinable
  public static func size(_ claimed: Int64) -> Int64 { min(max(0, claimed), largestSize) }

  @inlinable
  public static func size(_ claimed: UInt64) -> Int64 { Int64(min(claimed, UInt64(largestSize))) }

  /// Returns the clamped size of `blocks` blocks of 512 bytes each, in bytes.
  @inlinable
  public static func size(blocks: Int64) -> Int64 { min(max(0, blocks), largestSize / 512) * 512 }

  /// Returns the clamped sum of two sizes. Sums can be added again.
  @inlinable
  public static func sum(_ one: Int64, _ other: Int64) -> Int64 { size(size(one) + size(other)) }

  /// Returns whether a size or an offset is within bounds.
  @inlinable
  public static func holds(_ claimed: Int64) -> Bool { claimed >= 0 && claimed <= largestSize }

  /// Clamps a time in seconds since 1970. Earlier times become 1970.
  @inlinable
  public static func time(_ claimed: Int64) -> Int64 { min(max(0, claimed), latestTime) }
}
