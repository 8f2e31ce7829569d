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
    let missing = options.converter == nil ? missing.filter { !optional.contains($0) } : []
    guard let last = missing.last else { return nil }
    let names = missing.count > 1 ? "\(missing.dropLast().joined(separator: ", ")) and \(last)" : last
    return "\(names) not found beside ffmount or in ../libexec/ffmount: "
      + "some conversions are not shown (\(remedy(missing)))"
  }

  /// Returns the Debian package with a worker program.
  package static func package(of program: String) -> String {
    switch program {
    case "ffscan": "ffmount-scans"
    case "ffmedia": "ffmount-media"
    case layout where OfficeSuite.folder == nil:
      "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"
    case "ffoffice", layout: "ffmount-office"
    default: "ffmount-converters"
    }
  }

  /// Returns instructions to install worker programs.
  package static func remedy(_ programs: [String] = ["ffconvert"]) -> String {
    let packages = Set(programs.map(package)).sorted().joined(separator: " and ")
    return "install the package \(packages), or run scripts/install"
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
    if let given = options.converter, unsafe access(given, X_OK) != 0 {
      throw Refusal(.usage, "-o converter=\(given): \(describe(errno)) (give the path of the program ffconvert)")
    }
    if let shared = options.sharedCache, let reason = CacheFolder.objection(to: shared) {
      throw Refusal(.usage, "-o shared_cache=\(shared): \(reason)")
    }
    if tellsLack, let lack = lack(options) { logger.notice("\(lack)") }
    return conversions(
      options.tree, index: index, cacheFolder: cacheFolder, spools: spools, programs: isWanted
    ) { logger.notice("\($0)") }
  }
}
