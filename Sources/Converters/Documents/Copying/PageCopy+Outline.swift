internal import Catalogue
internal import WorkerKit

/// A document's outline as part of another document's (ISO 32000-1, 12.3.3).
extension PageCopy {
  /// The outline properties that the parent entry contains.
  struct Outline {
    let first: Int
    let last: Int
    /// The number of entries that are visible when the parent is open.
    let count: Int
  }

  private struct Entry {
    let text: ObjectText
    let isOpen: Bool
    var kids: [Entry]
  }

  /// The maximum number of entries. More entries, or deeper ones, mean a loop or are of no use to a reader.
  private static let mostEntries = 1 << 16
  private static let deepest = 64

  /// Writes the entries below an entry of another document. Returns `nil` if there are none.
  mutating func addOutline(below parent: Int) throws(JobFailure) -> Outline? {
    guard let top = file.root["/Outlines"]?.id else { return nil }
    var seen: Set<PDFObject.ID> = []
    let entries = entries(below: objects.object(top).text, depth: 0, &seen)
    defer { file.releaseObjects() }
    return try write(entries, below: parent)
  }

  private func entries(below text: ObjectText, depth: Int, _ seen: inout Set<PDFObject.ID>) -> [Entry] {
    var entries: [Entry] = []
    var next = depth < Self.deepest ? text.reference(for: "/First") : nil
    while let id = next, seen.count < Self.mostEntries, seen.insert(id).inserted {
      let text = objects.object(id).text
      guard text.isDictionary else { break }
      let kids = self.entries(below: text, depth: depth + 1, &seen)
      entries.append(Entry(text: text, isOpen: text.integer(for: "/Count") ?? 0 > 0, kids: kids))
      next = text.reference(for: "/Next")
    }
    return entries
  }

  private mutating func write(_ entries: [Entry], below parent: Int) throws(JobFailure) -> Outline? {
    let numbers = entries.map { _ in writer.reserve() }
    guard let first = numbers.first, let last = numbers.last else { return nil }
    var count = entries.count
    for (index, entry) in entries.enumerated() {
      let kids = try write(entry.kids, below: numbers[index])
      let rest = entry.text.without(["/Parent", "/Prev", "/Next", "/First", "/Last", "/Count", "/SE"])
      var text = translated(rest).dropLast(2) + Array(" /Parent \(parent) 0 R".utf8)
      if index > 0 { text += " /Prev \(numbers[index - 1]) 0 R".utf8 }
      if index + 1 < numbers.count { text += " /Next \(numbers[index + 1]) 0 R".utf8 }
      if let kids {
        text += " /First \(kids.first) 0 R /Last \(kids.last) 0 R /Count \(entry.isOpen ? "" : "-")\(kids.count)".utf8
        if entry.isOpen { count += kids.count }
      }
      try writer.write(numbers[index], Array(text + Array(" >>".utf8)))
      try writeWaiting()
    }
    return Outline(first: first, last: last, count: count)
  }
}
