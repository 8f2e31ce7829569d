import FuseLink
import Glibc

/// A file system that passes each LOOKUP to a closure and knows no other request.
final class Lookups: FileSystem {
  private let answer: @Sendable (consuming Request) -> Void

  init(_ answer: @escaping @Sendable (consuming Request) -> Void) { self.answer = answer }

  let hasAccessLists = false
  let keepsHandles = false
  func started() {}
  func forget(_ node: UInt64, _ count: UInt64) {}

  func lookUp(_ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64) { answer(request) }

  func attributes(_ request: consuming Request, _ node: UInt64) { request.reply(error: ENOSYS) }
  func linkTarget(_ request: consuming Request, _ node: UInt64) { request.reply(error: ENOSYS) }
  func open(_ request: consuming Request, _ node: UInt64, flags: Int32) { request.reply(error: ENOSYS) }
  func openAgain(
    _ request: consuming Request, _ node: UInt64, isFolder: Bool,
    _ body: @escaping @Sendable (consuming Request, AnyObject) -> Void
  ) { request.reply(error: ENOSYS) }
  func read(_ request: consuming Request, _ handle: AnyObject, offset: Int64, count: Int) {
    request.reply(error: ENOSYS)
  }
  func seek(_ request: consuming Request, _ handle: AnyObject, offset: Int64, toHole: Bool) {
    request.reply(error: ENOSYS)
  }
  func openFolder(_ request: consuming Request, _ node: UInt64) { request.reply(error: ENOSYS) }
  func readFolder(
    _ request: consuming Request, _ handle: AnyObject, after cookie: UInt64, capacity: Int, wantsNodes: Bool
  ) { request.reply(error: ENOSYS) }
  func extendedAttribute(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, of node: UInt64, capacity: Int
  ) { request.reply(error: ENOSYS) }
  func extendedAttributeNames(_ request: consuming Request, _ node: UInt64, capacity: Int) {
    request.reply(error: ENOSYS)
  }
  func statistics(_ request: consuming Request) { request.reply(error: ENOSYS) }
}
