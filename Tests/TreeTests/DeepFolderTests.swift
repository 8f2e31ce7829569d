import AllViews
import Bytes
import Files
import TestSupport
import Testing
import Threads
import Tree

/// Folders whose path is longer than a system call takes.
@Suite struct DeepFolderTests {
  /// The path to the last folder but one has 3,942 bytes and this length.
  @Test(arguments: 150...158) func folderIsOpenedByPartsOfItsPath(_ length: Int) throws {
    let source = try SourceFolder()
    let letters = Array(repeating: ("a", 255), count: 15) + [("b", 100), ("c", length), ("d", 1)]
    let names = letters.map { String(repeating: $0.0, count: $0.1) }
    let make = "for name in \(names): os.mkdir(name), os.chdir(name)\nopen('file', 'w').close()"
    try #require(try Python.output(of: "import os\nos.chdir('\(source.path)')\n\(make)") != nil)
    defer { _ = try? Python.output(of: "import shutil\nshutil.rmtree('\(source.path)/\(names[0])')") }
    let root = try RealRoot(
      Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64), path: source.path)
    let tree = try Tree(
      mirroring: root, views: Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget()))
    var node = Tree.root
    for name in names { node = try tree.lookUp(FileName(name), in: node, .blocking).node }
    #expect(try tree.lookUp("file", in: node, .blocking).attributes.kind == .file)
    let folder = try tree.openFolder(node, .blocking)
    var found: [FileName] = []
    try folder.readAttributes(after: 0, .blocking) { (row, _) throws(Fault) in
      if row.cookie > 2 { found.append(row.name.fileName) }
      return true
    }
    #expect(found == ["file"])
  }
}
