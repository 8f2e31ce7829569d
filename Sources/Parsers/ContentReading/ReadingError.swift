package import Bytes

/// The reason why bytes cannot be read: a code, a description, and the offset.
public struct ReadingError: Error, Hashable, Sendable {
  /// The kinds of reason. A later minor version can add more.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, such as `damaged`.
    public let description: String

    /// The bytes violate their format, or a checksum is wrong.
    public static let damaged = Code(description: "damaged")
    /// The bytes are well formed but not supported.
    public static let unsupported = Code(description: "unsupported")
    /// A password is missing, or none of the given passwords fits.
    public static let locked = Code(description: "locked")
    /// A given limit, or a limit against hostile input, was exceeded.
    public static let tooLarge = Code(description: "tooLarge")
    /// The file has changed since it was opened.
    public static let changed = Code(description: "changed")
    /// A system call failed. ``ReadingError/systemError`` is its errno.
    public static let system = Code(description: "system")
    /// A source that the program provides failed. See ``Content/init(size:reading:)``.
    public static let source = Code(description: "source")
  }

  /// The kind of reason.
  public let code: Code
  /// The expected and the actual content, as the end of a sentence that starts with a name. In English.
  public let reason: String
  /// The offset from the start of the bytes that were read. Nil if the error has no offset.
  public let offset: Int64?
  /// The errno of a failed system call. Nil for any other reason.
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
    // Callers that allow blocking get these only from sources that the program provides.
    case .later, .pending, .interrupted: code = .source
    }
    // The rest names an option of the mount.
    let reason = fault.reason.components(before: " (-o ")
    self.init(code, reason, atByte: fault.offset, systemError: number)
  }

  /// Returns the result of a parser, converting the fault that it throws.
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
  /// Returns the text before the first `mark`.
  fileprivate func components(before mark: String) -> String {
    firstRange(of: mark).map { String(self[..<$0.lowerBound]) } ?? self
  }
}
