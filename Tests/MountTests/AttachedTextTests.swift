import TestSupport
import Testing

private let hasLanguages = ["eng", "deu", "osd"].allSatisfy {
  MountScratch.exists("/usr/share/tesseract-ocr/5/tessdata/\($0).traineddata")
}

/// Searches for the text of what is attached to messages.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: hasLanguages, "needs tesseract-ocr-eng, -deu and -osd"))
struct AttachedTextTests {
  @Test func attachedScansAreFoundAfterRecognition() async throws {
    try await withScratch { scratch in
      _ = try await shell("mkdir \"$1/scans\"", scratch.path)
      try await script("make_scans.py", scratch.path + "/scans")
      _ = try await shell("printf 'what,weight\\nherring,4711\\n' > \"$1/scans/list.csv\"", scratch.path)
      let archive = scratch.source + "/in.mbox"
      try await script(
        "make_scanned_mail.py", scratch.path + "/scans", archive, "photo", "worn.jpg", "document", "mixed.pdf", "table",
        "list.csv", "nothing", "-")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache", "LC_ALL": "C"]
      func ffmount(_ words: String...) async throws -> MountChild.Result {
        try await MountChild([MountProcess.binary] + words, environment: environment).wait(atMost: 60)
      }
      func found(_ query: String) async throws -> String {
        let lines = try await ffmount("search", archive, query).lines
        return lines.compactMap { $0.split(separator: "\t").last.map(String.init) }.sorted().joined(separator: " ")
      }
      #expect(try await found("harbour") == "")
      #expect(try await found("herring") == "")
      let read = try await ffmount("index", "--search", "--attachment-text", scratch.source)
      #expect(
        read.status == 0 && read.text.contains("attachments of \(archive): 3 messages read in "), "\(read.errors)")
      #expect(try await found("harbour") == "")
      #expect(try await found("herring 4711 see") == "table")
      #expect(try await found("\"words of its own\"") == "document")
      let recognised = try await ffmount("index", "--search", "--mail", "--ocr", "--jobs", "2", scratch.source)
      #expect(recognised.status == 0, "\(recognised.errors)")
      #expect(try await found("harbour keeper") == "document photo")
      #expect(try await found("harbour -\"words of its own\"") == "photo")
      #expect(try await found("herring") == "table")
      try await withMount(scratch, environment: environment) { mount in
        let listed = try await shell("ls \"$1/in.mbox.views/search/harbour keeper\" | cut -d' ' -f5", mount.mountpoint)
        #expect(listed.text == "document\nphoto\n" || listed.text == "photo\ndocument\n")
      }
      // What came later is not in that index, and is found without what is attached.
      try await Task.sleep(for: .milliseconds(60))
      try await script("make_scanned_mail.py", scratch.path + "/scans", archive, "later", "worn.jpg")
      #expect(try await found("attached") == "document later nothing photo table")
      _ = try await ffmount("index", "--search", "--mail", "--ocr", scratch.source)
      #expect(try await found("harbour") == "document later photo")
      let misused = try await ffmount("index", "--ocr", scratch.source)
      #expect(misused.status == 64 && misused.errors.contains("add --search"), "\(misused.errors)")
    }
  }
}
