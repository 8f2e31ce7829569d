import FileTrees
import Foundation
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct AttributeChangeTests {
  @Test func modeOwnerAndTimesCanBeSet() async throws {
    let sample = try Sample("readme.txt")
    let tree = sample.tree
    try sample.makeLink("link", to: "readme.txt")
    let time = FileTree.Time(seconds: -1_000_000_000, nanoseconds: 123_456_789)
    let later = FileTree.Time(seconds: 4_000_000_000, nanoseconds: 1)
    try await tree.setAttributes(
      .init(permissions: [.ownerReadWrite, .groupRead], accessed: later, modified: time), of: "link")
    let attributes = try await tree.attributes(of: "readme.txt")
    #expect(attributes.permissions == [.ownerReadWrite, .groupRead])
    #expect(attributes.modified == time)
    #expect(attributes.accessed == later)
    var status = stat()
    #expect(unsafe stat(sample.path("readme.txt"), &status) == 0)
    #expect(status.st_mode & 0o7777 == 0o640)
    #expect(status.st_mtim.tv_sec == time.seconds && status.st_mtim.tv_nsec == Int(time.nanoseconds))
    #expect(UInt64(status.st_ino) == attributes.inode && attributes.linkCount == 1)
    // One alone leaves the others.
    try await tree.setAttributes(.init(accessed: time), of: "readme.txt")
    #expect(try await tree.attributes(of: "readme.txt").modified == time)
    #expect(try await tree.attributes(of: "readme.txt").accessed == time)
    try await tree.setAttributes(.init(modified: later), of: "link", followsLinks: false)
    #expect(try await tree.attributes(of: "link", followsLinks: false).modified == later)
    #expect(try await tree.attributes(of: "readme.txt").modified == time)
    try await tree.setAttributes(.init(permissions: .ownerReadWriteExecute), of: "")
    if geteuid() == 0 {
      try await tree.setAttributes(.init(owner: 1234), of: "readme.txt")
      try await tree.setAttributes(.init(group: 5678), of: "readme.txt")
      let attributes = try await tree.attributes(of: "readme.txt")
      #expect(attributes.owner == 1234 && attributes.group == 5678)
    }
  }

  @Test func invalidAttributeValuesAndViewsAreRefused() async throws {
    let sample = try Sample("letters.zip")
    let tree = sample.tree
    let before = try await tree.attributes(of: "letters.zip")
    for nanoseconds in [-1, 1_000_000_000, (1 << 30) - 1, (1 << 30) - 2] as [Int32] {
      await expectError(.system, "letters.zip") { () throws(FileTreeError) in
        try await tree.setAttributes(
          .init(permissions: [], modified: .init(seconds: 0, nanoseconds: nanoseconds)), of: "letters.zip")
      }
    }
    await expectError(.system, "letters.zip") { () throws(FileTreeError) in
      try await tree.setAttributes(.init(owner: .max), of: "letters.zip")
    }
    #expect(try await tree.attributes(of: "letters.zip") == before)
    for path in ["letters.zip.contents", "letters.zip.contents/drafts.zip"] as [FilePath] {
      await expectError(.readOnlyView, path) { () throws(FileTreeError) in
        try await tree.setAttributes(.init(permissions: .ownerRead), of: path)
      }
      await expectError(.readOnlyView, path) { () throws(FileTreeError) in
        try await tree.setExtendedAttribute("user.x", to: [1], of: path)
      }
    }
    await expectError(.notFound, "none") { () throws(FileTreeError) in
      try await tree.setAttributes(.init(permissions: .ownerRead), of: "none")
    }
  }

  @Test func extendedAttributesAreSetAndRemoved() async throws {
    let sample = try Sample("letters.zip")
    let tree = sample.tree
    let path: FilePath = "letters.zip"
    #expect(try await tree.extendedAttributeNames(of: path).isEmpty)
    #expect(try await tree.extendedAttribute("user.note", of: path) == nil)
    let value = (0...255).map { UInt8($0) }
    try await tree.setExtendedAttribute("user.note", to: value, of: path)
    try await tree.setExtendedAttribute("user.empty", to: [], of: path)
    #expect(try await Set(tree.extendedAttributeNames(of: path)) == ["user.note", "user.empty"])
    #expect(try await tree.extendedAttribute("user.note", of: path) == value)
    #expect(try await tree.extendedAttribute("user.empty", of: path) == [])
    try sample.make(by: "assert os.getxattr('letters.zip', 'user.note') == bytes(range(256))")
    try await tree.setExtendedAttribute("user.note", to: nil, of: path)
    try await tree.setExtendedAttribute("user.note", to: nil, of: path)
    #expect(try await tree.extendedAttributeNames(of: path) == ["user.empty"])
    for name in ["", "user.a\0b"] {
      await expectError(.system, path) { () throws(FileTreeError) in
        try await tree.setExtendedAttribute(name, to: [1], of: path)
      }
      await expectError(.system, path) { () throws(FileTreeError) in
        _ = try await tree.extendedAttribute(name, of: path)
      }
    }
    for name in ["note", "nonsense.note", "user.ffmount.view", "user." + String(repeating: "x", count: 300)] {
      await #expect(throws: FileTreeError.self, "\(name)") {
        try await tree.setExtendedAttribute(name, to: [1], of: path)
      }
    }
    await #expect(throws: FileTreeError.self) {
      try await tree.setExtendedAttribute("user.big", to: [UInt8](repeating: 0, count: 70_000), of: path)
    }
    #expect(try await tree.extendedAttributeNames(of: path) == ["user.empty"])
    let view = try await tree.extendedAttributeNames(of: "letters.zip.contents")
    #expect(view.contains("user.ffmount.view"))
    #expect(try await tree.extendedAttribute("user.ffmount.view", of: "letters.zip.contents") == Array("contents".utf8))
  }

  @Test func symbolicLinksAreCreated() async throws {
    let sample = try Sample("letters.zip", "readme.txt")
    let tree = sample.tree
    try await tree.createSymbolicLink("link", to: "readme.txt")
    try await tree.createSymbolicLink("out", to: "../../etc/passwd")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: sample.path("link")) == "readme.txt")
    #expect(try await tree.destination(ofSymbolicLink: "out") == "../../etc/passwd")
    #expect(try await tree.read("link") == sample.bytes(of: "readme.txt"))
    await expectError(.permissionDenied, "out") { () throws(FileTreeError) in _ = try await tree.read("out") }
    // Names are bytes.
    try sample.make(by: "os.symlink(b'\\xff\\xfe', b'odd')")
    let odd = try await tree.destination(ofSymbolicLink: "odd")
    try await tree.createSymbolicLink("odd2", to: odd)
    try sample.make(by: "assert os.readlink(b'odd2') == b'\\xff\\xfe'")
    await expectError(.alreadyExists, "link") { () throws(FileTreeError) in
      try await tree.createSymbolicLink("link", to: "x")
    }
    await expectError(.missingParent, "none/x") { () throws(FileTreeError) in
      try await tree.createSymbolicLink("none/x", to: "x")
    }
    await expectError(.system, "empty") { () throws(FileTreeError) in
      try await tree.createSymbolicLink("empty", to: "")
    }
    await expectError(.nameTooLong, "long") { () throws(FileTreeError) in
      try await tree.createSymbolicLink("long", to: FilePath(String(repeating: "a/", count: 3000)))
    }
    await expectError(.readOnlyView, "letters.zip.contents/x") { () throws(FileTreeError) in
      try await tree.createSymbolicLink("letters.zip.contents/x", to: "y")
    }
    await expectError(.system, "readme.txt") { () throws(FileTreeError) in
      _ = try await tree.destination(ofSymbolicLink: "readme.txt")
    }
    #expect(try await tree.destination(ofSymbolicLink: "letters.zip.contents/latest") == "2024")
  }

  @Test func hardLinksAreCreated() async throws {
    let sample = try Sample("letters.zip", "readme.txt")
    let tree = sample.tree
    try await tree.createHardLink("second", to: "readme.txt")
    let (first, second) = try await (tree.attributes(of: "readme.txt"), tree.attributes(of: "second"))
    #expect(first.inode == second.inode && second.linkCount == 2)
    try await tree.append([1], to: "second")
    #expect(try sample.bytes(of: "readme.txt").last == 1)
    await expectError(.alreadyExists, "second") { () throws(FileTreeError) in
      try await tree.createHardLink("second", to: "letters.zip")
    }
    await expectError(.notFound, "none") { () throws(FileTreeError) in
      try await tree.createHardLink("third", to: "none")
    }
    await expectError(.missingParent, "none/x") { () throws(FileTreeError) in
      try await tree.createHardLink("none/x", to: "readme.txt")
    }
    await expectError(.isADirectory, "") { () throws(FileTreeError) in try await tree.createHardLink("third", to: "") }
    let inside: FilePath = "letters.zip.contents/drafts.zip"
    await expectError(.readOnlyView, inside) { () throws(FileTreeError) in
      try await tree.createHardLink("third", to: inside)
    }
    #expect(try sample.names() == ["letters.zip", "readme.txt", "second"])
  }
}
