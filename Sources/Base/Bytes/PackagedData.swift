internal import Glibc

/// The data files that a download of ffmount contains for systems that lack them, such as fonts.
public enum PackagedData {
  /// The directory that has them at the paths that they have in the system. Returns `nil` if this program was not
  /// installed with any.
  ///
  /// It is `share/ffmount/system` beside the `bin` or `libexec/ffmount` with this program.
  public static let folder: String? = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    guard unsafe readlink("/proc/self/exe", &path, Int(PATH_MAX)) > 0 else { return nil }
    let program = path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let parts = String(decoding: program, as: UTF8.self).split(separator: "/").dropLast()
    let outer = parts.suffix(2) == ["libexec", "ffmount"] ? parts.dropLast(2) : parts.dropLast()
    let folder = outer.map { "/\($0)" }.joined() + "/share/ffmount/system"
    return unsafe access(folder, R_OK | X_OK) == 0 ? folder : nil
  }()

  /// Returns where a file or directory of the system is in the download. Returns `nil` if the download does not contain
  /// it.
  public static func path(of systemPath: String) -> String? {
    folder.map { $0 + systemPath }.flatMap { unsafe access($0, R_OK) == 0 ? $0 : nil }
  }
}
