internal import Catalogue
internal import WorkerKit

/// A reader of texts and slides in OpenDocument: ODT, OTT, ODP (OpenDocument 1.3, part 3). Tracked changes count as
/// accepted.
struct OpenDocument {
  private let package: OfficePackage

  init(_ package: OfficePackage) { self.package = package }

  func read(into taker: any BlockTaker) throws(JobFailure) {
    var styles = OpenStyles()
    if let reader = try package.reader("styles.xml") {
      while let event = try reader.next() {
        if case .start(let element) = event { _ = try styles.take(element, reader) }
      }
    }
    guard let reader = try package.reader("content.xml") else { throw JobFailure(.damaged, "has no content.xml") }
    try OpenText(reader, styles).read(into: taker)
  }
}
