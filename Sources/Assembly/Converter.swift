internal import Catalogue
internal import Files
internal import Glibc
package import Index
package import Jobs
package import Logging
package import RenditionViews
internal import Tree

/// Finds the worker programs and configures conversions.
package enum Converter {
  /// The path of a worker program, beside this one or where `scripts/install` puts it; nil if there is none.
  private static func path(of program: String) -> String? {
    if program == layout, OfficeSuite.folder == nil { return nil }
    return OwnPrograms.path(of: program)
  }

  /// Worker programs that not everybody wants.
  package static let optional: Set = ["ffscan", "ffmedia", "ffoffice", layout]
  /// Does nothing without LibreOffice.
  private static let layout = "fflayout"

  package static let names = Set(Catalogue.standard.conversions.flatMap(\.programs)).sorted()

  /// The paths of the worker programs that there are, by their names.
  package static var installed: [String: String] {
    names.reduce(into: [:]) { $0[$1] = path(of: $1) }
  }

  /// The worker programs without which some conversions cannot be made.
  package static var missing: [String] {
    let installed = installed
    return names.filter { name in
      installed[name] == nil
        && Catalogue.standard.conversions.contains { conversion in
          conversion.programs.contains(name) && !conversion.programs.contains { installed[$0] != nil }
        }
    }
  }

  /// What is missing for the usual conversions to be made, and what to do about it, in one sentence; nil if nothing is.
  package static func lack(_ options: MountOptions) -> String? {
    let missing = options.converter == nil ? missing.filter { !optional.contains($0) } : []
    guard let last = missing.last else { return nil }
    let names = missing.count > 1 ? "\(missing.dropLast().joined(separator: ", no ")) and no \(last)" : last
    return "there is no \(names) beside ffmount or in ../libexec/ffmount: "
      + "what would be made by it is not shown (\(remedy(missing)))"
  }

  /// The Debian package with a worker program.
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

  /// How to get worker programs.
  package static func remedy(_ programs: [String] = ["ffconvert"]) -> String {
    let packages = Set(programs.map(package)).sorted().joined(separator: " and ")
    return "install the package \(packages), or run scripts/install"
  }

  /// nil if there is no worker program at all: then the views that need one are left out.
  package static func conversions(
    _ options: MountOptions, index: Index, cacheFolder: String?, spools: String, _ logger: Logger,
    programs isWanted: (String) -> Bool = { _ in true }
  ) throws -> Conversions? {
    if let given = options.converter, unsafe access(given, X_OK) != 0 {
      throw Refusal(.usage, "-o converter=\(given): \(describe(errno)) (give the path of the program ffconvert)")
    }
    if let shared = options.sharedCache, let reason = CacheFolder.objection(to: shared) {
      throw Refusal(.usage, "-o shared_cache=\(shared): \(reason)")
    }
    var settings = ConversionPool.Options(program: options.converter ?? "")
    if options.converter == nil {
      settings.programs = installed.filter { isWanted($0.key) }
      if let lack = lack(options) { logger.notice("\(lack)") }
      settings.catalogue = .standard.limited { settings.programs[$0] != nil }
      if settings.catalogue.conversions.isEmpty { return nil }
    }
    settings.catalogue = settings.catalogue.recognizing(options.languages ?? LocalLanguages.usual)
    if let workers = options.workers { settings.workers = workers }
    if let time = options.conversionTime { settings.timeLimit = .seconds(time) }
    if let memory = options.conversionMemory { settings.memoryLimit = memory }
    settings.isSandboxWeak = options.isSandboxWeak
    settings.log = { logger.notice("\($0)") }
    return Conversions(
      settings, cache: cache(options, in: cacheFolder), index: index, spools: spools,
      passwords: options.passwords)
  }

  package static let usualCacheSize: Int64 = 2 << 30

  private static func cache(_ options: MountOptions, in folder: String?) -> RenditionCache? {
    guard let shared = options.sharedCache else { return cache(in: folder, options.cacheSize) }
    return RenditionCache(folder: shared, maximumSize: options.cacheSize)
  }

  package static func cache(in folder: String?, _ size: Int64 = usualCacheSize) -> RenditionCache? {
    folder.map { RenditionCache(folder: $0 + "/renditions", maximumSize: size) }
  }
}
