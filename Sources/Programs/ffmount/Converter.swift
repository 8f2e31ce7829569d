import Conversion
import Files
import Glibc
import Index
import Logging
import RenditionViews
import Tree

/// Finds the worker programs and configures conversions.
enum Converter {
  /// The path of a worker program, beside this one or where `scripts/install` puts it; nil if there is none.
  private static func path(of program: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    guard count > 0 else { return nil }
    let own = String(decoding: buffer[..<count], as: UTF8.self)
    let folder = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
    return ["\(folder)/\(program)", "\(folder)/../libexec/ffmount/\(program)"].first { unsafe access($0, X_OK) == 0 }
  }

  /// nil, with a log line, if there is no converter: then the views that need one are left out.
  static func conversions(
    _ options: MountOptions, index: Index, cacheFolder: String?, spools: String, _ logger: Logger
  ) throws -> Conversions? {
    if let given = options.converter, unsafe access(given, X_OK) != 0 {
      throw Refusal(.usage, "-o converter=\(given): \(describe(errno)) (give the path of the program ffconvert)")
    }
    guard let program = options.converter ?? path(of: "ffconvert") else {
      logger.notice("no ffconvert beside ffmount: PDFs and images are shown as they are")
      return nil
    }
    var settings = ConversionPool.Options(program: program)
    if options.converter == nil { settings.pageProgram = path(of: "ffpages") }
    if let workers = options.workers { settings.workers = workers }
    settings.timeLimit = .seconds(options.conversionTime)
    settings.memoryLimit = options.conversionMemory
    settings.isSandboxWeak = options.isSandboxWeak
    settings.log = { logger.notice("\($0)") }
    return Conversions(
      settings, cache: cache(in: cacheFolder, options.cacheSize), index: index, spools: spools,
      passwords: options.passwords)
  }

  static let usualCacheSize: Int64 = 2 << 30

  static func cache(in folder: String?, _ size: Int64 = usualCacheSize) -> RenditionCache? {
    folder.map { RenditionCache(folder: $0 + "/renditions", maximumSize: size) }
  }
}
