/// The bounds that numbers from outside are clamped to where they enter, so that later arithmetic cannot overflow.
///
/// An archive's header, a row of the index, a worker's answer and the command line can hold any number, and a file can
/// be as long as the kernel can say. Each number enters at one place and is bounded there, once: a few bounded numbers
/// can be added, subtracted and multiplied by small factors without checks. The entry points:
///
/// | numbers of | entry point |
/// |---|---|
/// | files that views are made of | `Source` for what is shown, `Item.content` for the bytes |
/// | a view's size | `Attributes.view` |
/// | archives | `CentralHeader`, `EndOfCentralDirectory` |
/// | the index | `IndexFile`'s rows, `TextFile.Content`; in its values `MailboxDirectory`, `MessageRow`, `ResultSizes`, `RestartPoint` |
/// | workers, and jobs for them | `JobAnswer`, `Job` |
/// | the command line | `MountOptions` |
/// | a reader | `ByteSource.read`: accepts any offset; `ByteRange` for what adds to one |
///
/// Mirrored attributes do not enter: `FileStatus` has a file's true size and times, which are shown unchanged and not
/// used in arithmetic. The times of archives and mails are `Timestamp`s, which are not added up either.
public enum Bounds {
  /// The largest size or file offset: 64 PiB, in bytes. Four times as much, and more, still fits in an `Int64`.
  public static let largestSize: Int64 = 1 << 56

  /// The latest time, in seconds since 1970: the year 36812.
  public static let latestTime: Int64 = 1 << 40

  /// Clamps a size or an offset: a negative one becomes 0, one that is too large `largestSize`.
  @inlinable
  public static func size(_ claimed: Int64) -> Int64 { min(max(0, claimed), largestSize) }

  @inlinable
  public static func size(_ claimed: UInt64) -> Int64 { Int64(min(claimed, UInt64(largestSize))) }

  /// The size of `blocks` blocks of 512 bytes each, in bytes.
  @inlinable
  public static func size(blocks: Int64) -> Int64 { min(max(0, blocks), largestSize / 512) * 512 }

  /// The sum of two sizes, clamped; sums can be summed again.
  @inlinable
  public static func sum(_ one: Int64, _ other: Int64) -> Int64 { size(size(one) + size(other)) }

  /// Whether a size or an offset is within bounds.
  @inlinable
  public static func holds(_ claimed: Int64) -> Bool { claimed >= 0 && claimed <= largestSize }

  /// Clamps a time in seconds since 1970; earlier ones become 1970.
  @inlinable
  public static func time(_ claimed: Int64) -> Int64 { min(max(0, claimed), latestTime) }
}
