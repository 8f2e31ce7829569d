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

  /// Two versions of the program that replace each other's file notice that by this.
  @Test func replacementOfADatabaseIsTold() throws {
    let scratch = try IndexScratch()
    let path = scratch.file
    func open(_ failure: IndexFailure? = nil) throws -> (calls: Int, wasRemade: Bool, wasMade: Bool) {
      var (calls, wasMade) = (0, false)
      let (_, wasRemade) = try DatabaseFile.open(path) { _ in
        calls += 1
        if let failure, calls == 1 { throw failure }
      } orMake: {
        wasMade = true
        try Data([1]).write(to: URL(fileURLWithPath: path))
      }
      return (calls, wasRemade, wasMade)
    }
    #expect(try open() == (1, false, true) && open() == (1, false, false))
    #expect(try open(.damage) == (2, true, true) && open() == (1, false, false))
    #expect(throws: IndexFailure.passing) { try open(.passing) }
    #expect(unsafe chmod(path, 0o666) == 0)
    #expect(try open() == (1, true, true) && scratch.read() == [1])
  }
}
