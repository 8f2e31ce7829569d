internal import Catalogue
internal import FindViews
internal import Glibc
package import Index
package import Jobs
package import RenditionViews
internal import Threads

/// A locator of the worker programs, which also configures conversions.
package enum Converter {
  /// Returns the path of a worker program. Returns `nil` if it does not exist or cannot work here.
  private static func path(of program: String, orIn folders: [String]) -> String? {
    if program == layout && OfficeSuite.folder == nil || program == disk && SevenZip.library == nil { return nil }
    return OwnPrograms.path(of: program, orIn: folders)
  }

  /// Worker programs that are optional.
  package static let optional: Set = [recognition, "ffmedia", "ffoffice", layout, disk]
  /// The worker program that requires LibreOffice.
  package static let layout = "fflayout"

  /// The worker program that requires 7-Zip's library.
  package static let disk = ArchiveReader.disk.program

  package static let names = Set(Catalogue.standard.conversions.flatMap(\.programs)).sorted()

  /// The paths of the available worker programs, by name. They are beside this program or where `scripts/install` puts
  /// them.
  package static var installed: [String: String] { installed(orIn: []) }

  /// Returns the paths of the available worker programs, by name. Also searches other directories.
  package static func installed(orIn folders: [String]) -> [String: String] {
    names.reduce(into: [:]) { $0[$1] = path(of: $1, orIn: folders) }
  }

  /// The worker program that is installed without the libraries of ffconvert.
  package static let reduced = Conversion.reducedProgram

  /// The missing worker programs without which some conversions are unavailable. `reduced` is not one of them, since
  /// ffconvert has all its conversions.
  package static var missing: [String] {
    let installed = installed
    return names.filter { name in
      name != reduced && installed[name] == nil
        && Catalogue.standard.conversions.contains { conversion in
          conversion.programs.contains(name)
            && conversion.remainder { installed[$0] != nil } != nil
        }
    }
  }

  /// The worker program that recognizes text.
  package static let recognition = "ffscan"

  /// Returns the installed programs that read files, among those that are wanted. A program of the settings is taken to
  /// read all.
  static func readingPrograms(_ settings: TreeSettings, _ isWanted: (String) -> Bool) -> ReadingPrograms {
    if settings.converter != nil { return .all }
    let installed = installed(orIn: settings.programFolders)
    let lacking = Catalogue.standard.conversions.contains { conversion in
      conversion.programs.contains(where: isWanted) && conversion.remainder { installed[$0] != nil } != nil
    }
    return ReadingPrograms(
      named: installed.keys.filter(isWanted), areIncomplete: lacking,
      lackRecognition: isWanted(recognition) && installed[recognition] == nil)
  }

  /// Returns the conversions. Returns `nil` if no worker program is available. Views that require one are left out in
  /// this case.
  ///
  /// - Parameters:
  ///   - cacheFolder: The directory of the cache. `nil` if results are not cached on disk.
  ///   - spools: A directory for large temporary files.
  ///   - isWanted: Returns whether a worker program may be used.
  ///   - log: Called with user-visible lines.
  package static func conversions(
    _ settings: TreeSettings, index: Index?, cacheFolder: String?, spools: String,
    programs isWanted: (String) -> Bool = { _ in true }, log: @escaping @Sendable (String) -> Void
  ) -> Conversions? {
    var options = ConversionPool.Options(program: settings.converter ?? "")
    if settings.converter == nil {
      options.programs = installed(orIn: settings.programFolders).filter { isWanted($0.key) }
      options.catalogue = .standard.limited { options.programs[$0] != nil }
      if options.catalogue.conversions.isEmpty { return nil }
    }
    options.catalogue = options.catalogue.recognizing(settings.languages ?? LocalLanguages.usual)
    if let workers = settings.workers { options.workers = workers }
    if let time = settings.conversionTime { options.timeLimit = .seconds(time) }
    if let memory = settings.conversionMemory { options.memoryLimit = memory }
    options.isSandboxWeak = settings.isSandboxWeak
    options.log = log
    return Conversions(
      options, cache: cache(settings, in: cacheFolder), index: index, spools: spools, passwords: settings.passwords,
      memory: MemoryBudget(capacity: Int(settings.memory), trimsHeap: true))
  }

  package static let usualCacheSize: Int64 = 2 << 30

  private static func cache(_ settings: TreeSettings, in folder: String?) -> DiskCache? {
    guard let shared = settings.sharedCache else { return cache(in: folder, settings.cacheSize) }
    return DiskCache(folder: shared, maximumSize: settings.cacheSize)
  }

  package static func cache(in folder: String?, _ size: Int64 = usualCacheSize) -> DiskCache? {
    folder.map { DiskCache(folder: $0 + "/renditions", maximumSize: size) }
  }

  /// Returns the cache of blocks of files on other machines.
  package static func blocks(in folder: String?, _ size: Int64 = usualCacheSize) -> DiskCache? {
    folder.map { DiskCache(folder: $0 + "/blocks", maximumSize: size) }
  }
}
