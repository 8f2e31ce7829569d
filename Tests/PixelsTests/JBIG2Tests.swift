import Foundation
import Fuzzing
import Pixels
import TestSupport
import Testing

/// Our own JBIG2 coder against two decoders that are not: jbig2dec, and poppler's.
@Suite(.timeLimit(.minutes(5))) struct JBIG2Tests {
  @Test func jbig2decReadsTheSamePixels() {
    let target = FuzzTarget.jbig2
    for seed in target.seeds() { #expect(target.complaints(seed) == []) }
    #expect(target.complaints(ofMutations: TestExtent.isFull ? 50_000 : 300, seed: 20) == [])
  }

  @Test func popplerReadsTheSamePixels() async throws {
    try await withScratch { scratch in
      let images = try Self.images()
      try Self.document(of: images).write(to: URL(fileURLWithPath: scratch.source + "/all.pdf"))
      let read = try await shell(
        "cd \"$1\" && pdfimages -all all.pdf out && pdfimages all.pdf out && ls", scratch.source)
      try #require(read.status == 0, "\(read.errors)")
      for (index, image) in images.enumerated() {
        let name = "out-" + String(repeating: "0", count: 3 - String(index).count) + String(index)
        let coded = try Data(contentsOf: URL(fileURLWithPath: "\(scratch.source)/\(name).jb2e"))
        #expect(Array(coded) == JBIG2.bytes(of: image))
        let bitmap = try Data(contentsOf: URL(fileURLWithPath: "\(scratch.source)/\(name).pbm"))
        // A bit set is black there.
        let rows = Array(bitmap.suffix(image.rowSize * image.height)).map { ~$0 }
        let decoded = try #require(Bilevel(width: image.width, height: image.height, bytes: rows))
        #expect(decoded.hasPixels(of: image), "image \(index), \(image.width) × \(image.height)")
      }
    }
  }

  /// Of sizes around whole bytes and words, drawn in several ways.
  private static func images() throws -> [Bilevel] {
    var numbers = SeededNumbers(seed: 7)
    return try [1, 2, 7, 8, 9, 31, 33, 64, 129, 700].flatMap { width in
      try [1, 2, 40].map { height in
        let count = (width + 7) / 8 * height
        var bytes = numbers.bytes(count)
        if height == 40 { for index in bytes.indices where index % 7 < 5 { bytes[index] = 0xFF } }
        return try #require(Bilevel(width: width, height: height, bytes: bytes))
      }
    }
  }

  /// A PDF with a page for each image.
  private static func document(of images: [Bilevel]) -> Data {
    var data = Data("%PDF-1.7\n".utf8)
    var places: [Int] = []
    func add(_ text: String, _ stream: [UInt8]? = nil) {
      places.append(data.count)
      data += Data("\(places.count) 0 obj\n\(text)\n".utf8)
      if let stream { data += Data("stream\n".utf8) + Data(stream) + Data("\nendstream\n".utf8) }
      data += Data("endobj\n".utf8)
    }
    add("<< /Type /Catalog /Pages 2 0 R >>")
    let kids = images.indices.map { "\(4 + 2 * $0) 0 R" }.joined(separator: " ")
    add("<< /Type /Pages /Count \(images.count) /Kids [ \(kids) ] >>")
    let drawing = Array("/I Do".utf8)
    add("<< /Length \(drawing.count) >>", drawing)
    for (index, image) in images.enumerated() {
      let coded = JBIG2.bytes(of: image)
      add(
        """
        << /Type /Page /Parent 2 0 R /MediaBox [ 0 0 72 72 ] /Contents 3 0 R \
        /Resources << /XObject << /I \(5 + 2 * index) 0 R >> >> >>
        """)
      add(
        """
        << /Type /XObject /Subtype /Image /Width \(image.width) /Height \(image.height) /BitsPerComponent 1 \
        /ColorSpace /DeviceGray /Filter /JBIG2Decode /Length \(coded.count) >>
        """, coded)
    }
    let start = data.count
    data += Data("xref\n0 \(places.count + 1)\n0000000000 65535 f \n".utf8)
    for place in places {
      let digits = String(place)
      data += Data((String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n").utf8)
    }
    data += Data("trailer\n<< /Size \(places.count + 1) /Root 1 0 R >>\nstartxref\n\(start)\n%%EOF\n".utf8)
    return data
  }
}
