import Foundation
import TestSupport
import Testing

/// Runs ffconvert as a subprocess on the corpus beside the project.
@Suite(.serialized, .enabled("needs the corpus beside the project") { sharedCorpus != nil })
struct WorkerTests {
  private static let program =
    URL(fileURLWithPath: MountProcess.binary).deletingLastPathComponent().appendingPathComponent("ffconvert").path

  private static let manuals = ProcessInfo.processInfo.environment["FFMOUNT_TEST_MANUALS"]

  /// All files below a folder of the corpus, or every `step`th.
  private static func files(_ folder: String, step: Int) -> [String] {
    let root = sharedCorpus?.appendingPathComponent(folder).path ?? ""
    let names = (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []).sorted()
    let files = names.filter { $0.contains(".") && !$0.hasSuffix(".markdown") }.map { "\(root)/\($0)" }
    return stride(from: 0, to: files.count, by: TestExtent.isFull ? 1 : step).map { files[$0] }
  }

  private static func script(_ name: String, _ words: [String]) async throws -> String {
    let path = MountScratch.package + "/Tests/Scripts/" + name
    let child = try MountChild([MountScratch.python, path, program] + words)
    let result = try await child.wait(atMost: TestExtent.isFull ? 1500 : 200)
    #expect(result.status == 0, "\(result.text)\n\(result.errors)")
    return result.text
  }

  @Test func workerStartedByHandExplainsItself() async throws {
    let result = try await run(Self.program)
    #expect(result.status == 64)
    #expect(result.errors == "ffconvert converts files for ffmount, which starts it. It cannot be run by hand.\n")
  }

  @Test func extractedPagesMatchTheSource() async throws {
    let text = try await Self.script(
      "compare_pages.py", [TestExtent.isFull ? "1000" : "2"] + Self.files("pdf", step: 12))
    print(text)
  }

  @Test func linksBetweenExtractedPagesStillWork() async throws {
    print(try await Self.script("check_links.py", []))
  }

  @Test func textMatchesPdftotext() async throws {
    print(try await Self.script("compare_text.py", Self.files("pdf", step: 12)))
  }

  @Test func reflowedTextMatchesPdftotext() async throws {
    print(try await Self.script("check_reflowed.py", Self.files("pdf", step: 40).filter { $0.hasSuffix(".pdf") }))
  }

  /// PDFs with hundreds of pages, in the folder `FFMOUNT_TEST_MANUALS`: some pages of each.
  @Test(.enabled("needs a folder of manuals") { manuals != nil })
  func pagesOfManualsMatchTheSource() async throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.manuals ?? "").sorted()
    let files = names.filter { $0.hasSuffix(".pdf") }.map { "\(Self.manuals ?? "")/\($0)" }
    print(try await Self.script("compare_pages.py", [TestExtent.isFull ? "100" : "5"] + files))
  }

  @Test func compressedDocumentsHaveTheSameText() async throws {
    print(try await Self.script("check_compressed.py", Self.files("pdf", step: 25).filter { $0.hasSuffix(".pdf") }))
  }

  @Test func imagesAreUprightAndComplete() async throws {
    let folder = sharedCorpus?.appendingPathComponent("image").path ?? ""
    print(try await Self.script("check_images.py", [folder]))
  }

  @Test func imagesOfAllKindsConvertWithEveryModifier() async throws {
    print(try await Self.script("check_formats.py", []))
  }

  @Test func everyImageFormatConvertsToEveryOther() async throws {
    print(try await Self.script("check_matrix.py", TestExtent.isFull ? ["all"] : []))
  }

  @Test func nameModifiersCropRotateLimitAndSelect() async throws {
    print(try await Self.script("check_changes.py", []))
  }

  @Test func malformedImagesFailOnlyTheirOwnJob() async throws {
    print(try await Self.script("hostile_images.py", [TestExtent.isFull ? "4000" : "120"]))
  }

  @Test func framesProfilesAndPixelTypesMatchOtherDecoders() async throws {
    #expect(try await Self.script("check_pictures.py", []) == "0 wrong\n")
  }

  @Test func unreadableImagesLeaveNoOpenDescriptors() async throws {
    #expect(try await Self.script("damaged_images.py", []) == "600 refused\n")
  }

  @Test func maliciousFilesFailOnlyTheirOwnJob() async throws {
    print(
      try await Self.script(
        "hostile_documents.py", Self.files("pdf", step: 50) + Self.files("image/sharp", step: 20)))
  }
}
