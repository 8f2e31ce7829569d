import Foundation
import Testing

@testable import Rendering

/// The order of text and images in a page of flowing text.
@Suite struct ReflowTests {
  /// Returns the words and images of a page, in the order of its web page. Text is given with its left and lower edge,
  /// images with their rectangle.
  private func order(_ texts: [(String, Int, Int)], images: [(Int, Int, Int, Int)]) throws -> [String] {
    var content = "BT /F 12 Tf "
    for (text, left, bottom) in texts { content += "1 0 0 1 \(left) \(bottom) Tm (\(text)) Tj " }
    content += "ET "
    for (number, image) in images.enumerated() {
      content += "q \(image.2) 0 0 \(image.3) \(image.0) \(image.1) cm /I\(number) Do Q "
    }
    let names = images.indices.map { "/I\($0) \(6 + $0) 0 R" }.joined()
    let objects =
      [
        "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 600 800]>>",
        "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<<\(names)>>>>>>",
        MadePDF.stream("", content), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
      ]
      + images.indices.map { number in
        let pixels = String(repeating: Character(Unicode.Scalar(UInt8(65 + number))), count: 400)
        return MadePDF.stream(
          "/Type/XObject/Subtype/Image/Width 40/Height 10/BitsPerComponent 8/ColorSpace/DeviceGray", pixels)
      }
    #expect(ReadDocument.prepare())
    let input = try MadePDF.input(MadePDF.text(objects).utf8)
    let document = ReflowedDocument(
      try ReadDocument.open(input, among: []), try RenderedDocument.open(input, among: []))
    let bytes = try MadePDF.output { output in
      let remark = try document.write(to: output)
      #expect(remark == "")
    }
    let page = String(decoding: bytes, as: UTF8.self)
    let body = try #require(page.range(of: "<body>"))
    return page[body.upperBound...].split(separator: "\n").compactMap { line in
      if line.contains("<img") { return "image" }
      return texts.map(\.0).first { line.contains($0) }
    }
  }

  /// An image stands before the text below it in its column, and not before that of another column.
  @Test func imagesStandWithTheirColumn() throws {
    let texts = [("north", 50, 700), ("west", 50, 300), ("east", 350, 200)]
    #expect(try order(texts, images: [(350, 400, 200, 200)]) == ["north", "west", "image", "east"])
    #expect(try order(texts, images: [(50, 400, 200, 200)]) == ["north", "image", "west", "east"])
    #expect(try order(texts, images: [(50, 400, 500, 200)]) == ["north", "image", "west", "east"])
    // Above all text, and below all.
    #expect(try order(texts, images: [(350, 720, 200, 60)]) == ["image", "north", "west", "east"])
    #expect(try order(texts, images: [(50, 20, 200, 100)]) == ["north", "west", "east", "image"])
  }
}
