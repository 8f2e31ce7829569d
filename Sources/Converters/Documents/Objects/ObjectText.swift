/// The text of one object with the ranges of its references, for copying into another file.
struct ObjectText {
  struct Reference {
    /// The range of `12 0 R` in the text.
    let range: Range<Int>
    let id: PDFObject.ID
  }

  /// A dictionary's key, with its slash, and value, as ranges of the text.
  struct Entry {
    let key: Range<Int>
    let value: Range<Int>
  }

  let bytes: [UInt8]
  let references: [Reference]
  /// The entries of the dictionary itself, not of nested ones. Empty if the object is not a dictionary.
  let entries: [Entry]
  /// The ranges of this document's destination names: the strings and names that are values of `/D` or `/Dest`, at any
  /// depth, except in actions that refer to other files.
  let destinations: [Range<Int>]

  /// - Parameter text: as written by libqpdf, so that it is well formed.
  init(_ text: [UInt8]) {
    var scan = ObjectScan(text)
    scan.run()
    self.init(scan)
  }

  /// Returns `nil` if libqpdf might write the object differently, apart from white space.
  ///
  /// - Parameter text: as found in a file.
  init?(sound text: ArraySlice<UInt8>) {
    let inner = text.drop(while: ObjectScan.isBlank)
    let blanks = inner.reversed().prefix(while: ObjectScan.isBlank).count
    var scan = ObjectScan(Array(inner.dropLast(blanks)))
    scan.syntax = ObjectSyntax()
    scan.run()
    guard scan.syntax?.isComplete == true else { return nil }
    self.init(scan)
  }

  private init(_ scan: ObjectScan) {
    bytes = scan.bytes
    references = scan.references
    entries = scan.entries
    destinations = scan.destinations.names
  }

  var isDictionary: Bool { bytes.starts(with: "<<".utf8) }

  func value(of key: String) -> ArraySlice<UInt8>? {
    let count = key.utf8.count
    return entries.first { $0.key.count == count && bytes[$0.key].elementsEqual(key.utf8) }.map { bytes[$0.value] }
  }

  /// Returns whether the value exists and is not null.
  func hasValue(for key: String) -> Bool { !(value(of: key)?.elementsEqual("null".utf8) ?? true) }

  func has(_ name: String, for key: String) -> Bool { value(of: key)?.elementsEqual(name.utf8) ?? false }

  func mentions(_ name: String) -> Bool {
    let name = Array(name.utf8)
    return bytes.indices.contains { bytes[$0] == name.first && bytes[$0...].starts(with: name) }
  }

  /// Returns the items of an array. Empty if it is not an array.
  static func items(_ array: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    guard array.first == 0x5B else { return [] }
    var scan = ObjectScan(Array(array))
    scan.items = []
    scan.run()
    return (scan.items ?? []).map { scan.bytes[$0] }
  }

  /// Returns the reference that is the whole value of a key. Returns `nil` for any other value.
  func reference(for key: String) -> PDFObject.ID? {
    guard let value = value(of: key) else { return nil }
    return references.first { $0.range == value.indices }?.id
  }

  /// Returns the integer that is the value of a key.
  func integer(for key: String) -> Int? { value(of: key).flatMap { Int(String(decoding: $0, as: UTF8.self)) } }

  /// Returns the dictionary without some of its keys.
  func without(_ keys: [String]) -> ObjectText {
    keeping { key in !keys.contains { key.elementsEqual($0.utf8) } }
  }

  /// Returns the dictionary with only some of its keys.
  func keeping(_ isKept: (ArraySlice<UInt8>) -> Bool) -> ObjectText {
    let kept = entries.filter { isKept(bytes[$0.key]) }
    if kept.count == entries.count { return self }
    var text = Array("<< ".utf8)
    for entry in kept {
      text += bytes[entry.key.lowerBound..<entry.value.upperBound]
      text.append(0x20)
    }
    text += ">>".utf8
    return ObjectText(text)
  }
}

extension ObjectText {
  /// A stream's dictionary without its leading `/Crypt` filter, if any. Copied data is decrypted.
  var withoutCryptFilter: ObjectText {
    guard let filter = value(of: "/Filter"), filter.elementsEqual("/Crypt".utf8) || ObjectText.isCrypt(first: filter)
    else { return self }
    var text = without(["/Filter", "/DecodeParms"]).bytes.dropLast(2)
    for key in ["/Filter", "/DecodeParms"] {
      guard let value = value(of: key), value.first == 0x5B else { continue }
      text +=
        Array("\(key) [ ".utf8) + ObjectText.items(value).dropFirst().joined(separator: [0x20]) + Array(" ] ".utf8)
    }
    return ObjectText(Array(text) + Array(">>".utf8))
  }

  private static func isCrypt(first filters: ArraySlice<UInt8>) -> Bool {
    items(filters).first?.elementsEqual("/Crypt".utf8) ?? false
  }
}

/// A single pass over the tokens of an object.
private struct ObjectScan {
  let bytes: [UInt8]
  /// The checker for text that may be malformed. Nil for text from libqpdf.
  var syntax: ObjectSyntax?
  var references: [ObjectText.Reference] = []
  var entries: [ObjectText.Entry] = []
  var destinations: DestinationScan
  /// The items of an array, if requested.
  var items: [Range<Int>]?

  private var at = 0
  private var depth = 0
  /// The key at a dictionary's top level that has no value yet, or an incomplete one.
  private var key: Range<Int>?
  private var value: Range<Int>?
  /// The preceding tokens, if they were integers.
  private var numbers: (first: Range<Int>?, second: Range<Int>?)
  private let isDictionary: Bool

  init(_ text: [UInt8]) {
    bytes = text
    destinations = DestinationScan(text)
    isDictionary = text.starts(with: "<<".utf8)
  }

  mutating func run() {
    while at < bytes.count {
      if ObjectScan.isBlank(bytes[at]) {
        at += 1
        continue
      }
      let start = at
      let before = depth
      let isNumber = token()
      syntax?.take(bytes[start..<at], isNumber: isNumber)
      place(start..<at, before: before)
      if items != nil { addItem(start..<at, before: before) }
      destinations.take(start..<at)
      if isNumber {
        numbers = (numbers.second, start..<at)
      } else {
        if bytes[start] == 0x52, at == start + 1 { refer(upTo: at) }
        numbers = (nil, nil)
      }
    }
  }

  /// Advances over one token. Returns whether it is an integer.
  private mutating func token() -> Bool {
    let byte = bytes[at]
    switch byte {
    case 0x28:
      at = endOfString()
    case 0x3C, 0x3E:
      let isDouble = at + 1 < bytes.count && bytes[at + 1] == byte
      if isDouble {
        depth += byte == 0x3C ? 1 : -1
        at += 2
      } else {
        at = (bytes[at...].firstIndex(of: 0x3E) ?? bytes.count - 1) + 1
      }
    case 0x5B, 0x5D:
      depth += byte == 0x5B ? 1 : -1
      at += 1
    default:
      let start = at
      at += 1
      while at < bytes.count, !ObjectScan.isDelimiter(bytes[at]) { at += 1 }
      return bytes[start..<at].allSatisfy { (0x30...0x39).contains($0) }
    }
    return false
  }

  /// Adds a token to its entry.
  private mutating func place(_ token: Range<Int>, before: Int) {
    guard isDictionary, min(before, depth) >= 1 || before == 1 else { return }
    if depth == 0 {
      finish()
    } else if before == 1, depth == 1, bytes[token.lowerBound] == 0x2F, key == nil || value != nil {
      finish()
      key = token
    } else if key != nil {
      value = (value?.lowerBound ?? token.lowerBound)..<token.upperBound
    }
  }

  private mutating func addItem(_ token: Range<Int>, before: Int) {
    if before == 1, depth == 1, bytes[token.lowerBound] == 0x52, token.count == 1, let first = numbers.first {
      // The numbers of a reference were added as items.
      items?.removeLast(2)
      items?.append(first.lowerBound..<token.upperBound)
    } else if before == 1, depth >= 1 {
      items?.append(token)
    } else if before == 2, depth == 1, let start = items?.popLast()?.lowerBound {
      items?.append(start..<token.upperBound)
    }
  }

  private mutating func finish() {
    if let key, let value { entries.append(ObjectText.Entry(key: key, value: value)) }
    key = nil
    value = nil
  }

  private mutating func refer(upTo end: Int) {
    guard let first = numbers.first, let second = numbers.second,
      let number = Int32(String(decoding: bytes[first], as: UTF8.self)),
      let generation = Int32(String(decoding: bytes[second], as: UTF8.self))
    else { return }
    references.append(
      ObjectText.Reference(
        range: first.lowerBound..<end, id: PDFObject.ID(number: number, generation: generation)))
  }

  /// Returns the end of a literal string, which may contain nested and escaped brackets.
  private func endOfString() -> Int {
    var end = at
    var open = 0
    while end < bytes.count {
      switch bytes[end] {
      case 0x5C: end += 1
      case 0x28: open += 1
      case 0x29:
        open -= 1
        if open == 0 { return end + 1 }
      default: break
      }
      end += 1
    }
    return bytes.count
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) || byte == 0 }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x28, 0x29, 0x2F, 0x3C, 0x3E, 0x5B, 0x5D: true
    default: isBlank(byte)
    }
  }
}

extension ObjectText {
  /// Returns the text with its references replaced, one replacement for each of `references`.
  func replacingReferences(with replacements: [[UInt8]]) -> [UInt8] {
    if references.isEmpty { return bytes }
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count + 16)
    var end = 0
    for (reference, replacement) in zip(references, replacements) {
      text += bytes[end..<reference.range.lowerBound]
      text += replacement
      end = reference.range.upperBound
    }
    return text + bytes[end...]
  }
}
