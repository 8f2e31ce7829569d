/// What ffmount exits with; numbers of sysexits.h where one fits.
enum ExitStatus: Int32 {
  case success = 0
  /// Something that should not happen.
  case failure = 1
  /// Options or arguments that make no sense; swift-argument-parser exits with it too.
  case usage = 64
  /// SOURCE is a file that cannot be shown as a folder.
  case sourceUnsuitable = 65
  /// SOURCE is missing or cannot be read.
  case sourceMissing = 66
  /// FUSE is not to be had: no /dev/fuse, no fusermount3, not allowed.
  case fuseUnavailable = 69
  /// MOUNTPOINT is missing, no folder, not empty, in use, or in the source.
  case mountpointUnusable = 73
}

/// Why ffmount cannot go on: a sentence that names the thing, the cause and what to do, and the exit status.
struct Refusal: Error {
  let status: ExitStatus
  let sentence: String

  init(_ status: ExitStatus, _ sentence: String) {
    self.status = status
    self.sentence = sentence
  }
}
