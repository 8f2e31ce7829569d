internal import Bytes
internal import Catalogue
package import FileTrees
internal import Glibc
package import Index
package import Logging
package import RenditionViews

/// User-visible messages about worker programs, and the conversions for the options of `-o`.
extension Converter {
  /// Returns a sentence about the programs that are missing for the usual conversions, with a remedy. Returns `nil` if
  /// none is missing.
  package static func lack(_ options: MountOptions) -> String? {
    // With the reduced program, or in a download, the other programs are left out on purpose.
    let isComplete = options.converter != nil || installed[reduced] != nil || PackagedData.folder != nil
    let missing = isComplete ? [] : missing.filter { !optional.contains($0) }
    if missing.isEmpty { return nil }
    return "\(missing.joinedWithAnd) not found beside ffmount or in ../libexec/ffmount: "
      + "some conversions are not shown (\(remedy(PackageCommand.isPackaged ? [reduced] : missing)))"
  }

  /// The packages with programs of their own besides `ffmount`, the programs, and the purpose.
  package static let packages: [(name: String, programs: [String], purpose: String)] = [
    ("ffmount-images", [reduced], "common images, raw photos, and pages of PDFs"),
    (
      "ffmount-converters", ["ffarchive", "ffconvert", "ffpages", disk],
      "PDFs, images, and archives such as 7z, RAR, ISO and disk images"
    ),
    ("ffmount-media", ["ffmedia"], "sound and films"),
    ("ffmount-office", ["ffoffice", layout], "office documents and Outlook's mail"),
    ("ffmount-scans", ["ffscan"], "recognised text, and pages of photos"),
    ("ffmount-server", ["ffserve"], "ffmount serve"),
    ("ffmount-client", ["ffremote"], "mounts of servers"),
  ]

  /// Returns the Debian package with a program.
  package static func package(of program: String) -> String {
    packages.first { $0.programs.contains(program) }?.name ?? "ffmount"
  }

  /// Returns the Debian packages that a program needs and that are not installed.
  package static func packages(lackingFor program: String) -> [String] {
    let suite = ["libreoffice-writer-nogui", "libreoffice-calc-nogui", "libreoffice-impress-nogui"]
    return (OwnPrograms.path(of: program) == nil ? [package(of: program)] : [])
      + (program == layout && OfficeSuite.folder == nil ? suite : [])
      + (program == disk && SevenZip.library == nil ? [SevenZip.package] : [])
  }

  /// Returns what an installed program lacks, and the consequence.
  package static func lack(of program: String) -> String {
    program == disk
      ? "7-Zip's library is not installed: disk images and encrypted 7z archives are not shown"
      : "LibreOffice is not installed: office documents are not shown as PDF"
  }

  /// Returns instructions to install worker programs.
  package static func remedy(_ programs: [String] = ["ffconvert"]) -> String {
    var packages: [String] = []
    for package in programs.flatMap(packages(lackingFor:)) where !packages.contains(package) {
      packages.append(package)
    }
    if packages.isEmpty { return "run 'ffmount doctor'" }
    let isOwn = packages.contains { $0.hasPrefix("ffmount") }
    if isOwn, PackagedData.folder != nil { return "this download does not have it: use another, or packages" }
    return "install the package\(packages.count > 1 ? "s" : "") \(packages.joinedWithAnd)"
      + (isOwn && !PackageCommand.isPackaged ? ", or run scripts/install" : "")
  }

  /// Returns the conversions. Returns `nil` if no worker program is available. Views that require one are left out in
  /// this case.
  ///
  /// - Parameter tellsLack: Whether missing programs are logged.
  /// - Throws: A refusal of invalid options.
  package static func conversions(
    _ options: MountOptions, index: Index, cacheFolder: String?, spools: String, _ logger: Logger,
    tellsLack: Bool = true, programs isWanted: (String) -> Bool = { _ in true }
  ) throws -> Conversions? {
    if let given = options.converter {
      let isFolder = unsafe access(given + "/", F_OK) == 0
      guard !isFolder, unsafe access(given, X_OK) == 0 else {
        let reason = describe(isFolder ? EISDIR : errno)
        throw Refusal(.usage, "-o converter=\(given): \(reason) (give the path of the program ffconvert)")
      }
    }
    if let shared = options.sharedCache, let reason = CacheFolder.objection(toShared: shared) {
      throw Refusal(.usage, "-o shared_cache=\(shared): \(reason)")
    }
    if tellsLack, let lack = lack(options) { logger.notice("\(lack)") }
    return conversions(
      options.tree, index: index, cacheFolder: cacheFolder, spools: spools, programs: isWanted
    ) { logger.notice("\($0)") }
  }
}
