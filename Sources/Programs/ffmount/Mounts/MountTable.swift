import Assembly
import Bytes
import FileTrees
import Glibc

/// The mounts listed in /proc/self/mountinfo.
struct MountTable {
  struct Entry {
    let mountpoint: String
    let type: String
    /// The source, as in the first column of mount(8).
    let source: String
    /// The user that created the mount, for a FUSE mount.
    let owner: uid_t?

    var isOurs: Bool { type == "fuse.ffmount" }

    /// Whether it is the source of a mount that shows it, from another machine.
    var isElsewhere: Bool { type == "fuse.ffremote" }

    /// Whether requests wait for a program or another machine, which may not answer.
    var canBlock: Bool { type.hasPrefix("fuse") || Self.networkTypes.contains(type) }

    private static let networkTypes: Set<String> = ["9p", "afs", "ceph", "cifs", "nfs", "nfs4", "smb3"]

    /// Whether only another user, and root, can change the mount.
    var isOfAnotherUser: Bool { owner.map { ![0, $0].contains(geteuid()) } ?? false }

    /// Returns the reason why this user cannot do something to the mount, with advice: it is of another user. Returns
    /// `nil` if this user can.
    func objection(toDo what: String) -> String? {
      isOfAnotherUser ? "mounted by another user (only that user and root can \(what) it)" : nil
    }

    /// The command that unmounts it.
    var unmountCommand: String { unmountCommand("-u", "") }

    /// The command that unmounts it even if it is in use or does not answer.
    var lazyUnmountCommand: String { unmountCommand("-u -z", "-l ") }

    private func unmountCommand(_ ours: String, _ system: String) -> String {
      let path = ShellWord.quoted(mountpoint)
      guard type.hasPrefix("fuse") else { return "sudo umount \(system)\(path)" }
      return "\(isOfAnotherUser ? "sudo " : "")\(isOurs || isElsewhere ? "ffmount" : "fusermount3") \(ours) \(path)"
    }
  }

  let entries: [Entry]

  init() {
    var text: [UInt8] = []
    let file = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      entries = []
      return
    }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe read(file, &buffer, buffer.count)
      guard count > 0 else { break }
      text += buffer[..<count]
    }
    entries = text.split(separator: UInt8(ascii: "\n")).compactMap(MountTable.entry)
  }

  private static func entry(_ line: ArraySlice<UInt8>) -> Entry? {
    let fields = line.split(separator: UInt8(ascii: " "))
    guard fields.count > 6, let dash = fields.firstIndex(where: { $0.elementsEqual([UInt8(ascii: "-")]) }),
      dash + 1 < fields.count
    else { return nil }
    let options = dash + 3 < fields.count ? String(decoding: fields[dash + 3], as: UTF8.self) : ""
    let owner = options.split(separator: ",").first { $0.hasPrefix("user_id=") }
    return Entry(
      mountpoint: OctalEscapes.decoded(fields[4]), type: String(decoding: fields[dash + 1], as: UTF8.self),
      source: dash + 2 < fields.count ? OctalEscapes.decoded(fields[dash + 2]) : "",
      owner: owner.flatMap { uid_t($0.dropFirst("user_id=".count)) })
  }

  /// Returns the topmost mount on a directory.
  func topmost(on path: String) -> Entry? { entries.last { $0.mountpoint == path } }

  /// The mounts of ffmount that are not covered by another one.
  var ours: [Entry] {
    entries.indices.filter { number in
      entries[number].isOurs && !entries[(number + 1)...].contains { $0.mountpoint == entries[number].mountpoint }
    }.map { entries[$0] }
  }

  /// The sources of this user on other machines.
  var readers: [Entry] { entries.filter { $0.isElsewhere && !$0.isOfAnotherUser } }

  /// Returns the mount that contains an absolute path without links.
  func mount(of path: String) -> Entry? {
    let inside = entries.filter { entry in
      let folder = entry.mountpoint
      return path == folder || path.hasPrefix(folder == "/" ? "/" : folder + "/")
    }
    let deepest = inside.map(\.mountpoint.utf8.count).max()
    return inside.last { $0.mountpoint.utf8.count == deepest }
  }

  /// Returns the address of a file on another machine, by its absolute path without links. Returns `nil` for a file of
  /// this machine.
  func address(of path: String) -> String? { mount(of: path).flatMap { $0.isElsewhere ? $0.source : nil } }

  /// Returns the absolute path of a possible mountpoint, without a request to its mount, which may be dead.
  ///
  /// Links in the parent directory's path are resolved. Returns `nil` if that directory does not exist.
  static func absolute(_ path: String) -> String? {
    var path = path
    while path.count > 1, path.last == "/" { path.removeLast() }
    let slash = path.lastIndex(of: "/")
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    if ["", ".", ".."].contains(name) { return resolved(path) }
    guard let folder = resolved(parent) else { return nil }
    return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }

  /// Returns the absolute path without links. Returns `nil` if the path does not exist.
  static func resolved(_ path: String) -> String? {
    guard let found = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }
}

extension MountTable {
  /// Returns the first mount on a path that can block, with links followed, for which `stops` is true. Returns `nil` if
  /// there is none. Makes no requests to that mount, which would block if it does not respond.
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
      if let mount = topmost(on: place), mount.canBlock, stops(mount, words.allSatisfy { $0 == "." }) { return mount }
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
