package import Bytes

/// Why something cannot be read: what kind of reason it is, a sentence for people, and where.
public struct ReadingError: Error, Hashable, Sendable {
  /// The kinds of reason. There may be more of them in a later minor version.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, such as `damaged`.
    public let description: String

    /// The bytes break the rules of their format, or a checksum is wrong.
    public static let damaged = Code(description: "damaged")
    /// Well formed, but nothing here can read it.
    public static let unsupported = Code(description: "unsupported")
    /// A password is missing, or none of those that were given fits.
    public static let locked = Code(description: "locked")
    /// A limit was exceeded: one that was given, or one against hostile input.
    public static let tooLarge = Code(description: "tooLarge")
    /// The file is no longer as it was when it was opened.
    public static let changed = Code(description: "changed")
    /// A system call failed; ``ReadingError/systemError`` is its errno.
    public static let system = Code(description: "system")
    /// A source of the program's own failed, see ``Content/init(size:reading:)``.
    public static let source = Code(description: "source")
  }

  /// The kind of reason.
  public let code: Code
  /// What was expected and what was found, as the end of a sentence that starts with a name. In English.
  public let reason: String
  /// In bytes from the start of what was read; nil if there is no such offset.
  public let offset: Int64?
  /// The errno of a failed system call; nil for any other reason.
  public let systemError: Int32?

  package init(_ code: Code, _ reason: String, atByte offset: Int64? = nil, systemError: Int32? = nil) {
    self.code = code
    self.reason = reason
    self.offset = offset
    self.systemError = systemError
  }

  package init(_ fault: Fault) {
    let code: Code
    var number: Int32?
    switch fault.kind {
    case .damaged: code = .damaged
    case .unsupported: code = .unsupported
    case .locked: code = .locked
    case .limit: code = .tooLarge
    case .changed: code = .changed
    case .system(let errno): (code, number) = (.system, errno)
    // Whoever may be made to wait meets none of these but through a source of the program's own.
    case .later, .pending, .interrupted: code = .source
    }
    // What follows names an option of the mount.
    let reason = fault.reason.components(before: " (-o ")
    self.init(code, reason, atByte: fault.offset, systemError: number)
  }

  /// The result of parsers, which throw faults.
  package static func of<Value: ~Copyable>(
    _ body: () throws(Fault) -> Value
  ) throws(ReadingError) -> Value {
    do throws(Fault) { return try body() } catch { throw ReadingError(error) }
  }
}

extension ReadingError: CustomStringConvertible {
  /// The reason, and the offset if there is one.
  public var description: String { Fault(.damaged, reason, atByte: offset).description }
}

extension String {
  /// Everything before the first `mark`.
  fileprivate func components(before mark: String) -> String {
    firstRange(of: mark).map { String(self[..<$0.lowerBound]) } ?? self
  }
}
