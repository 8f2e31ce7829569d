import Bytes
import TestSupport
import Testing

@testable import Mail

/// The texts of a message that a search finds.
@Suite struct MessageWordsTests {
  private static let mail = MessageFixture.multi(
    "mixed", "b",
    [
      MessageFixture.plain("bodyword"), part("text/x-patch", "inline; filename=\"a.patch\"", "patchword"),
      part("text/plain", "attachment; filename=\"a.log\"", "logword"), part("text/x-diff", nil, "diffword"),
      part("text/html", "inline; filename=p.html", "<b>page</b>word"),
      part("application/octet-stream", "attachment; filename=a.py", "pyword"),
      part("application/octet-stream", "attachment; filename=a.bin", "bin\u{0}word"),
      part("text/plain", "attachment; filename=b.bin", "zero\u{0}word"),
      part("application/json", "inline; filename=a.json", "jsonword"),
      part("text/plain", "attachment; filename=a.pdf", "%PDF-1.4"),
      "Content-Type: text/plain; charset=iso-8859-1\nContent-Disposition: attachment\n"
        + "Content-Transfer-Encoding: quoted-printable\n\ngr=FC=DFeword",
      part("application/x", "attachment; filename=w.txt", "//53AGkAZABlAHcAbwByAGQA", encoding: "base64"),
      "Content-Type: message/rfc822\nContent-Disposition: attachment; filename=in.eml\n\n"
        + MessageFixture.multi(
          "mixed", "c", [MessageFixture.plain("innerword"), part("text/csv", "attachment; filename=a.csv", "csvword")]),
    ])

  private static func part(
    _ type: String, _ disposition: String?, _ text: String, encoding: String = "8bit"
  ) -> String {
    "Content-Type: \(type)\nContent-Transfer-Encoding: \(encoding)\n"
      + (disposition.map { "Content-Disposition: \($0)\n" } ?? "") + "\n\(text)"
  }

  private static func body(_ maker: Message.TextMaker? = nil) throws -> String {
    String(decoding: try OpenMail(mail).message.words(with: maker).body, as: UTF8.self)
  }

  @Test func textOutsideAttachmentsIsIndexed() throws {
    let body = try Self.body()
    for word in ["bodyword", "patchword", "diffword", "pageword", "innerword"] { #expect(body.contains(word)) }
    for word in ["logword", "pyword", "bin", "zero", "json", "grüße", "wide", "csv"] {
      #expect(!body.contains(word), "\(word)")
    }
  }

  @Test func attachedTextIsRecognizedByContent() throws {
    var asked: [String] = []
    let body = try Self.body { path in
      asked.append(path.map(\.text).joined(separator: "/"))
      return path.last?.text == "a.bin" ? Array("madeword".utf8) : nil
    }
    for word in [
      "bodyword", "patchword", "diffword", "pageword", "innerword", "logword", "pyword", "jsonword", "grüßeword",
      "wideword", "csvword", "madeword",
    ] {
      #expect(body.contains(word), "\(word)")
    }
    #expect(!body.contains("zero"))
    #expect(asked == ["a.bin", "b.bin", "a.pdf"])
  }

  /// A file of an attached message is named by the path in that message's view.
  @Test func filesInAttachedMessagesHaveNestedPaths() throws {
    let inner = MessageFixture.multi("mixed", "c", [MessageFixture.plain("x"), MessageFixture.file("f.pdf", "\u{1}")])
    let mail = MessageFixture.multi(
      "mixed", "b", ["Content-Type: message/rfc822\nContent-Disposition: attachment; filename=a.eml\n\n" + inner])
    var asked: [[String]] = []
    _ = try OpenMail(mail).message.words { path in
      asked.append(path.map(\.text))
      return nil
    }
    #expect(asked == [["a.eml.message", "attachments", "f.pdf"]])
  }
}
