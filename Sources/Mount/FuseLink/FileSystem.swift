/// The handler of the kernel's requests. Each method is called on one of libfuse's threads, several at a time, and must
/// not block; the request may be kept and answered from another thread.
public protocol FileSystem: AnyObject, Sendable {
  /// Called once the mount answers requests.
  func started()

  /// Whether the kernel reads and enforces access control lists (`system.posix_acl_access`): one more request for each
  /// node used by somebody other than its owner.
  var hasAccessLists: Bool { get }

  func lookUp(_ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64)
  func forget(_ node: UInt64, _ count: UInt64)
  func attributes(_ request: consuming Request, _ node: UInt64)
  func linkTarget(_ request: consuming Request, _ node: UInt64)

  func open(_ request: consuming Request, _ node: UInt64, flags: Int32)
  func read(_ request: consuming Request, _ handle: AnyObject, offset: Int64, count: Int)
  /// Finds the next data or hole of a file from `offset` on, as SEEK_DATA and SEEK_HOLE of lseek(2).
  func seek(_ request: consuming Request, _ handle: AnyObject, offset: Int64, toHole: Bool)

  func openFolder(_ request: consuming Request, _ node: UInt64)
  func readFolder(
    _ request: consuming Request, _ handle: AnyObject, after cookie: UInt64, capacity: Int, wantsNodes: Bool)

  func extendedAttribute(_ request: consuming Request, _ name: UnsafePointer<CChar>, of node: UInt64, capacity: Int)
  func extendedAttributeNames(_ request: consuming Request, _ node: UInt64, capacity: Int)
  func statistics(_ request: consuming Request)
}
