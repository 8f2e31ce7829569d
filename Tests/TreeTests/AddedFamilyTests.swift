import AllViews
import Bytes
import Catalogue
import Files
import Glibc
import Jobs
import RenditionViews
import Rotation
import TestSupport
import Testing
import Threads
import Tree

/// A family that only this package's tests have: one declaration in a catalogue, one handler in a worker program.
@Suite(.timeLimit(.minutes(5))) struct AddedFamilyTests {
  /// What files of a tree with the family contain, or the error of opening them, by `path`; and the names of its top folder.
  private func read(_ paths: [FileName]) async throws -> (texts: [String], names: Set<String>) {
    let outcome = await offThread {
      Result {
        let source = try SourceFolder()
        try source.write("a.txt", Array("Hello, World".utf8))
        try source.write("b.png", [0x89] + Array("PNG\r\n\u{1a}\n".utf8))
        var options = ConversionPool.Options(program: "/nonexistent")
        options.catalogue = Catalogue.standard.adding(formats: Rotation.formats, conversions: Rotation.conversions)
        options.programs["ffrotate"] = MountProcess.program("ffrotate")
        options.isSandboxWeak = true
        let conversions = Conversions(options, cache: nil, index: nil, spools: "/tmp")
        let tree = try TreeInProcess(source, conversions: conversions)
        defer { tree.tree.stop() }
        let texts = paths.map { path in
          do { return String(decoding: try tree.read(path, at: 0, count: 100), as: UTF8.self) } catch {
            return (error as? FileTreeError)?.errno == ENOENT ? "nothing" : "\(error)"
          }
        }
        return (texts, Set(try tree.list("").map(\.text)))
      }
    }
    return try outcome.get()
  }

  @Test func addedConversionIsListedAndMade() async throws {
    let (texts, names) = try await read([
      "a.txt.as-rot", "a.txt.by1.as-rot", "a.txt.by26.as-rot", "a.txt.by1.by2.as-rot", "b.png.as-rot",
    ])
    #expect(texts == ["rot:Uryyb, Jbeyq", "rot:Ifmmp, Xpsme", "nothing", "nothing", "nothing"])
    #expect(names == ["a.txt", "a.txt.as-rot", "b.png"])
  }

  /// There is no conversion from text to marked text, but one by way of rotated text.
  @Test func conversionChainIsFound() async throws {
    let (texts, _) = try await read(["a.txt.as-mark", "a.txt.by1.as-rot.as-mark", "b.png.as-mark"])
    #expect(texts == ["mark:rot:Uryyb, Jbeyq", "mark:rot:Ifmmp, Xpsme", "nothing"])
  }

  /// What the catalogue says of a worker program is what that can do, and no more.
  @Test(
    arguments: Set(Catalogue.standard.conversions.flatMap(\.programs)).subtracting([Conversion.reducedProgram])
      .sorted())
  func workerVerbsMatchTheCatalogue(_ program: String) async throws {
    let folder = MountProcess.binary.prefix(upTo: MountProcess.binary.lastIndex(of: "/")!)
    let said = try await run(folder + "/" + program, "--verbs")
    let declared = Catalogue.standard.conversions.filter { $0.programs.contains(program) }.map(\.verb)
    #expect(said.lines.map { String($0) } == declared.sorted(), "\(said.errors)")
  }

  @Test func onlySuitableConversionsAreChained() throws {
    let catalogue = Catalogue.standard.adding(formats: Rotation.formats, conversions: Rotation.conversions)
    #expect(catalogue.chain(from: .plainText, to: Rotation.marked)?.map(\.verb) == ["rot", "mark"])
    #expect(catalogue.chain(from: .rotated, to: Rotation.marked)?.map(\.verb) == ["mark"])
    #expect(catalogue.chain(from: .jpeg, to: Rotation.marked) == nil)
    // An image could become text by way of a PDF, which nobody wants.
    #expect(catalogue.chain(from: .jpeg, to: Conversion.text) == nil)
    let pdf = try #require(catalogue.conversion("pdf"))
    #expect(catalogue.chain(from: .pdf, to: pdf) == nil)
  }

  /// Without a family's program its conversions are neither listed nor known.
  @Test func conversionsWithoutProgramAreUnavailable() {
    let catalogue = Catalogue.standard.adding(formats: Rotation.formats, conversions: Rotation.conversions)
      .limited { $0 == "ffpages" }
    #expect(catalogue.conversions.map(\.verb) == ["pages", "document-tags"])
  }

  /// ffimage implements a part of ffconvert's conversions, and is needed only without it.
  @Test func reducedProgramConvertsCommonFormats() throws {
    let reduced = Conversion.reducedProgram
    let few = Catalogue.standard.limited { $0 == reduced }
    let jpeg = try #require(few.conversion("jpeg"))
    #expect(jpeg.sources.isSuperset(of: [.heic, .png, .webp, .rawPhoto]))
    #expect(jpeg.sources.isDisjoint(with: [.pdf, .psd]))
    #expect(jpeg.listed.contains(.heic) && !jpeg.listed.contains(.psd) && jpeg.listable.isSubset(of: jpeg.sources))
    #expect(few.conversion("pages")?.sources == [.pdf])
    for verb in ["text", "reflowed", "jxl", "entries"] { #expect(few.conversion(verb) == nil, "\(verb)") }
    let whole = try #require(Catalogue.standard.conversion("jpeg"))
    let both = Catalogue.standard.limited { $0 == reduced || $0 == "ffconvert" }
    #expect(both.conversion("jpeg")?.sources == whole.sources)
    #expect(whole.remainder { $0 == reduced }?.sources == whole.sources.subtracting(jpeg.sources))
    #expect(whole.remainder { $0 == "ffconvert" } == nil && whole.remainder { _ in false }?.sources == whole.sources)
    #expect(few.conversion("pages")?.remainder { $0 == reduced } == nil)
  }
}
