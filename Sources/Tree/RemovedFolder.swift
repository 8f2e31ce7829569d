internal import Bytes
internal import Files

/// A folder of the source whose name has been removed through the mount, by its descriptor: it may be open, or the working
/// directory of a process.
final class RemovedFolder: Sendable {
  private let descriptor: Descriptor
  /// Where it is recorded for the next process; nil if there will be none.
  private let entry: OpenLedger.Entry?

  init(_ descriptor: consuming Descriptor, _ entry: OpenLedger.Entry?) {
    self.descriptor = descriptor
    self.entry = entry
  }

  deinit { entry?.remove() }

  func open(for purpose: Descriptor.Purpose) throws(Fault) -> Descriptor {
    try Descriptor.open(again: descriptor.raw, for: purpose)
  }
}
