/// References to objects, which get new numbers.
extension PageCopy {
  /// Returns the text with the new object numbers.
  mutating func translated(_ text: ObjectText) -> [UInt8] {
    for name in text.destinations { destinationNames.insert(Array(text.bytes[name])) }
    if member != nil, !text.destinations.isEmpty { return renamed(text) }
    if text.references.isEmpty { return text.bytes }
    var translation: [UInt8] = []
    translation.reserveCapacity(text.bytes.count + 16)
    var end = 0
    for reference in text.references {
      translation += text.bytes[end..<reference.range.lowerBound]
      refer(to: reference.id, in: &translation)
      end = reference.range.upperBound
    }
    translation += text.bytes[end...]
    return translation
  }

  /// Returns the text with the new object numbers and with renamed destinations.
  private mutating func renamed(_ text: ObjectText) -> [UInt8] {
    let marks =
      text.references.map { (range: $0.range, id: PDFObject.ID?.some($0.id)) }
      + text.destinations.map { (range: $0, id: PDFObject.ID?.none) }
    var translation: [UInt8] = []
    var end = 0
    for mark in marks.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      translation += text.bytes[end..<mark.range.lowerBound]
      if let id = mark.id {
        refer(to: id, in: &translation)
      } else {
        let name = Array(text.bytes[mark.range])
        translation += newName(of: name) ?? name
      }
      end = mark.range.upperBound
    }
    return translation + text.bytes[end...]
  }

  mutating func references(to ids: [PDFObject.ID]) -> [UInt8] {
    var list = Array("[ ".utf8)
    for id in ids {
      refer(to: id, in: &list)
      list.append(0x20)
    }
    return list + [0x5D]
  }

  private mutating func refer(to id: PDFObject.ID, in text: inout [UInt8]) {
    guard let number = number(for: id) else {
      text += "null".utf8
      return
    }
    text.append(decimal: number)
    text += " 0 R".utf8
  }

  private mutating func number(for id: PDFObject.ID) -> Int? {
    if let known = numbers[id] { return known }
    let kind = objects.object(id).kind
    let isCopied =
      switch kind {
      case .boundary: false
      case .fields: fields.kids[id] != nil
      case .plain, .stream, .layer: true
      }
    let number = isCopied ? writer.reserve() : nil
    numbers[id] = .some(number)
    if let number { waiting.append((id, number)) }
    return number
  }
}
