import Assembly
import FileTrees
import Glibc
import SystemPackage

/// The conversions of small files by which `ffmount doctor` finds out whether the installed libraries work.
enum ConversionTrial {
  /// Formats that are converted by the same worker program and libraries.
  private struct Family {
    let name: String
    /// The worker program, and the names of the results.
    let program: String
    let results: [String]
    let description: String
  }

  private static let families = [
    Family(
      name: "images", program: "ffconvert",
      results: ["as-jpeg", "as-webp", "as-heic", "as-avif", "as-jxl", "as-tiff", "as-jp2"].map { "trial.ppm.\($0)" },
      description: "JPEG, WebP, HEIC, AVIF, JPEG XL, TIFF and JPEG 2000 can be written"),
    Family(
      name: "PDFs", program: "ffconvert", results: ["as-jpeg", "as-txt", "pages/001.pdf"].map { "trial.pdf.\($0)" },
      description: "pages can be drawn, read and separated"),
    Family(
      name: "images", program: Converter.reduced,
      results: ["as-jpeg", "as-png", "as-webp", "as-heic", "as-tiff"].map { "trial.ppm.\($0)" },
      description: "JPEG, PNG, WebP, HEIC and TIFF can be written"),
    Family(
      name: "PDFs", program: Converter.reduced, results: ["trial.pdf.pages/001.pdf"],
      description: "pages can be separated"),
    Family(
      name: "scans", program: "ffscan", results: ["trial.ppm.as-txt"], description: "text can be recognized"),
    Family(
      name: "sound", program: "ffmedia", results: ["as-mp3", "as-m4a", "as-opus", "as-flac"].map { "trial.wav.\($0)" },
      description: "MP3, AAC, Opus and FLAC can be written"),
    Family(
      name: "films", program: "ffmedia", results: ["as-mp4", "as-webm"].map { "trial.ppm.as-gif.\($0)" },
      description: "MP4 and WebM can be written"),
    Family(
      name: "office text", program: "ffoffice", results: ["trial.rtf.as-txt"], description: "documents can be read"),
    Family(
      name: "office pages", program: Converter.layout, results: ["trial.rtf.as-pdf"],
      description: "documents can be laid out"),
    Family(
      name: "archives", program: "ffarchive", results: ["trial.a.contents/trial.txt"],
      description: "entries can be read"),
  ]

  /// The maximum size of a result, in bytes.
  private static let largest = 16 << 20

  /// Returns a finding for each family whose worker program is installed. Blocks until all are converted, which takes
  /// some seconds.
  static func findings() -> [Finding] {
    var installed = Converter.installed
    // It is used only if ffconvert is missing.
    if installed["ffconvert"] != nil { installed[Converter.reduced] = nil }
    let families = families.filter { installed[$0.program] != nil }
    let folder = "\(ShownSource.spoolFolder)/ffmount-doctor.\(getpid())"
    // `Checkup` reports a directory in which no files can be created.
    guard !families.isEmpty, unsafe mkdir(folder, 0o700) == 0 else { return [] }
    defer {
      for name in files.keys { unsafe unlink("\(folder)/\(name)") }
      unsafe rmdir(folder)
    }
    do {
      for (name, bytes) in files { try write(bytes, to: "\(folder)/\(name)") }
      let tree = try CommandTree(folder, keepsResults: false)
      return try tree.finish { (tree, path) throws(FileTreeError) in
        var findings: [Finding] = []
        for family in families { findings.append(await finding(of: family, in: tree, path)) }
        return findings
      }
    } catch { return [Finding("conversions", .note, "not tried: \(error)")] }
  }

  private static func finding(of family: Family, in tree: FileTree, _ folder: FilePath) async -> Finding {
    var failures: [(name: String, reason: String)] = []
    for name in family.results {
      do throws(FileTreeError) {
        _ = try await tree.read(folder.appending(FilePath(name).components), limit: largest)
      } catch { failures.append((name, error.reason)) }
    }
    guard let first = failures.first else { return Finding(family.name, .good, family.description) }
    let others = failures.count > 1 ? "; \(failures.count - 1) more conversions failed" : ""
    let says = "\(first.name): \(first.reason)\(others)"
    var packages: [String] = []
    for package in failures.compactMap({ package(in: $0.reason) }) where !packages.contains(package) {
      packages.append(package)
    }
    guard packages.isEmpty else { return Finding(family.name, .note, says, lacking: packages) }
    return Finding(
      family.name, .bad, says, mend: "sudo apt install --reinstall \(Converter.package(of: family.program))")
  }

  /// Returns the Debian package that a reason names as missing.
  private static func package(in reason: String) -> String? {
    let start = "(apt install "
    return reason.firstRange(of: start).map { String(reason[$0.upperBound...].prefix { $0 != ")" }) }
  }

  // MARK: Files

  private static let files: [String: [UInt8]] = [
    "trial.ppm": picture, "trial.wav": sound, "trial.pdf": Array(pdf.utf8),
    "trial.rtf": Array("{\\rtf1\\ansi Trial of a document.\\par}".utf8), "trial.a": Array(archive.utf8),
  ]

  /// A colour gradient of 64 by 64 pixels.
  private static let picture: [UInt8] = {
    var file = Array("P6 64 64 255\n".utf8)
    for y: UInt8 in 0..<64 { for x: UInt8 in 0..<64 { file += [4 * x, 4 * y, 128] } }
    return file
  }()

  /// Half a second of a tone of 441 Hz, with 16 bits for each of 44,100 samples per second.
  private static let sound: [UInt8] = {
    let samples = 22_050
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    var file = Array("RIFF".utf8) + number(36 + 2 * samples, 4) + Array("WAVEfmt ".utf8) + number(16, 4)
    file += number(1, 2) + number(1, 2) + number(44_100, 4) + number(88_200, 4) + number(2, 2) + number(16, 2)
    file += Array("data".utf8) + number(2 * samples, 4)
    for sample in 0..<samples { file += number(sample % 100 < 50 ? 4_000 : -4_000, 2) }
    return file
  }()

  /// A page with text in a font of the system.
  private static let pdf = """
    %PDF-1.4
    1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
    2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
    3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R
    /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >> endobj
    4 0 obj << /Length 40 >> stream
    BT /F1 24 Tf 20 40 Td (Trial page) Tj ET
    endstream endobj
    trailer << /Root 1 0 R >>

    """

  /// An archive of ar(1) with one file.
  private static let archive = """
    !<arch>
    trial.txt/      0           0     0     100644  6         `
    trial

    """

  private static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError(code: errno) }
    defer { close(file) }
    try Output.write(bytes, to: file)
  }
}
