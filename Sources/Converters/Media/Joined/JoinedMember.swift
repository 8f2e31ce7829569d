internal import Catalogue
internal import WorkerKit

/// A file of a directory that is to be joined with others. It is opened when it is read, since a directory can have
/// more files than can be open.
struct JoinedMember {
  let name: String
  private let order: JobOrder
  private let start: Int64
  private let size: Int64

  /// The maximum number of files.
  private static let most = 10_000

  static func all(of order: JobOrder) throws(JobFailure) -> [JoinedMember] {
    let members = try order.members()
    guard members.count <= most else { throw JobFailure(.limit, "has more than \(most) files to be joined") }
    return members.map { JoinedMember(name: $0.name, order: order, start: $0.start, size: $0.size) }
  }

  private init(name: String, order: JobOrder, start: Int64, size: Int64) {
    (self.name, self.order, self.start, self.size) = (name, order, start, size)
  }

  func open() throws(JobFailure) -> JobInput {
    let input = try order.input(from: start, size: size)
    if let reason = input.failure(of: name) { throw JobFailure(.damaged, reason) }
    return input
  }

  /// The name without its extension.
  var stem: String { name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name }
}

/// The files of a directory: those that are parts of the result, and the reasons for omitting the others.
struct JoinedParts<Part> {
  private(set) var parts: [Part] = []
  private var leftOut: [String] = []

  /// Calls `body` with each file. Omits files for which it throws, and records the reason. Throws the first failure if
  /// no file can be used.
  init(_ members: [JoinedMember], _ body: (JoinedMember) throws(JobFailure) -> Part) throws(JobFailure) {
    var first: JobFailure?
    for member in members {
      do throws(JobFailure) { parts.append(try body(member)) } catch {
        // These failures are not caused by a file.
        if [.memory, .system].contains(error.failure) { throw error.about(member.name) }
        first = first ?? error.about(member.name)
        leftOut.append("\(member.name) \(error.reason)")
      }
    }
    guard !parts.isEmpty else { throw first ?? JobFailure(.unsupported, "has nothing in it that can be joined") }
  }

  /// Returns the end of a sentence that begins with the directory's name.
  func remark(_ how: String) -> String {
    let all = "is made of \(parts.count) files, \(how)"
    if leftOut.isEmpty { return all }
    let more = leftOut.count > 3 ? " and \(leftOut.count - 3) more" : ""
    return "\(all); left out: \(leftOut.prefix(3).joined(separator: ", "))\(more)"
  }
}
