/// What numbers from outside are bounded to where they come in, so that nothing behind that can overflow.
///
/// Any number may stand in an archive's header, a row of the index, a worker's answer or on a command line, and a file may be
/// as long as the kernel can say. Each comes in by one door and is bounded there, once: a few that have come in can be added,
/// subtracted and multiplied by small numbers without a thought. The doors, which say that they are:
///
/// | numbers of | door |
/// |---|---|
/// | files that views are made of | `Source` for what is shown, `Item.content` for the bytes |
/// | a view's size | `Attributes.view` |
/// | archives | `CentralHeader`, `EndOfCentralDirectory` |
/// | the index | `IndexFile`'s rows, `TextFile.Content`; in its values `MailboxDirectory`, `MessageRow`, `KnownValues`, `RestartPoint` |
/// | workers, and jobs for them | `JobAnswer`, `Job` |
/// | the command line | `MountOptions` |
/// | a reader | `ByteSource.read`: any offset is right; `ByteRange` for what adds to one |
///
/// What is mirrored does not come in: `FileStatus` has a file's true size and times, which are shown as they are and not
/// reckoned with. Times of archives and mails are `Timestamp`s, which nobody adds up either.
public enum Bounds {
  /// No size, and no place in a file, is larger: 64 PiB, in bytes. Four times as much and a little more is still a number.
  public static let largestSize: Int64 = 1 << 56

  /// No time is later, in seconds since 1970: the year 36812.
  public static let latestTime: Int64 = 1 << 40

  /// A size or a place that is none is 0, one that is too large the largest.
  @inlinable
  public static func size(_ claimed: Int64) -> Int64 { min(max(0, claimed), largestSize) }

  @inlinable
  public static func size(_ claimed: UInt64) -> Int64 { Int64(min(claimed, UInt64(largestSize))) }

  /// What so many blocks of 512 bytes take, in bytes.
  @inlinable
  public static func size(blocks: Int64) -> Int64 { min(max(0, blocks), largestSize / 512) * 512 }

  /// The sum of sizes, which may be many.
  @inlinable
  public static func sum(_ one: Int64, _ other: Int64) -> Int64 { size(size(one) + size(other)) }

  /// Whether a size or place is one.
  @inlinable
  public static func holds(_ claimed: Int64) -> Bool { claimed >= 0 && claimed <= largestSize }

  /// In seconds since 1970; a time before that is 1970.
  @inlinable
  public static func time(_ claimed: Int64) -> Int64 { min(max(0, claimed), latestTime) }
}
