internal import AllViews
internal import Bytes
internal import Files
internal import Index
internal import Jobs
internal import RenditionViews
internal import TestSupport
internal import Tree

extension FuzzTarget {
  /// A folder of archives, mails, tables, holes and invalid index rows, walked with every kind of request.
  public static let tree = FuzzTarget(name: "tree") {
    (0..<24).map { (seed: UInt64) in
      var numbers = SeededNumbers(seed: seed)
      return numbers.bytes(120 + numbers.below(400))
    }
  } complaints: { bytes in
    var choices = Choices(bytes)
    guard let folder = try? HostileFolder(&choices),
      let tree = try? Tree(mirroring: folder.source.path, folder.index, cache: folder.source.path)
    else { return ["the folder cannot be made"] }
    var reading = TreeReading(tree)
    reading.walk()
    tree.stop()
    folder.index?.finish(within: .seconds(2))
    return reading.complaints
  }
}

extension Tree {
  /// All views, but no converter: views that need one fail as if it is missing.
  convenience init(mirroring path: String, _ index: Index?, cache: String) throws {
    var options = ConversionPool.Options(program: "/nowhere/ffconvert")
    options.workers = 1
    let conversions = Conversions(options, cache: nil, index: index, spools: cache)
    let views = Views(index: index, conversions: conversions)
    let root = try RealRoot(Descriptor.open(path: path, for: .place), pool: DescriptorPool(capacity: 32))
    try self.init(mirroring: root, views: views)
  }
}
