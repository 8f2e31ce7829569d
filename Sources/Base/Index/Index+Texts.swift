public import Bytes
internal import Files
internal import Glibc

extension Index {
  /// Returns the full-text index of a source. Returns `nil` if it cannot be stored.
  ///
  /// `state` identifies the source's state, and `version` the way in which the texts are made. An index of another
  /// state or version is replaced. An index of an earlier state is kept and extended if `continues` returns true for
  /// its `proof` and its number of texts: the source then starts with these texts.
  ///
  /// Each source has a file of its own beside the main index, so that mounts without searches are not slowed down.
  /// Blocks. Rethrows the errors of `continues`.
  public func texts(
    of source: [UInt8], state: [UInt8], version: UInt64, proof: [UInt8] = [],
    continues: (_ proof: [UInt8], _ count: Int) throws(Fault) -> Bool = { _, _ in false }
  ) throws(Fault) -> TextIndex? {
    guard let folder = textFolder, let key = makeTextFolder(folder) else { return nil }
    return try TextIndex(
      path: "\(folder)/\(Self.name(of: source))", key: key, sourceState: state, version: version, proof: proof,
      continues: continues)
  }

  /// Returns the full-text index of a source if one of this state and version has all texts. Never creates one. Blocks.
  public func wholeTexts(of source: [UInt8], state: [UInt8], version: UInt64) -> TextIndex? {
    guard let folder = textFolder, let key = attempt({ $0.key }) else { return nil }
    return TextIndex(wholeAt: "\(folder)/\(Self.name(of: source))", key: key, sourceState: state, version: version)
  }

  /// Returns an exclusive lock for assigning numbers to texts, held until it is released. Returns `nil` if it is not
  /// available within `limit`. All sources share one lock, which is held only briefly. Blocks.
  public func lockForNumbers(within limit: Duration) -> TextIndexLock? {
    guard let folder = textFolder, makeTextFolder(folder) != nil else { return nil }
    let end = ContinuousClock.now + limit
    while true {
      if let lock = TextIndexLock("\(folder)/numbers") { return lock }
      if ContinuousClock.now >= end { return nil }
      usleep(5_000)
    }
  }

  /// Removes the least recently used text indexes until the rest takes at most `limit` bytes. Never removes that of
  /// `source`.
  public func trimTexts(to limit: Int64, sparing source: [UInt8]) {
    guard let folder = textFolder else { return }
    var files = textFiles().map { path in
      var status = stat()
      _ = unsafe stat(path, &status)
      return (path: path, usedAt: status.st_mtim.tv_sec, size: TextFile.size(path))
    }
    files.sort { $0.usedAt < $1.usedAt }
    var size = files.reduce(0) { Bounds.sum($0, $1.size) }
    for file in files where size > limit && file.path != "\(folder)/\(Self.name(of: source))" {
      DatabaseFile.remove(file.path)
      TextIndexLock.remove(file.path)
      size -= file.size
    }
  }

  /// Returns the size on disk of the text indexes of the sources that start with `prefix`, in bytes.
  public func textSize(ofSourcesStartingWith prefix: [UInt8] = []) -> Int64 {
    textFiles(ofSourcesStartingWith: prefix).reduce(0) { Bounds.sum($0, TextFile.size($1)) }
  }

  /// Removes the text indexes of the sources that start with `prefix`. Returns their number. Returns `nil` if some are
  /// left.
  func forgetTexts(ofSourcesStartingWith prefix: [UInt8]) -> Int? {
    let files = textFiles(ofSourcesStartingWith: prefix)
    for path in files {
      DatabaseFile.remove(path)
      TextIndexLock.remove(path)
    }
    guard textFiles(ofSourcesStartingWith: prefix).isEmpty else { return nil }
    return files.count
  }

  // MARK: Files

  private var textFolder: String? { folder.map { $0 + "/texts" } }

  /// Creates the directory and returns the index's key. Returns `nil` if the directory cannot be created.
  private func makeTextFolder(_ path: String) -> [UInt8]? {
    guard let key = attempt({ $0.key }), (try? OwnFolder.check(path, making: true)) != nil else { return nil }
    return key
  }

  /// Returns the name of a source's file: the first two 64-bit words in hexadecimal, and a hash of the rest.
  private static func name(of source: [UInt8]) -> String {
    let rest = source.dropFirst(16)
    let digits = hexadecimal(source.prefix(16))
    if rest.isEmpty { return digits + ".sqlite" }
    return digits + "-" + hexadecimal(IndexKind.hash(of: Array(rest))) + ".sqlite"
  }

  /// Returns two lowercase digits for each byte.
  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  private func textFiles(ofSourcesStartingWith prefix: [UInt8] = []) -> [String] {
    guard let folder = textFolder, let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    let start = Self.hexadecimal(prefix.prefix(16))
    var paths: [String] = []
    while let entry = unsafe readdir(stream) {
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      let name = String(decoding: bytes, as: UTF8.self)
      if name.hasSuffix(".sqlite"), name.hasPrefix(start) { paths.append("\(folder)/\(name)") }
    }
    return paths
  }
}
