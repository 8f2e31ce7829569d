import Assembly
import FileTrees
import Glibc

extension MountTable {
  /// The first mount of ffmount on the way that a path leads, links followed, for which `stops` is true; nil if there is
  /// none. Such a mount is asked nothing: who looks into one that does not answer waits.
  /// - Parameter isEnd: whether the path leads to the mountpoint itself.
  func mount(onTheWayTo path: String, stoppingAt stops: (_ mount: Entry, _ isEnd: Bool) -> Bool) -> Entry? {
    let start = path.hasPrefix("/") ? "" : Self.workingFolder + "/"
    var words = Array((start + path).split(separator: "/").reversed())
    // Absolute and without links.
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

  /// As many as the kernel follows.
  private static let linksAtMost = 40

  private static var workingFolder: String {
    guard let found = unsafe getcwd(nil, 0) else { return "" }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }
}
