import Assembly
import Bytes
import Glibc

/// The files of a mount that cannot be opened for lack of a password.
struct LockedFiles {
  /// The mount's directory.
  let mountpoint: String
  /// A path in the mount.
  let path: String
  /// The name of the path in messages.
  let name: String

  init(at path: String, in mountpoint: String, named name: String? = nil) {
    self.mountpoint = mountpoint
    self.path = path
    self.name = name ?? path
  }

  /// The result of a search.
  enum Search {
    case found(String)
    /// No file requires a password that the mount does not have.
    case none
    /// The path is a real directory, or has too many files to examine.
    case unknown
  }

  /// The maximum number of files that are opened in a search, and the time after which no more are opened. To open a file
  /// of some archives, all files before it have to be unpacked.
  private static let most = 500
  private static let patience = Duration.seconds(2)
  /// The views of a real file whose files can be locked.
  private static let views = ["contents", "pages"]
  /// The extensions of documents that only LibreOffice decrypts. Its result shows whether they are locked.
  private static let oldDocuments: Set<Substring> = ["doc", "xls"]

  /// Searches the path itself and, if it is a view or has one, the first files in it. Blocks.
  var search: Search {
    if isLocked(path) { return .found(path) }
    var left = Self.most
    let view = OwnAttributes(of: path).view
    if view == nil, isFolder(path) { return .unknown }
    if let found = first(in: path, view, &left) { return .found(found) }
    if view == nil {
      for inside in Self.views.map({ "\(path).\($0)" }) where unsafe access(inside, F_OK) == 0 {
        if let found = first(in: inside, OwnAttributes(of: inside).view, &left) { return .found(found) }
      }
      if let ending = path.lowercased().split(separator: ".").last, Self.oldDocuments.contains(ending) {
        let pages = "\(path).as-pdf"
        if unsafe access(pages, F_OK) == 0, isLocked(pages) { return .found(pages) }
      }
    }
    return left > 0 ? .none : .unknown
  }

  /// Returns the path itself, a view, if it is locked, or else the first locked file that is known without a search: one
  /// of the first files that the list of an archive's entries marks as encrypted. Returns `nil` if there is none, or if
  /// it is not known. Opens a few files at most. Blocks.
  var known: String? {
    isLocked(path) ? path : OwnAttributes.encryptedPaths(in: path).first { isLocked($0) }
  }

  /// Returns whether a file or directory cannot be opened for lack of a password. Opens it.
  func isLocked(_ path: String) -> Bool {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    let code = errno
    if file >= 0 { close(file) }
    return file < 0 && code == EACCES && OwnAttributes(of: path).error?.contains("password") ?? true
  }

  /// Returns whether a file or directory can be opened, and the start of a file read. The encryption of ZIP lets one
  /// wrong password in 256 open a file, whose bytes then fail to be decoded.
  private func isReadable(_ path: String) -> Bool {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard file >= 0 else { return false }
    defer { close(file) }
    if isFolder(path) { return true }
    var buffer = [UInt8](repeating: 0, count: 128 << 10)
    return unsafe read(file, &buffer, buffer.count) >= 0
  }

  private func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the first locked file of a view, whose directories are searched breadth first. Files that are made from
  /// others are not opened, since that would make them.
  private func first(in top: String, _ view: String?, _ left: inout Int) -> String? {
    let end = ContinuousClock.now + Self.patience
    var waiting = [top]
    var next = 0
    while next < waiting.count, left > 0 {
      if ContinuousClock.now > end {
        left = 0
        break
      }
      let path = waiting[next]
      next += 1
      left -= 1
      var status = stat()
      guard unsafe lstat(path, &status) == 0 else { continue }
      let kind = status.st_mode & S_IFMT
      guard kind == S_IFDIR || kind == S_IFREG, path == top || OwnAttributes(of: path).view == view else { continue }
      if isLocked(path) { return path }
      if kind == S_IFDIR, view != nil { waiting += names(in: path, atMost: Self.most).map { "\(path)/\($0)" } }
    }
    return nil
  }

  private func names(in path: String, atMost most: Int) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while names.count < most, let entry = unsafe readdir(folder) {
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      // A name that is not UTF-8 is not found under its decoded form.
      if let name = String(validating: bytes, as: UTF8.self), name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

/// Giving passwords to the mount.
extension LockedFiles {
  /// The result of asking for a password.
  enum Answer {
    case unlocked
    /// The password is tried on files that are opened later.
    case given
    case none
  }

  /// The maximum number of passwords that are asked for.
  private static let attempts = 3

  /// Asks the user for a password until one opens a file. Passwords that do not are taken back. Throws a refusal if the
  /// mount takes no passwords, or if the user cannot be asked.
  func ask() throws -> Answer { try ask(search) }

  /// Asks as `ask()` does, for the result of an earlier search.
  func ask(_ search: Search) throws -> Answer {
    if case .none = search { throw refusal("no file in it requires another password") }
    for attempt in 1...Self.attempts {
      let again = attempt == 1 ? "" : "Wrong. "
      guard let password = try PasswordPrompt.ask("\(again)Password for \(name)") else { return .none }
      switch try give(password, search) {
      case true?: return .unlocked
      case nil: return .given
      case false?: continue
      }
    }
    throw refusal("none of the passwords opens it")
  }

  /// Gives one password to the mount. Throws a refusal if the mount does not take it, or if it opens nothing.
  func give(_ password: [UInt8]) throws -> Answer {
    let search = search
    if case .none = search { throw refusal("no file in it requires another password") }
    switch try give(password, search) {
    case true?: return .unlocked
    case nil: return .given
    case false?: throw refusal("the password does not open it")
    }
  }

  /// Returns whether the password opens the locked file. Returns `nil` if none is known.
  private func give(_ password: [UInt8], _ search: Search) throws -> Bool? {
    guard (1...GivenPasswords.longest).contains(password.count), !password.contains(0) else {
      throw refusal(
        "a password has 1 to \(GivenPasswords.longest) bytes, and no NUL (a longer one: -o password_file=FILE)")
    }
    do throws(SystemError) { try GivenPasswords.send(.add, password, to: mountpoint) } catch {
      throw refusal(
        error.code == ENODATA
          ? "this mount takes no passwords (for a server's, use -o password_file=FILE there; if it was mounted by an "
            + "earlier version, type: ffmount upgrade \(ShellWord.quoted(mountpoint)))"
          : describe(error.code))
    }
    guard case .found(let file) = search else { return nil }
    if isReadable(file) { return true }
    try? GivenPasswords.send(.remove, password, to: mountpoint)
    if let lack = OwnAttributes(of: file).error.flatMap(Advice.lackOfDecryption) { throw refusal(lack) }
    return false
  }

  private func refusal(_ reason: String) -> Refusal { Refusal(.failure, "cannot unlock \(name): \(reason)") }
}
