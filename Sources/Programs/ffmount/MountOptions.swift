import AllViews
import ArgumentParser
import Bytes
import Threads
import Tree
import Zip

/// The options of `-o`, with the names that FUSE users know.
struct MountOptions {
  var allowsOthers = false
  var allowsRoot = false
  var unmountsAutomatically = false
  var permitsNonempty = false
  var overrides = Overrides()
  var name: String?
  var threads = 10
  var listing = ViewListing()
  var depth = 4
  var view: String?
  /// Whether each stat returns the exact size, generating content if necessary.
  var sizesAreExact = false
  var zip = ZipOptions()
  /// The source of the passwords.
  var passwordFile: PasswordFile?
  /// The number of workers; nil for one per processor.
  var workers: Int?
  /// The converter's path; nil for the one beside this program.
  var converter: String?
  /// The CPU time limit of one conversion, in seconds.
  var conversionTime = 60
  /// The memory limit of one worker, in bytes.
  var conversionMemory: Int64 = 1 << 30
  /// Whether files are converted even if the system lacks a layer of the converter's sandbox.
  var isSandboxWeak = false
  /// The size of the conversion cache, in bytes.
  var cacheSize = Converter.usualCacheSize
  /// The memory budget of all trees and caches together, in bytes.
  var memory = Int64(MemoryBudget.usualCapacity)
  /// Options passed unchanged to the kernel and libfuse.
  var kernel: [String] = []

  /// Options of mount(8) and fstab(5) that have no meaning here, or are always in effect.
  private static let ignored: Set<String> = [
    "rw", "ro", "defaults", "auto", "noauto", "user", "nouser", "users", "owner", "group", "_netdev", "nofail",
    "async", "sync", "dirsync", "atime", "noatime", "diratime", "nodiratime", "relatime", "norelatime", "strictatime",
    "lazytime", "nolazytime", "mand", "nomand", "silent", "loud", "default_permissions",
  ]
  private static let kernelFlags: Set<String> = ["suid", "nosuid", "dev", "nodev", "exec", "noexec"]

  init(_ words: [String]) throws {
    for list in words {
      for option in MountOptions.split(list) where !option.isEmpty { try take(option) }
    }
  }

  /// Splits a list at commas; `\,` is a comma in a value.
  private static func split(_ list: String) -> [String] {
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
    guard parts.count == 2 else { return try take(flag: option) }
    let value = parts[1]
    switch name {
    case "uid": overrides.owner = try number(name, value, UInt32.self)
    case "gid": overrides.group = try number(name, value, UInt32.self)
    case "umask":
      guard let bits = UInt16(value, radix: 8), bits <= 0o777 else {
        throw ValidationError("-o umask=\(value): expected octal permission bits such as 022")
      }
      overrides.umask = bits
    case "fsname": self.name = value
    case "subtype", "comment", "max_read", "max_idle_threads": break
    case "max_threads":
      threads = try number(name, value, Int.self)
      guard threads >= 1, threads <= 1024 else {
        throw ValidationError("-o max_threads=\(value): expected 1 to 1024")
      }
    case "depth":
      depth = try number(name, value, Int.self)
      guard depth >= 0, depth <= 64 else { throw ValidationError("-o depth=\(value): expected 0 to 64") }
    case "view": view = value
    case "views": try take(views: value)
    case "charset":
      guard ZipOptions.knows(charset: value) else {
        throw ValidationError("-o charset=\(value): no such character set (see those there are with: iconv -l)")
      }
      zip.charset = value
    case "password_file":
      let file = try PasswordFile(at: value)
      zip.passwords = try file.passwords()
      passwordFile = file
    case "max_ratio":
      zip.largestRatio = try number(name, value, Int64.self)
      guard zip.largestRatio >= 1 else { throw ValidationError("-o max_ratio=\(value): expected 1 or more") }
    case "max_size": zip.largestSize = try size(name, value)
    case "workers":
      let count = try number(name, value, Int.self)
      guard count >= 1, count <= 256 else { throw ValidationError("-o workers=\(value): expected 1 to 256") }
      workers = count
    case "converter": converter = value
    case "convert_time":
      conversionTime = try number(name, value, Int.self)
      guard conversionTime >= 1, conversionTime <= 86400 else {
        throw ValidationError("-o convert_time=\(value): expected 1 to 86400 seconds")
      }
    case "convert_memory":
      conversionMemory = try size(name, value)
      guard conversionMemory >= 64 << 20 else {
        throw ValidationError("-o convert_memory=\(value): expected 64M or more")
      }
    case "memory":
      memory = try size(name, value)
      guard memory >= 8 << 20, memory <= 1 << 40 else {
        throw ValidationError("-o memory=\(value): expected 8M to 1T")
      }
    case "sandbox":
      guard value == "strict" || value == "weak" else {
        throw ValidationError("-o sandbox=\(value): expected strict or weak")
      }
      isSandboxWeak = value == "weak"
    case "cache_size": cacheSize = try size(name, value)
    case "sizes":
      guard value == "exact" || value == "estimated" else {
        throw ValidationError("-o sizes=\(value): expected exact or estimated")
      }
      sizesAreExact = value == "exact"
    case "symlinks":
      guard value == "all" || value == "inside" else {
        throw ValidationError("-o symlinks=\(value): expected all or inside")
      }
      zip.showsAllLinks = value == "all"
    default: throw unknown(option)
    }
  }

  private mutating func take(flag option: String) throws {
    switch option {
    case "allow_other": allowsOthers = true
    case "allow_root": allowsRoot = true
    case "auto_unmount": unmountsAutomatically = true
    case "nonempty": permitsNonempty = true
    default: throw unknown(option)
    }
  }

  /// Parses `none`, `+docx`, `-zip`; several are joined by `:` or given in another `views=`.
  private mutating func take(views value: String) throws {
    for word in value.split(separator: ":") {
      if word == "none" {
        listing.isOff = true
        continue
      }
      guard let sign = word.first, sign == "+" || sign == "-", word.count > 1 else {
        throw ValidationError("-o views=\(value): expected none, or extensions to add and leave out such as +docx:-pdf")
      }
      let kind = FileExtension(word.dropFirst().utf8)
      guard Views.possibleExtensions.contains(kind) else {
        throw ValidationError("-o views=\(value): no view for files that end in .\(word.dropFirst())")
      }
      if sign == "+" { listing.added.insert(kind) } else { listing.removed.insert(kind) }
    }
  }

  private func number<Value: FixedWidthInteger>(_ name: String, _ value: String, _: Value.Type) throws -> Value {
    guard let number = Value(value) else { throw ValidationError("-o \(name)=\(value): expected a number") }
    return number
  }

  /// Parses a number of bytes, with K, M, G or T for powers of 1024. Clamped to `Bounds.largestSize`, which is larger
  /// than any file.
  private func size(_ name: String, _ value: String) throws -> Int64 {
    let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
    let unit = value.last.flatMap { units[Character($0.uppercased())] }
    let number = Int64(unit == nil ? value[...] : value.dropLast())
    guard let number, number >= 0, number <= Int64.max / (unit ?? 1) else {
      throw ValidationError("-o \(name)=\(value): expected a number of bytes such as 500M or 10G")
    }
    return Bounds.size(number * (unit ?? 1))
  }

  private func unknown(_ option: String) -> ValidationError {
    ValidationError("unknown option -o \(option) (see man ffmount for those there are)")
  }

  /// The passwords for archives and PDFs.
  var passwords: Passwords { zip.passwords }

  /// Whether users other than the one who mounts can access the mount.
  var isShared: Bool { allowsOthers || allowsRoot }

  /// The options passed to libfuse.
  func forSession(source: String) -> [String] {
    let name = (name ?? source).replacing(",", with: "\\,")
    var options = ["ro", "default_permissions", "fsname=\(name)", "subtype=ffmount"] + kernel
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
