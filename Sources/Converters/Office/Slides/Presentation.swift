internal import Catalogue
internal import WorkerKit

/// A reader of presentations: PPTX, PPTM, PPSX (ECMA-376, part 1, 19). Each slide is followed by its speaker notes.
struct Presentation {
  private let package: OfficePackage
  private let main: String

  init(_ package: OfficePackage, main: String) {
    self.package = package
    self.main = main
  }

  func read(into taker: any BlockTaker) throws(JobFailure) {
    guard let reader = try package.reader(main) else { throw JobFailure(.damaged, "has no list of slides") }
    let links = try package.relationships(of: main)
    while let event = try reader.next() {
      guard case .start(let element) = event, element.name == "p:sldId",
        let slide = element["r:id"].flatMap({ links[$0] }), !slide.isOutside
      else { continue }
      try readSlide(slide.target, into: taker)
    }
  }

  private func readSlide(_ path: String, into taker: any BlockTaker) throws(JobFailure) {
    guard let reader = try package.reader(path) else { return }
    let links = try package.relationships(of: path)
    try SlideText(reader, links, package, isNotes: false).read(into: taker)
    guard let notes = links.values.first(where: { $0.kind == "notesSlide" && !$0.isOutside })?.target,
      let reader = try package.reader(notes)
    else { return }
    try SlideText(reader, package.relationships(of: notes), package, isNotes: true).read(into: taker)
  }
}
