internal import Bytes
internal import Files

/// A descriptor that a file's locks are set by.
final class HeldLock: Sendable {
  private let descriptor: Descriptor
  var raw: Int32 { descriptor.raw }

  init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}
