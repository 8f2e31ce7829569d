public import Bytes
public import Conversion
public import Index
package import Tree

/// What the views that convert share.
public final class Conversions: Sendable {
  let renditions: Renditions
  package let known: KnownValues

  /// `cache` and `index` are nil where nothing outlives the mount; `spools` is a folder for large temporary files;
  /// `passwords` are for PDFs that ask for one.
  public init(
    _ options: ConversionPool.Options, cache: RenditionCache?, index: Index?, spools: String,
    passwords: Passwords = Passwords()
  ) {
    known = KnownValues(index: index)
    renditions = Renditions(
      pool: ConversionPool(options), cache: cache, spools: spools, notes: known, passwords: passwords)
  }

  func stop() { renditions.stop() }
}

extension SourceState {
  var subject: Renditions.Subject {
    Renditions.Subject(revision: revision, owner: source.item.soleOwner(source.attributes)) {
      [self] (patience) throws(Fault) in try open(patience)
    }
  }
}
