internal import Catalogue
internal import WorkerKit

/// The files attached to a document as a whole (ISO 32000-1, 7.11.4).
extension PageCopy {
  /// A name's bytes, and the text of its value in the new document.
  typealias Attachment = (name: [UInt8], file: [UInt8])

  /// The maximum number of attachments. More mean damage.
  private static let mostAttachments = 1 << 16

  /// Writes the attachments. Returns their names in the order of the name tree.
  mutating func addAttachments() throws(JobFailure) -> [Attachment] {
    guard let top = file.root["/Names"]?["/EmbeddedFiles"]?.text else { return [] }
    var attachments: [Attachment] = []
    var seen: Set<PDFObject.ID> = []
    var waiting = [objects.resolved(top[...])]
    while let node = waiting.popLast(), attachments.count < Self.mostAttachments {
      let kids = node.value(of: "/Kids").map { objects.resolved($0).references } ?? []
      waiting += kids.reversed().filter { seen.insert($0.id).inserted }.map { objects.object($0.id).text }
      let names = node.value(of: "/Names").map { ObjectText.items(objects.resolved($0).bytes[...]) } ?? []
      for index in stride(from: 0, to: names.count - 1, by: 2) {
        guard let name = ObjectText.string(names[index]) else { continue }
        attachments.append((name, translated(ObjectText(Array(names[index + 1])))))
        try writeWaiting()
      }
    }
    return attachments
  }
}
