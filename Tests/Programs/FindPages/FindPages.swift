import Catalogue
import Foundation
import Pixels
import Scanning
import WorkerKit

/// For `scripts/bench pages`: finds the pages in JPEG files, and cleans them if a filter and a folder are given.
///
///     findpages [--clean FILTER FOLDER] FILE…
///
/// Prints a line of JSON for each file: the corners of the best page or null, those of all pages, and seconds of CPU.
@main
enum FindPages {
  static func main() throws {
    var files = CommandLine.arguments.dropFirst()
    var filter: ScanFilter?
    var folder = ""
    if files.first == "--clean", files.count > 2 {
      let given = Array(files.prefix(3))
      (filter, folder) = (ScanFilter(rawValue: given[1]), given[2])
      files = files.dropFirst(3)
    }
    for file in files { try print(report(on: file, filter, folder)) }
  }

  private static func report(on file: String, _ filter: ScanFilter?, _ folder: String) throws -> String {
    let start = clock()
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    guard let jpeg = JPEG(bytes), let photo = jpeg.samples(atLeast: jpeg.width, jpeg.height) else {
      return #"{"file": "\#(file)", "error": "cannot be read"}"#
    }
    let read = clock()
    let page = PageFinder.page(in: photo)
    let found = clock()
    var fields = [
      #""file": "\#(file)""#, #""page": \#(page.map(text) ?? "null")"#, #""read": \#(seconds(start, read))"#,
      #""find": \#(seconds(read, found))"#,
    ]
    if let filter {
      let clean = try PageCleaner.clean(photo, to: page, filter)
      let cleaned = clock()
      let made = clean.bilevel.map(JBIG2.bytes) ?? JPEG.bytes(of: clean.samples, quality: 85, isSubsampled: true) ?? []
      fields += [
        #""size": [\#(clean.samples.width), \#(clean.samples.height)]"#, #""dpi": \#(clean.dotsPerInch)"#,
        #""clean": \#(seconds(found, cleaned))"#, #""write": \#(seconds(cleaned, clock()))"#,
        #""bytes": \#(made.count)"#,
      ]
      let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
      let shown = clean.bilevel == nil ? made : JPEG.bytes(of: clean.samples, quality: 85, isSubsampled: false) ?? []
      try Data(shown).write(to: URL(fileURLWithPath: folder).appendingPathComponent("\(name).jpg"))
    } else {
      fields.append(#""pages": [\#(PageFinder.pages(in: photo).map(text).joined(separator: ", "))]"#)
    }
    return "{\(fields.joined(separator: ", "))}"
  }

  private static func text(_ page: Quadrilateral) -> String {
    "[\(page.corners.map { "[\($0.x), \($0.y)]" }.joined(separator: ", "))]"
  }

  private static func seconds(_ start: clock_t, _ end: clock_t) -> Double {
    Double(end - start) / Double(CLOCKS_PER_SEC)
  }
}
