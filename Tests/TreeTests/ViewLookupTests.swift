import Bytes
import Files
import Glibc
import Synchronization
import TestSupport
import Testing
import Tree

/// A name is matched by its ending once, however many views there are.
@Suite struct ViewLookupTests {
  /// Counts how often it is asked about a name.
  private final class Asked: Sendable {
    let count = Atomic(0)
  }

  private struct CountingView: View {
    let number: Int
    let asked: Asked
    var name: String { "view\(number)" }
    let kind = Kind.file
    var listedExtensions: Set<FileExtension> { [FileExtension("e\(number)".utf8)] }
    var possibleExtensions: Set<FileExtension> { listedExtensions }
    let descriptions: [ViewDescription] = []
    var endings: Set<FileExtension> { [FileExtension("as-v\(number)".utf8)] }

    func listedName(beside file: FileName) -> FileName { FileName(file.bytes + Array(".as-v\(number)".utf8)) }

    func isListed(beside file: FileName) -> Bool {
      asked.count.add(1, ordering: .relaxed)
      return true
    }

    func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

    func requests(for name: FileName) -> [ViewRequest] {
      asked.count.add(1, ordering: .relaxed)
      return []
    }

    func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
      nil
    }
  }

  private func tree(_ source: SourceFolder, views count: Int, _ asked: Asked) throws -> Tree {
    let root = try RealRoot(Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64))
    let views = (0..<count).map { CountingView(number: $0, asked: asked) }
    return try Tree(mirroring: root, views: Views(views, depth: 4))
  }

  @Test(arguments: [9, 100]) func lookupQueriesOnlyViewsOfTheSuffix(_ count: Int) throws {
    let source = try SourceFolder()
    let asked = Asked()
    let tree = try tree(source, views: count, asked)
    func questions(_ name: FileName) -> Int {
      let before = asked.count.load(ordering: .relaxed)
      _ = try? tree.lookUp(name, in: Tree.root, .blocking)
      return asked.count.load(ordering: .relaxed) - before
    }
    #expect(questions("missing") == 0)
    #expect(questions("missing.txt") == 0)
    #expect(questions("missing.as-v7") == 1)
    #expect(questions("missing.as-v100") == 0)
  }

  @Test(arguments: [9, 100]) func listingQueriesOnlyViewsOfTheExtension(_ count: Int) throws {
    let source = try SourceFolder()
    for number in 0..<200 { try source.write(FileName("f\(number).\(number % 4 == 0 ? "e7" : "txt")"), [1]) }
    let asked = Asked()
    let tree = try tree(source, views: count, asked)
    let reader = try waiting { () throws(Fault) in try tree.openFolder(Tree.root, .blocking) }
    var names = 0
    try waiting { () throws(Fault) in
      try reader.read(after: 0, .blocking) { (_, _) throws(Fault) in
        names += 1
        return true
      }
    }
    #expect(names >= 202)
    #expect(asked.count.load(ordering: .relaxed) == 50)
  }
}
