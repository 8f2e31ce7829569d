/// Modifiers for compressing the images of a PDF, as in `scan.100dpi.q40.compressed.pdf`.
public struct CompressionChanges: Modifiers {
  private var changes = ImageChanges()

  public init() {}

  /// The resolution in pixels per inch.
  public var resolution: Int { changes.resolution ?? 150 }
  /// The quality, from 1 to 100.
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

  /// The modifiers with default values written out, so that names with explicit defaults have the same result.
  public var description: String { "\(resolution)dpi.q\(quality)" }
}
