import Bytes
import Files
import Foundation
import TestSupport
import Testing

@Suite struct DescriptorTests {
  /// Creates `d/file`, `link` to d, `d/link` to file, `out` to the parent folder, and a neighbour outside.
  private static func makeFolder() throws -> SourceFolder {
    let source = try SourceFolder()
    try source.makeFolder("inside")
    try source.makeFolder("inside/d")
    try source.write("inside/d/file", "content")
    try source.write("secret", "outside")
    try source.makeLink("inside/link", to: "d")
    try source.makeLink("inside/d/link", to: "file")
    try source.makeLink("inside/out", to: "..")
    try source.makeLink("inside/absolute", to: "/etc")
    try source.makeFifo("inside/fifo")
    return source
  }

  @Test func listingOmitsOnlyDotAndDotDot() throws {
    let source = try SourceFolder()
    let names: [FileName] = [".a", "..b", "...", "c", "dd", ".e.txt"]
    for name in names { try source.write(name, "") }
    let folder = try Descriptor.open(path: source.path, for: .listing)
    var block = try DirectoryBlock(of: folder.raw, from: nil)
    var found: Set<FileName> = []
    while let entry = try block.next() { found.insert(entry.name.fileName) }
    #expect(found == Set(names))
  }

  @Test func pathsBelowDirectoryAreOpened() throws {
    let source = try Self.makeFolder()
    let place = try Descriptor.open(path: source.path + "/inside", for: .place)
    let file = try Descriptor.open(below: place.raw, path: "d/file", for: .reading)
    #expect(try file.status().size == 7)
    _ = try Descriptor.open(below: place.raw, path: "d", for: .listing)
  }

  @Test(
    arguments: [
      ("link/file", ELOOP), ("out/secret", ELOOP), ("absolute/passwd", ELOOP), ("link/.", ELOOP),
      ("../secret", EXDEV), ("..", EXDEV), ("d/../../secret", EXDEV), ("/etc/passwd", EXDEV), ("gone", ENOENT),
      ("d/file/x", ENOTDIR),
    ] as [(String, Int32)])
  func symlinksAndEscapingPathsAreRefused(path: String, errno: Int32) throws {
    let source = try Self.makeFolder()
    let place = try Descriptor.open(path: source.path + "/inside", for: .place)
    for purpose in [Descriptor.Purpose.reading, .place] {
      do throws(Fault) {
        _ = try Descriptor.open(below: place.raw, path: FileName(path), for: purpose)
        Issue.record("\(path) was opened for \(purpose)")
      } catch { #expect(error.kind == .system(errno)) }
    }
  }

  @Test(arguments: ["link", "d/link", "out"]) func symlinkIsNotOpenedForReading(path: String) throws {
    let source = try Self.makeFolder()
    let place = try Descriptor.open(path: source.path + "/inside", for: .place)
    #expect(throws: Fault(.system(ELOOP), "openat2")) {
      _ = try Descriptor.open(below: place.raw, path: FileName(path), for: .reading)
    }
    // Opened as `.place`, it is the link itself, not its target.
    let link = try Descriptor.open(below: place.raw, path: FileName(path), for: .place)
    #expect(try link.status().type == S_IFLNK)
  }

  @Test func openingFIFODoesNotBlock() throws {
    let source = try Self.makeFolder()
    let place = try Descriptor.open(path: source.path + "/inside", for: .place)
    _ = try Descriptor.open(below: place.raw, path: "fifo", for: .reading)
  }

  @Test(arguments: [0, 1, 5000]) func directoryIsListedCompletely(count: Int) throws {
    let source = try SourceFolder()
    var expected: Set<FileName> = []
    for index in 0..<count {
      let name = FileName("\(index) \(String(repeating: "n", count: index % 200))")
      try source.write(name, [])
      expected.insert(name)
    }
    let folder = try Descriptor.open(path: source.path, for: .listing)
    var found: [FileName] = []
    var places: [Int64] = []
    var place: Int64 = 0
    while true {
      var block = try DirectoryBlock(of: folder.raw, from: place)
      let before = block.last
      #expect(before == nil)
      while let entry = try block.next() {
        found.append(entry.name.fileName)
        places.append(entry.next)
        #expect(entry.type == UInt8(DT_REG) && entry.inode != 0)
      }
      guard let last = block.last else { break }
      place = last
    }
    #expect(found.count == count)
    #expect(Set(found) == expected)
    // Every offset can be returned to.
    for index in stride(from: 0, to: max(0, count - 1), by: 333) {
      var block = try DirectoryBlock(of: folder.raw, from: places[index], capacity: 1024)
      #expect(try block.next()?.name.fileName == found[index + 1])
    }
  }

  @Test func symlinkTargetsAreRead() throws {
    let source = try Self.makeFolder()
    let place = try Descriptor.open(path: source.path + "/inside", for: .place)
    #expect(try linkTarget(of: "absolute", in: place.raw) == Array("/etc".utf8))
    do throws(Fault) {
      _ = try linkTarget(of: "d", in: place.raw)
      Issue.record("a folder has a target")
    } catch { #expect(error.kind == .system(EINVAL)) }
  }

  @Test func extendedAttributesAreRead() throws {
    let source = try Self.makeFolder()
    let place = try Descriptor.open(path: source.path + "/inside", for: .place)
    guard try source.setAttribute("user.colour", of: "inside/d", to: "blue") else {
      try Test.cancel("this file system has no extended attributes")
    }
    #expect(try ExtendedAttributes.value("user.colour", of: "d", in: place.raw) == Array("blue".utf8))
    let long = String(repeating: "blue", count: 250)
    #expect(try source.setAttribute("user.colour", of: "inside/d", to: long))
    #expect(try ExtendedAttributes.value("user.colour", of: "d", in: place.raw) == Array(long.utf8))
    #expect(try ExtendedAttributes.names(of: "d", in: place.raw) == Array("user.colour\0".utf8))
  }
}
