internal import Bytes
internal import Files

/// A descriptor that a file's locks are set by.
final class HeldLock: Sendable {
  private let descriptor: Descriptor
  /// Where it is recorded for the next process; nil if there will be none.
  let entry: OpenLedger.Entry?
  var raw: Int32 { descriptor.raw }

  init(_ descriptor: consuming Descriptor, _ entry: OpenLedger.Entry? = nil) {
    self.descriptor = descriptor
    self.entry = entry
  }

  deinit { entry?.remove() }
}
