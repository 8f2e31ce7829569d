internal import Bytes
internal import Files

/// A directory of the source whose name was removed through the mount, accessed by its descriptor. It may be open or
/// the working directory of a process.
final class RemovedFolder: Sendable {
  private let descriptor: Descriptor
  /// The record for the next process. `nil` if there will be none.
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
