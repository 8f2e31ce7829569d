import Bytes
import Cards
import TestSupport
import Testing

@testable import Fuzzing

/// Calendars and cards with a few bytes changed, from fixed seeds.
@Suite struct CardMutationTests {
  @Test func entriesOfMutatedCardsStayInTheirFiles() {
    let complaints = FuzzTarget.cards.complaints(ofMutations: 600, seed: 21)
    #expect(complaints.isEmpty, "\(complaints)")
  }

  /// Of a property of more than 16 MiB nothing is taken, what is in front of it stays.
  @Test(arguments: [false, true]) func overlongPropertiesAreSkipped(isFolded: Bool) throws {
    let line = [UInt8](repeating: UInt8(ascii: "A"), count: 17 << 18) + (isFolded ? Array("\r\n ".utf8) : [])
    let long = line + line + line + line
    let front = Array("BEGIN:VCARD\r\nFN:Long\r\n".utf8)
    let back = Array("\r\nTEL:1\r\nEND:VCARD\r\n".utf8)
    let photo = try CardFolder(ByteArraySource(front + Array("PHOTO;ENCODING=b;TYPE=JPEG:".utf8) + long + back))
    #expect(photo.files.map { String(decoding: $0.name, as: UTF8.self) } == ["Long.vcf"])
    #expect(photo.fault?.offset == 22)
    var scanner = CardScanner()
    var text = ""
    scanner.read(front + Array("NOTE:".utf8) + long + back, isLast: true) {
      if case .entry(let entry) = $0 { text += entry.readable }
    }
    #expect(text == "Long\nPhone: 1\n")
    #expect(scanner.lostText?.offset == 22)
  }
}
