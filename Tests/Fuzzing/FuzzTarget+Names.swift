internal import Bytes
internal import Catalogue
internal import Foundation
internal import TestSupport
internal import Tree

extension FuzzTarget {
  /// The queries after `search/` beside a mailbox.
  public static let queries = FuzzTarget(name: "queries") {
    [
      "report", "two words", "\"in a row\" OR (a -b)", "from:anna after:2024-01-01 before:2025-02", "larger:999999999g",
      "smaller:1k has:attachment label:\"a/b\"", "((((((a))))))", "-(-(a))", "a*", "会議 filename:x", "\"", "(", "a OR",
      "since:9999-99-99", "subject:",
    ].map { Array($0.utf8) }
  } complaints: { bytes in
    NamedTree.shared?.complaints("m.mbox.views/search/", bytes) ?? ["there is no tree"]
  }

  /// Names of views: a first byte selects the file, the rest is the end of the name; and the same as a recipe.
  public static let names = FuzzTarget(name: "names") {
    let rests = [
      ".1600px.q70.as-jpeg", ".800x600.gray.noexif.rot90.as-webp", ".as-txt", ".as-pdf", ".as.jpg", ".compressed.pdf",
      ".72dpi.q40.compressed.pdf", ".pages/2-5.pdf", ".pages/1,3,9-.pdf", ".pages/1-,1-,1-,5-1.pdf", ".contents/x",
      ".messages/000001 x", ".views/by-date/2024/05", ".as-html", ".merged.pdf", "merged", "pages 1-2", "jpeg 50%",
      "compressed 150dpi.q60", ".50%.as-png.as-jpeg.as-txt", ".999999px.q101.rot45.as-gif",
      ".scan.bw.q5.as-jpeg", ".bw.page2.scan.pages/001.jpg", ".deu+eng.searchable.pdf", ".deu.bw.scan.pdf",
      ".eng.as-hocr",
      ".tracks/01 x.flac", ".crossfade=2s.128k.merged.mp3", ".720p.mute.merged.mp4", ".1s1f-2s74f.as-wav",
      "cut-flac 1s1f-2s;title=a%3B;track=1/2", "joined-mp3 crossfade=2s.128k", "joined-mp4 720p.mute",
      "scan-jpeg scan.bw.page2", "scan colour.eng", "recognized deu+eng", "hocr eng+eng",
    ]
    return rests.enumerated().map { [UInt8($0.offset)] + Array($0.element.utf8) }
  } complaints: { bytes in
    var complaints: [String] = []
    let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
    if let recipe = Recipe(text), Recipe(recipe.description) != recipe {
      complaints.append("\(recipe.description) is another recipe when it is read again")
    }
    guard let tree = NamedTree.shared else { return ["there is no tree"] }
    return complaints
      + tree.complaints(NamedTree.files[Int(bytes.first ?? 0) % NamedTree.files.count], bytes.dropFirst())
  }

  /// The messages between the daemon and its workers, in both directions, and the lists of files to merge.
  public static let jobs = FuzzTarget(name: "jobs") {
    let job = Job(number: 1, work: .make(.text), start: 5, size: 100, document: 3, outputLimit: 1 << 30)
    return [
      job.message, Job(number: 2, work: .count(verb: "pages"), start: 0, size: 1, outputLimit: 0).message,
      Job(number: 2, work: .make(Recipe("compressed 72dpi.q5") ?? .text), start: 0, size: 1, outputLimit: 9).message,
      JobAnswer(number: 1, outcome: .done(77, remark: "is large")).message,
      JobAnswer(number: 1, outcome: .failed(.locked, reason: "needs a password")).message,
      Bundle([Bundle.Member(name: "a.png", size: 5), Bundle.Member(name: "ü", size: 0)]).list,
    ]
  } complaints: { bytes in
    var complaints: [String] = []
    func check(_ isSo: Bool, _ complaint: String) { if !isSo { complaints.append(complaint) } }
    if let job = Job(message: bytes) {
      check(Bounds.holds(job.start) && Bounds.holds(job.size), "a job is beyond every file")
      check(Job(message: job.message) == job, "a job is another when it is told again")
    }
    if let answer = JobAnswer(message: bytes) {
      if case .done(let number, _) = answer.outcome { check(Bounds.holds(number), "\(number) is done") }
      let again = JobAnswer(message: answer.message)
      // A long text is truncated in the message.
      check(again?.number == answer.number, "an answer is another when it is told again")
    }
    if let bundle = Bundle(list: bytes) {
      var end: Int64 = 0
      for member in bundle.members { end = Bounds.sum(end, member.size) }
      check(Bundle(list: bundle.list)?.members == bundle.members, "a list is another when it is told again")
      check(end >= 0, "a list ends before it starts")
    }
    _ = Bundle.listSize(bytes)
    return complaints
  }
}

/// A tree that lives as long as the process, with a file for each kind of view.
private final class NamedTree: Sendable {
  static let shared: NamedTree? = {
    // Globals are not deinitialized at exit.
    _ = atexit { NamedTree.shared?.remove() }
    return try? NamedTree()
  }()
  static let files = ["a.png", "b.pdf", "c.csv", "d.json", "z.zip", "m.mbox", "e.eml", "folder", "none"]

  private let source: SourceFolder
  private let tree: Tree
  /// Only one at a time, because nodes are counted before and after.
  private let turn = NSLock()

  init() throws {
    source = try SourceFolder()
    let mail = "From a@x Fri May  3 10:00:00 2024\nSubject: report\nFrom: anna <a@x>\n\nin a row\n"
    let pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n"
    try source.write("a.png", [0x89] + Array("PNG\r\n\u{1a}\n".utf8))
    try source.write("b.pdf", pdf)
    try source.write("c.csv", "a,b\n1,2\n")
    try source.write("d.json", "{}")
    try source.write("z.zip", ZipFixture(ZipFixtureEntry("x", "x"), ZipFixtureEntry("y.pdf", pdf)))
    try source.write("m.mbox", mail)
    try source.write("e.eml", String(mail.drop { $0 != "\n" }.dropFirst()))
    try source.makeFolder("folder")
    try source.write("folder/a.png", "x")
    for file in Self.files.dropLast() { try? source.setModified(FileName(file), Timestamp(seconds: 1_700_000_000)) }
    tree = try Tree(mirroring: source.path, nil, cache: source.path)
  }

  private func remove() { try? FileManager.default.removeItem(atPath: source.path) }

  /// Looks up a path, whose end comes from the fuzzer, and makes all requests on it.
  func complaints(_ start: String, _ rest: some Sequence<UInt8>) -> [String] {
    let path = Array(start.utf8) + rest.prefix(600).map { $0 == 0 ? 1 : $0 }
    turn.lock()
    defer { turn.unlock() }
    var reading = TreeReading(tree)
    reading.visit(path.split(separator: 0x2f).map { FileName($0.prefix(255)) })
    return reading.complaints
  }
}
