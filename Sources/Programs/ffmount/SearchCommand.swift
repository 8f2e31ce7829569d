import ArgumentParser
import Bytes
import Files
import Glibc
import Index
import MailViews
import Tree

/// `ffmount search ARCHIVE QUERY`: what `ARCHIVE.views/search/QUERY/` would show, without a mount.
struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search", abstract: "Finds messages in a mailbox by their words, as its views/search/ folder does.",
    usage: "ffmount search ARCHIVE QUERY… [--json]",
    discussion: """
      A query is words, "phrases", pre*, ~stem, OR, -not, ( ), from: to: subject: filename: label: has:attachment \
      is:deleted date:2024-05 after:2024-01-01 before: larger:5M smaller:. Prints a line a message, newest first: its folder, date, sender and \
      subject, with tabs between. The first search puts the words of the mailbox into an index, which is kept.
      """)

  @Argument(help: "A mailbox.", completion: .file())
  var archive: String

  @Argument(parsing: .allUnrecognized, help: "What to look for; several words are one query.")
  var query: [String]

  @Flag(help: "Print a JSON array of objects, or an object whose error says what is wrong.")
  var json = false

  func run() throws {
    do { try search() } catch let refusal as Refusal {
      if json { print("{\"error\": \(HitLines.quoted(refusal.sentence))}") }
      throw refusal
    }
  }

  private func search() throws {
    // Without a cache folder, the index lasts as long as this process.
    let index = Index(folder: CacheFolder.path())
    let indexing = Indexing(index: index)
    defer {
      indexing.stop()
      index.finish(within: .seconds(2))
    }
    let place = try RealPlace(archive)
    do throws(Fault) {
      let query = try Indexing.Query(terms.joined(separator: " "))
      guard let name = place.name, let search = try indexing.search(name, in: place.root) else {
        throw Fault(.unsupported, "it is no mailbox")
      }
      try follow(search)
      if query.needsWords { try follow(indexing.words(of: search)) }
      var lines = HitLines(isJSON: json)
      try indexing.find(query, in: search) { hit in lines.add(hit) }
      lines.finish()
      if let error = lines.error { throw Fault(.system(error), "its messages cannot be printed: \(describe(error))") }
    } catch {
      throw Refusal(.failure, "cannot search \(archive): \(describe(error))")
    }
  }

  /// The query without the `--` that ends the options.
  private var terms: ArraySlice<String> { query.first == "--" ? query.dropFirst() : query[...] }

  /// Whether standard output is piped to another program, which may draw on the same terminal.
  private static var isPiped: Bool {
    var status = stat()
    return unsafe fstat(STDOUT_FILENO, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  /// Waits for the work to end. Shows a bar, unless the output is read by a program.
  private func follow(_ work: some BackgroundWork) throws(Fault) {
    var line = ProgressLine(archive, size: work.size, output: STDERR_FILENO, isShown: !json && !Self.isPiped)
    line.follow(work)
    line.clear()
    if let fault = work.fault { throw fault }
  }
}

/// Writes search hits to standard output.
private struct HitLines {
  let isJSON: Bool
  private var bytes: [UInt8] = []
  private var count = 0
  /// The errno of a failed write, after which nothing more is written.
  private(set) var error: Int32?

  private static let blockSize = 64 << 10

  init(isJSON: Bool) { self.isJSON = isJSON }

  mutating func add(_ hit: Indexing.Hit) {
    let date = hit.date.map { Amount.moment($0, zone: hit.zone) }
    if isJSON {
      let fields = [
        ("path", Self.quoted(hit.path)), ("date", date.map { Self.quoted($0) } ?? "null"),
        ("sender", Self.quoted(hit.sender)), ("address", Self.quoted(hit.address)),
        ("subject", Self.quoted(hit.subject)), ("size", "\(hit.size)"),
      ]
      let object = fields.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ")
      bytes += (count == 0 ? "[\n  {\(object)}" : ",\n  {\(object)}").utf8
    } else {
      bytes += "\(hit.path)\t\(date ?? "undated")\t\(hit.sender)\t\(hit.subject)\n".utf8
    }
    count += 1
    if bytes.count > Self.blockSize { flush() }
  }

  mutating func finish() {
    if isJSON { bytes += (count == 0 ? "[]\n" : "\n]\n").utf8 }
    flush()
  }

  private mutating func flush() {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else {
        // The reader of the pipe has closed it.
        error = errno == EPIPE ? nil : errno
        break
      }
      rest = rest.dropFirst(written)
    }
    bytes.removeAll(keepingCapacity: true)
  }

  /// Quotes a JSON string (RFC 8259 §7).
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{0}"..."\u{1f}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
