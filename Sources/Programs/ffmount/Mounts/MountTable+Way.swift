import Assembly
import FileTrees
import Glibc

extension MountTable {
  /// Returns the first ffmount mount on a path, with links followed, for which `stops` is true. Returns `nil` if there
  /// is none. Makes no requests to that mount, which would block if it does not respond.
  ///
  /// - Parameter isEnd: whether the path ends at the mountpoint itself.
  func mount(onTheWayTo path: String, stoppingAt stops: (_ mount: Entry, _ isEnd: Bool) -> Bool) -> Entry? {
    let start = path.hasPrefix("/") ? "" : Self.workingFolder + "/"
    var words = Array((start + path).split(separator: "/").reversed())
    // An absolute path without links.
    var place = ""
    var links = 0
    while let word = words.popLast() {
      if word == "." { continue }
      let parent = place
      if word == ".." {
        place = String(place.prefix(upTo: place.lastIndex(of: "/") ?? place.startIndex))
        continue
      }
      place += "/" + word
      if let mount = topmost(on: place), mount.isOurs, stops(mount, words.allSatisfy { $0 == "." }) { return mount }
      guard let target = OwnPrograms.target(ofLink: place) else { continue }
      links += 1
      guard links <= Self.linksAtMost else { return nil }
      place = target.hasPrefix("/") ? "" : parent
      words += target.split(separator: "/").reversed()
    }
    return nil
  }

  /// The maximum number of links followed, equal to the kernel's.
  private static let linksAtMost = 40

  private static var workingFolder: String {
    guard let found = unsafe getcwd(nil, 0) else { return "" }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }
}
