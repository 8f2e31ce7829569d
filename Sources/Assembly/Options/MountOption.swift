package import ArgumentParser
internal import Bytes
internal import Glibc

/// An option of `-o`.
package struct MountOption: Sendable {
  /// Sets the option from its name and the text of its value, which is empty if it has none; throws a
  /// `ValidationError`.
  package typealias Setter = @Sendable (inout MountOptions, _ name: String, _ value: String) throws -> Void

  /// The possible values of an option.
  package enum Value {
    /// Values that cannot be listed, such as numbers and text.
    case free
    /// These words, and others if these are only the most common ones.
    case words([String])
    case file
    /// A number, or the name of a user or group.
    case identity(Identity)
    /// A list for `views=`, joined by colons.
    case listing
    /// A list for `ocr=`, joined by `+`.
    case languages
  }

  /// A short description for completion. The manual page has the details.
  package let meaning: String
  /// The possible values. `nil` if the option has no value.
  package let value: Value?
  package let set: Setter

  package init(_ meaning: String, _ value: Value?, _ set: @escaping Setter) {
    self.meaning = meaning
    self.value = value
    self.set = set
  }

  // MARK: Kinds of options

  package static func flag(_ meaning: String, _ set: @escaping @Sendable (inout MountOptions) -> Void) -> MountOption {
    MountOption(meaning, nil) { options, _, _ in set(&options) }
  }

  package static func text(
    _ meaning: String, _ value: Value = .free, _ set: @escaping @Sendable (inout MountOptions, String) -> Void
  ) -> MountOption {
    MountOption(meaning, value) { options, _, value in set(&options, value) }
  }

  package static func number<Number: FixedWidthInteger & Sendable>(
    _ meaning: String, _ range: ClosedRange<Number> = .min ... .max, _ expected: String? = nil,
    _ set: @escaping @Sendable (inout MountOptions, Number) -> Void
  ) -> MountOption {
    MountOption(meaning, .free) { options, name, value in
      guard let number = Number(value) else { throw refusal(name, value, "a number") }
      guard range.contains(number) else {
        throw refusal(name, value, expected ?? "\(range.lowerBound) to \(range.upperBound)")
      }
      set(&options, number)
    }
  }

  /// Returns an option for a number of bytes, with K, M, G or T for powers of 1024. Clamped to `Bounds.largestSize`,
  /// which is larger than any file.
  package static func size(
    _ meaning: String, _ range: ClosedRange<Int64> = 0...Int64.max, _ expected: String = "",
    _ set: @escaping @Sendable (inout MountOptions, Int64) -> Void
  ) -> MountOption {
    MountOption(meaning, .free) { options, name, value in
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

  package static func choice(
    _ meaning: String, _ words: String...,
    set: @escaping @Sendable (inout MountOptions, String) -> Void
  ) -> MountOption {
    MountOption(meaning, .words(words)) { options, name, value in
      guard words.contains(value) else {
        throw refusal(name, value, words.dropLast().joined(separator: ", ") + " or \(words[words.count - 1])")
      }
      set(&options, value)
    }
  }

  /// Returns an option for the number or name of a user or group.
  package static func identity(
    _ meaning: String, _ kind: Identity, _ set: @escaping @Sendable (inout MountOptions, UInt32) -> Void
  ) -> MountOption {
    MountOption(meaning, .identity(kind)) { options, name, value in
      guard let number = UInt32(value) ?? kind.number(named: value) else {
        throw refusal(name, value, "a number, or the name of an existing \(kind)")
      }
      set(&options, number)
    }
  }

  /// Returns an option for permission bits.
  package static func bits(
    _ meaning: String, _ set: @escaping @Sendable (inout MountOptions, UInt16) -> Void
  ) -> MountOption {
    MountOption(meaning, .free) { options, name, value in
      guard let bits = UInt16(value, radix: 8), bits <= 0o777 else {
        throw refusal(name, value, "octal permission bits such as 022")
      }
      set(&options, bits)
    }
  }

  /// Returns the error about an option without its `=` and value.
  package func missingValue(_ name: String) -> ValidationError {
    // The error about an empty value states the expected one.
    var expected = "a value"
    do {
      var options = try MountOptions([])
      try set(&options, name, "")
    } catch let error as ValidationError {
      if let reason = error.message.firstRange(of: "expected ") {
        expected = String(error.message[reason.upperBound...])
      }
    } catch {}
    return ValidationError("-o \(name): =N is missing (N is \(expected); see man ffmount)")
  }

  package static func refusal(_ name: String, _ value: String, _ expected: String) -> ValidationError {
    ValidationError("-o \(name)=\(value): expected \(expected)")
  }
}

extension MountOption {
  /// A database of the system with numbers and names.
  package enum Identity {
    case user
    case group

    /// Returns the number of a user or group. Returns `nil` if the name does not exist.
    func number(named name: String) -> UInt32? {
      switch self {
      case .user:
        guard let entry = unsafe getpwnam(name) else { return nil }
        return unsafe entry.pointee.pw_uid
      case .group:
        guard let entry = unsafe getgrnam(name) else { return nil }
        return unsafe entry.pointee.gr_gid
      }
    }

    /// All names, in the order of the database. Must not be called by several threads concurrently.
    package var names: [String] {
      var names: [String] = []
      switch self {
      case .user:
        setpwent()
        while let entry = unsafe getpwent() { names.append(unsafe String(cString: entry.pointee.pw_name)) }
        endpwent()
      case .group:
        setgrent()
        while let entry = unsafe getgrent() { names.append(unsafe String(cString: entry.pointee.gr_name)) }
        endgrent()
      }
      return names
    }
  }
}
