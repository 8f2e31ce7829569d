package import Bytes
internal import CPosix
internal import Glibc
package import Tree

/// A report about a mount. Its daemon stores it in extended attributes of the mount's root, which its user and root can
/// read.
///
/// The attributes are `user.ffmount.report.0` and following. Each has about 32 KiB of lines, which consist of a word
/// and fields separated by tabs. If there is another attribute, the last line contains its number.
package struct MountReport {
  package private(set) var version = ""
  package private(set) var process: Int32 = 0
  package private(set) var source = ""
  /// The time since the mount, in seconds.
  package private(set) var seconds = 0
  package private(set) var work = WorkReport()

  private static let attribute = "user.ffmount.report."
  private static let pageSize = 32 << 10
  /// The maximum number of pages that are read, in case a mount always names another page.
  private static let pagesAtMost = 1024

  // MARK: Writing

  /// Returns the value of an attribute of the root. Returns `nil` for other attributes. The number in the name is the
  /// index of the attribute's first failure.
  package static func value(
    of name: FileName, source: String, since start: ContinuousClock.Instant, _ work: () -> WorkReport
  ) -> [UInt8]? {
    let text = name.text
    guard text.hasPrefix(attribute), let first = Int(text.dropFirst(attribute.count)), first >= 0 else { return nil }
    let work = work()
    var page: [UInt8] = []
    func add(_ word: String, _ fields: String...) {
      page += word.utf8
      for field in fields { page += [0x09] + OctalEscapes.encoded(field) }
      page.append(0x0a)
    }
    if first == 0 {
      let seconds = (ContinuousClock.now - start).components.seconds
      add("mount", Version.text, "\(getpid())", "\(seconds)", source)
      add("converted", "\(work.made)", "\(work.waiting)")
      for activity in work.activities where page.count < pageSize {
        let (done, size) = activity.progress ?? (-1, -1)
        add(
          activity.kind.rawValue, activity.path, activity.recipe, "\(done)", "\(size)", "\(activity.seconds ?? -1)")
      }
    }
    for (number, failure) in work.failures.enumerated().dropFirst(first) {
      if page.count >= pageSize {
        add("next", "\(number)")
        break
      }
      add("failed", failure.path, failure.recipe, failure.reason)
    }
    return page
  }

  // MARK: Reading

  /// Reads all pages of a mount. Blocks until it answers. Throws the errno.
  package static func pages(of mountpoint: String) throws(SystemError) -> [UInt8] {
    var all: [UInt8] = []
    var next: Int? = 0
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    for _ in 0..<pagesAtMost {
      guard let number = next else { break }
      let count = unsafe ffmount_lgetxattr(mountpoint, attribute + "\(number)", &buffer, buffer.count)
      guard count >= 0 else { throw SystemError(code: errno) }
      let page = buffer[..<count]
      all += page
      next = page.split(separator: 0x0a).last.flatMap { line in
        let text = String(decoding: line, as: UTF8.self)
        return text.hasPrefix("next\t") ? Int(text.dropFirst(5)) : nil
      }
    }
    return all
  }

  /// Parses the result of `pages`. Returns `nil` if it is not a report.
  package init?(_ pages: [UInt8]) {
    for line in pages.split(separator: 0x0a) {
      let fields = line.split(separator: 0x09, omittingEmptySubsequences: false).map(OctalEscapes.decoded)
      take(fields[0], Array(fields.dropFirst()))
    }
    if version.isEmpty { return nil }
  }

  /// Adds the work of another process for the same mount.
  package mutating func add(_ other: WorkReport) { work.add(other) }

  private mutating func take(_ word: String, _ fields: [String]) {
    switch (word, fields.count) {
    case ("mount", 4...):
      version = fields[0]
      process = Int32(fields[1]) ?? 0
      seconds = Int(fields[2]) ?? 0
      source = fields[3]
    case ("converted", 2...): (work.made, work.waiting) = (Int(fields[0]) ?? 0, Int(fields[1]) ?? 0)
    case ("failed", 3...): work.failures.append(.init(path: fields[0], recipe: fields[1], reason: fields[2]))
    case (_, 5...):
      guard let kind = WorkReport.Activity.Kind(rawValue: word) else { return }
      let progress = (done: Int64(fields[2]) ?? -1, size: Int64(fields[3]) ?? -1)
      let seconds = Int(fields[4]) ?? -1
      work.activities.append(
        .init(
          kind, path: fields[0], recipe: fields[1], progress: progress.size < 0 ? nil : progress,
          seconds: seconds < 0 ? nil : seconds))
    default: break
    }
  }
}
