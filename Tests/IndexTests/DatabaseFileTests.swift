import Foundation
import TestSupport
import Testing

@testable import Index

@Suite struct DatabaseFileTests {
  /// When a file is found to be damaged, another process may have replaced it already.
  @Test func onlyTheDamagedDatabaseIsRemoved() throws {
    let scratch = try IndexScratch()
    let path = scratch.file
    try scratch.write([1])
    let damaged = try #require(DatabaseFile.inode(of: path))
    // Written beside it, so that it cannot get the same inode number.
    try Data([2]).write(to: URL(fileURLWithPath: path + ".new"))
    try Data([3]).write(to: URL(fileURLWithPath: path + "-wal"))
    #expect(unsafe rename(path + ".new", path) == 0)
    DatabaseFile.condemn(path, damaged)
    #expect(try scratch.read() == [2])
    let sound = try #require(DatabaseFile.inode(of: path))
    DatabaseFile.condemn(path, sound)
    #expect(DatabaseFile.inode(of: path) == nil && DatabaseFile.inode(of: path + "-wal") == nil)
    // Without a file nothing happens.
    DatabaseFile.condemn(path, sound)
  }
}
