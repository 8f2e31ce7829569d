import Assembly
import Glibc

/// The directory in a running mount that shows the content of a file in that mount.
struct OpenedView {
  let folder: String

  /// Finds the directory: the file's first folder view, or the file itself if it is a directory. Returns `nil` if
  /// `source`, an absolute path without links, is not in a mount of ffmount, or has no folder view.
  init?(of source: String) {
    guard let mount = MountTable().mount(of: source), mount.isOurs else { return nil }
    if Self.isFolder(source) {
      folder = source
      return
    }
    guard let view = MountOptions.folderViews.first(where: { Self.isFolder("\(source).\($0)") }) else { return nil }
    folder = "\(source).\(view)"
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
