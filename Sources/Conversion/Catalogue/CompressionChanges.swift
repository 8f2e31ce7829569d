/// How small the images of a compressed PDF are: the modifiers of a name like `scan.100dpi.q40.compressed.pdf`.
public struct CompressionChanges: Modifiers {
  private var changes = ImageChanges()

  public init() {}

  /// In pixels per inch.
  public var resolution: Int { changes.resolution ?? 150 }
  /// 1 to 100.
  public var quality: Int { changes.quality ?? 60 }

  public mutating func add(_ word: Substring) -> Bool {
    var changed = changes
    guard changed.add(word) else { return false }
    var rest = changed
    rest.resolution = nil
    rest.quality = nil
    guard rest == ImageChanges() else { return false }
    changes = changed
    return true
  }

  public static var examples: [(modifier: String, meaning: String)] {
    ImageChanges.examples.filter { example in
      var changes = CompressionChanges()
      return changes.add(Substring(example.modifier))
    }
  }

  /// With the usual values written out, so that a name that says them has the same result.
  public var description: String { "\(resolution)dpi.q\(quality)" }
}
