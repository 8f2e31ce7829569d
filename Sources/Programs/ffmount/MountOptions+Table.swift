import ArgumentParser
import Bytes
import Tree
import Zip

extension MountOptions {
  /// Sets an option from its name and the text of its value; throws a `ValidationError`.
  typealias Setter = @Sendable (inout MountOptions, _ name: String, _ value: String) throws -> Void

  /// The options of the form `NAME=VALUE`.
  static let values: [String: Setter] = [
    "uid": number { $0.overrides.owner = $1 },
    "gid": number { $0.overrides.group = $1 },
    "umask": { options, name, value in
      guard let bits = UInt16(value, radix: 8), bits <= 0o777 else {
        throw refusal(name, value, "octal permission bits such as 022")
      }
      options.overrides.umask = bits
    },
    "fsname": text { $0.name = $1 },
    "subtype": text { _, _ in },
    "comment": text { _, _ in },
    "max_read": text { _, _ in },
    "max_idle_threads": text { _, _ in },
    "max_threads": number(1...1024) { $0.threads = $1 },
    "depth": number(0...64) { $0.depth = $1 },
    "view": text { $0.view = $1 },
    "views": { options, _, value in try options.take(views: value) },
    "names": choice("format", "extension") { $0.listing.spelling = $1 == "format" ? .name : .fileExtension },
    "charset": { options, name, value in
      guard ZipOptions.knows(charset: value) else {
        throw ValidationError("-o \(name)=\(value): no such character set (see those there are with: iconv -l)")
      }
      options.zip.charset = value
    },
    "password_file": { options, _, value in
      let file = try PasswordFile(at: value)
      options.zip.passwords = try file.passwords()
      options.passwordFile = file
    },
    "max_ratio": number(1...Int64.max, "1 or more") { $0.zip.largestRatio = $1 },
    "max_size": size { $0.zip.largestSize = $1 },
    "workers": number(1...256) { $0.workers = $1 },
    "converter": text { $0.converter = $1 },
    "convert_time": number(1...86400, "1 to 86400 seconds") { $0.conversionTime = $1 },
    "convert_memory": size(64 << 20...Int64.max, "64M or more") { $0.conversionMemory = $1 },
    "memory": size(8 << 20...1 << 40, "8M to 1T") { $0.memory = $1 },
    "sandbox": choice("strict", "weak") { $0.isSandboxWeak = $1 == "weak" },
    "cache_size": size { $0.cacheSize = $1 },
    "sizes": choice("exact", "estimated") { $0.sizesAreExact = $1 == "exact" },
    "symlinks": choice("all", "inside") { $0.zip.showsAllLinks = $1 == "all" },
  ]

  /// The options without a value.
  static let flags: [String: @Sendable (inout MountOptions) -> Void] = [
    "allow_other": { $0.allowsOthers = true },
    "allow_root": { $0.allowsRoot = true },
    "auto_unmount": { $0.unmountsAutomatically = true },
    "nonempty": { $0.permitsNonempty = true },
  ]

  // MARK: Kinds of values

  private static func text(_ set: @escaping @Sendable (inout MountOptions, String) -> Void) -> Setter {
    { options, _, value in set(&options, value) }
  }

  private static func number<Value: FixedWidthInteger & Sendable>(
    _ range: ClosedRange<Value> = .min ... .max, _ expected: String? = nil,
    _ set: @escaping @Sendable (inout MountOptions, Value) -> Void
  ) -> Setter {
    { options, name, value in
      guard let number = Value(value) else { throw refusal(name, value, "a number") }
      guard range.contains(number) else {
        throw refusal(name, value, expected ?? "\(range.lowerBound) to \(range.upperBound)")
      }
      set(&options, number)
    }
  }

  /// A number of bytes, with K, M, G or T for powers of 1024. Clamped to `Bounds.largestSize`, which is larger than any
  /// file.
  private static func size(
    _ range: ClosedRange<Int64> = 0...Int64.max, _ expected: String = "",
    _ set: @escaping @Sendable (inout MountOptions, Int64) -> Void
  ) -> Setter {
    { options, name, value in
      let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
      let unit = value.last.flatMap { units[Character($0.uppercased())] }
      let number = Int64(unit == nil ? value[...] : value.dropLast())
      guard let number, number >= 0, number <= Int64.max / (unit ?? 1) else {
        throw refusal(name, value, "a number of bytes such as 500M or 10G")
      }
      let size = Bounds.size(number * (unit ?? 1))
      guard range.contains(size) else { throw refusal(name, value, expected) }
      set(&options, size)
    }
  }

  private static func choice(
    _ one: String, _ other: String, _ set: @escaping @Sendable (inout MountOptions, String) -> Void
  ) -> Setter {
    { options, name, value in
      guard value == one || value == other else { throw refusal(name, value, "\(one) or \(other)") }
      set(&options, value)
    }
  }

  private static func refusal(_ name: String, _ value: String, _ expected: String) -> ValidationError {
    ValidationError("-o \(name)=\(value): expected \(expected)")
  }
}
