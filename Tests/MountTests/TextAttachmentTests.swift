import TestSupport
import Testing

/// Searches for the text of attachments that are text, in every container of messages.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TextAttachmentTests {
  /// Names of files, and types; each file has a word that is only in it.
  private static let files = [
    ("a.txt", "text/plain"), ("b.patch", "text/x-patch"), ("c.py", "application/octet-stream"),
    ("d", "application/x-own"),
    ("e.html", "text/html"), ("f.json", "application/json"), ("g.csv", "text/csv"),
  ]

  private static func word(_ name: String) -> String { "word\(name.prefix { $0 != "." })unique" }

  private static var mail: String {
    let parts = files.enumerated().map { index, file in
      "--b\nContent-Type: \(file.1)\nContent-Disposition: \(index == 1 ? "inline" : "attachment"); filename=\(file.0)\n\n"
        + "x \(word(file.0)) y\n"
    }
    return "From: a@b.c\nSubject: att\nDate: Tue, 01 Feb 2022 10:00:00 +0100\nMessage-ID: <a@b>\nMIME-Version: 1.0\n"
      + "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nbodyword\n" + parts.joined()
      + "--b--\n"
  }

  @Test(arguments: ["a.mbox", "a.mbox.gz", "Maildir", "letters", "tree"])
  func attachedTextIsFoundInEveryContainer(_ container: String) async throws {
    try await withScratch { scratch in
      try scratch.write("a.eml", Self.mail)
      let lines = """
        cd "$1"; mkdir -p Maildir/cur Maildir/new Maildir/tmp tree/in letters; mv a.eml letters; cp letters/a.eml 'Maildir/cur/1.x.h:2,S'
        { echo 'From a@b.c Wed May  1 10:00:00 2024'; cat letters/a.eml; } > a.mbox; gzip -k a.mbox; cp -r Maildir tree/in/M
        """
      _ = try await shell(lines, scratch.source)
      let path = scratch.source + "/" + container
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache", "LC_ALL": "C"]
      func ffmount(_ words: String...) async throws -> MountChild.Result {
        try await MountChild([MountProcess.binary] + words, environment: environment).wait(atMost: 60)
      }
      let plain = try await ffmount("search", "--mail", path, "bodyword \(Self.word("b.patch"))")
      #expect(plain.lines.count == 1, "a named part that is not an attachment: \(plain.errors)")
      #expect(try await ffmount("search", "--mail", path, Self.word("a.txt")).lines.isEmpty)
      let read = try await ffmount("index", "--search", "--attachment-text", path)
      #expect(read.status == 0, "\(read.errors)")
      for (name, _) in Self.files {
        #expect(try await ffmount("search", "--mail", path, Self.word(name)).lines.count == 1, "\(name)")
      }
    }
  }
}
