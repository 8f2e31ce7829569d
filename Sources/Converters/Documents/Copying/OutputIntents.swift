internal import Bytes

/// The output intents of a document (ISO 32000-1, 14.11.5), which determine how colors without a profile are rendered.
struct OutputIntents {
  /// The array, or a reference to it.
  let text: ObjectText
  /// A hash that is equal for equal intents, independent of the numbers of their objects.
  let digest: UInt64

  /// Returns `nil` if the document has none.
  init?(_ catalog: PDFObject) {
    guard let value = catalog["/OutputIntents"] else { return nil }
    text = ObjectText(value.text)
    var hash = StableHash()
    for intent in value.items {
      for entry in intent.keys.sorted() {
        guard let item = intent[entry] else { continue }
        hash.combine(entry.utf8)
        hash.combine(item.isStream ? (try? item.data()) ?? [] : item.ownText)
      }
    }
    digest = hash.value
  }
}
