internal import AllViews
internal import ArgumentParser
internal import Bytes
package import FileTrees
internal import Glibc
internal import Tree
internal import Zip

/// The options of `-o`, with the names that FUSE users know. The settings of the tree are also available as members.
@dynamicMemberLookup
package struct MountOptions {
  package var tree = TreeSettings()
  package var allowsOthers = false
  package var allowsRoot = false
  /// Whether mount(8) has passed `ro`. It passes that first, regardless of the original order.
  var staysReadOnly = false
  package var unmountsAutomatically = false
  /// Whether another process continues to serve when this one dies. `nil` if unspecified.
  package var isKept: Bool?
  /// Whether a mount that no process can serve is unmounted. Otherwise it answers with EIO.
  package var unmountsIfGivenUp = false
  package var permitsNonempty = false
  package var name: String?
  package var threads = 10
  /// Whether each stat returns the exact size, generating content if necessary.
  package var sizesAreExact = false
  /// Additional programs that play films, by the names of their files.
  package var players: [String] = []
  /// Additional programs that copy trees, by their names. `nil` if listings are the same for all programs: with
  /// `copiers=none`, and with `views=`, which is often chosen for a copy.
  package var copyPrograms: [String]? { given.contains("copiers") || !given.contains("views") ? copiers : nil }
  var copiers: [String]? = []
  /// The passwords of `password_file=`, which is read again. May block.
  package var passwords: [String] { tree.zip.passwords.now.passwords.map { String(decoding: $0, as: UTF8.self) } }
  /// The source of the passwords.
  package var passwordFile: PasswordFile?
  /// The time without use after which the mount is unmounted, in seconds. `nil` for never.
  package var idleTime: Int?
  /// The options for a mounted server.
  package var server = ServerAccess()
  /// The names of the specified options.
  package private(set) var given: Set<String> = []
  /// Options passed unchanged to the kernel and libfuse.
  package var kernel: [String] = []

  /// Options of mount(8) and fstab(5) that have no effect here, or are always in effect.
  package static let ignored: Set<String> = [
    "defaults", "auto", "noauto", "user", "nouser", "users", "owner", "group", "_netdev", "nofail",
    "async", "sync", "dirsync", "atime", "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime",
    "lazytime", "nolazytime", "mand", "nomand", "silent", "loud", "default_permissions",
  ]
  /// Options passed on to the kernel.
  package static let kernelFlags: Set<String> = ["suid", "nosuid", "dev", "nodev", "exec", "noexec"]

  init() {}

  package init(_ words: [String]) throws {
    for list in words {
      for option in MountOptions.split(list) where !option.isEmpty { try take(option) }
    }
  }

  /// Splits a list at commas; `\,` is a comma in a value.
  package static func split(_ list: String) -> [String] {
    var options = [""]
    var isEscaped = false
    for character in list {
      if isEscaped {
        options[options.count - 1].append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "," {
        options.append("")
      } else {
        options[options.count - 1].append(character)
      }
    }
    return options
  }

  private mutating func take(_ option: String) throws {
    let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let name = parts[0]
    if name.hasPrefix("x-") || name.hasPrefix("X-") || Self.ignored.contains(option) { return }
    if Self.kernelFlags.contains(option) { return kernel.append(option) }
    if let known = Self.table[name], (known.value != nil) == (parts.count == 2), parts.last != "" {
      given.insert(name)
      return try known.set(&self, name, parts.count == 2 ? parts[1] : "")
    }
    if Self.ignored.contains(name) || Self.kernelFlags.contains(name)
      || Self.table[name].map({ $0.value == nil }) ?? false
    {
      throw ValidationError("-o \(option): \(name) takes no value (write -o \(name))")
    }
    if let known = Self.table[name] { throw known.missingValue(name) }
    let names = Set(Self.table.keys).union(Self.ignored).union(Self.kernelFlags)
    let meant = Spelling.nearest(to: name, among: names) ?? names.filter { $0.hasPrefix(name + "_") }.min()
    let near = meant.map { "did you mean -o \($0)? " } ?? ""
    throw ValidationError("unknown option -o \(name) (\(near)see MOUNT OPTIONS in: man ffmount)")
  }

  /// Parses a value of `views=`: `all`, `usual`, `folders`, `none`, `+docx`, `-zip`, `-messages`. Several are joined by
  /// `:` or given in another `views=`. The last preset is effective.
  package mutating func take(views value: String) throws {
    let presets = ViewListing.Preset.allCases.map(\.rawValue).joined(separator: ", ")
    for word in value.split(separator: ":", omittingEmptySubsequences: false) {
      if let preset = ViewListing.Preset(rawValue: String(word)) {
        tree.listing.preset = preset
        continue
      }
      guard let sign = word.first, sign == "+" || sign == "-", word.count > 1 else {
        throw ValidationError(
          "-o views=\(value): expected \(presets), or extensions and views to add and leave out such as +docx:-views")
      }
      let name = String(word.dropFirst())
      if sign == "-", Views.listedNames.contains(name) {
        tree.listing.hidden.insert(name)
        continue
      }
      let kind = FileExtension(word.dropFirst().utf8)
      guard Views.possibleExtensions.contains(kind) else {
        throw ValidationError("-o views=\(value): no view for files that end in .\(name), and no view of that name")
      }
      if sign == "+" { tree.listing.added.insert(kind) } else { tree.listing.removed.insert(kind) }
    }
  }

  package subscript<Value>(dynamicMember member: WritableKeyPath<TreeSettings, Value>) -> Value {
    get { tree[keyPath: member] }
    set { tree[keyPath: member] = newValue }
  }

  /// Whether users other than the owner of the mount can access it.
  package var isShared: Bool { allowsOthers || allowsRoot }

  /// The options passed to libfuse.
  ///
  /// - Parameter type: the type of the file system, after `fuse.`.
  package func forSession(source: String, type: String = "ffmount") -> [String] {
    let name = (name ?? source).replacing(",", with: "\\,")
    var options = [tree.isWritable ? "rw" : "ro", "fsname=\(name)", "subtype=\(type)"] + kernel
    // A private mount serves only this process's user. Without permission, operations on the source fail. The kernel
    // then does not have to refresh a directory's permissions after each change in it.
    if !tree.isWritable || isShared { options.append("default_permissions") }
    if allowsOthers { options.append("allow_other") }
    if allowsRoot { options.append("allow_root") }
    if unmountsAutomatically { options.append("auto_unmount") }
    return options
  }
}

extension String {
  fileprivate func replacing(_ character: Character, with text: String) -> String {
    split(separator: character, omittingEmptySubsequences: false).joined(separator: text)
  }
}

extension MountOptions {
  /// Returns words of `-o` with absolute file paths, so that they do not depend on the working directory.
  package static func withAbsolutePaths(_ words: [String]) -> [String] {
    guard let folder = unsafe getcwd(nil, 0) else { return words }
    defer { unsafe free(folder) }
    let start = unsafe String(cString: folder)
    return words.map { word in
      split(word).map { option -> String in
        let parts = option.split(separator: "=", maxSplits: 1)
        let isFile = if case .file = table[String(parts.first ?? "")]?.value { true } else { false }
        let path = isFile && parts.count == 2 && !parts[1].hasPrefix("/") ? "\(parts[0])=\(start)/\(parts[1])" : option
        return path.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
      }.joined(separator: ",")
    }
  }
}

extension MountOptions {
  /// Whether mount(8) started this process, for a line in /etc/fstab for example. It adds `rw` to every line without
  /// `ro`.
  package static let isFromMount: Bool = {
    var process = getppid()
    // The process in between is mount.fuse3, which runs programs by a shell that may or may not remain.
    for _ in 0..<4 {
      guard let (name, parent) = ProcessTable.program(of: process) else { return false }
      if name == "mount" { return true }
      guard ["sh", "dash", "bash", "busybox"].contains(name) || name.hasPrefix("mount.") else { return false }
      process = parent
    }
    return false
  }()

  /// Applies `ro` or `rw`. The last one is effective. If mount(8) has sorted the options, `ro` is effective.
  mutating func allowWriting(_ isAllowed: Bool) {
    if !isAllowed, MountOptions.isFromMount { staysReadOnly = true }
    tree.isWritable = isAllowed && !staysReadOnly
  }

  /// Throws if the options contradict each other for a writable mount.
  package func checkWriting() throws {
    guard tree.isWritable else { return }
    if !tree.overrides.areNone {
      throw ValidationError(
        "-o rw: not with uid=, gid=, umask=, dmask= or fmask=, which hide the owners and permissions that would be changed"
      )
    }
  }

  /// A warning about a writable mount that other users can access. `nil` for other mounts.
  package var writingWarning: String? {
    guard tree.isWritable, isShared else { return nil }
    return "rw with \(allowsOthers ? "allow_other" : "allow_root"): other users can change all files"
      + " that the permissions of the source let them change"
  }
}
