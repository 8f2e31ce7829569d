import Text

/// Writes values as JSON (RFC 8259): `Codable` plain types, directly to bytes.
enum JSONWriter {
  static func bytes(of value: some Encodable) -> [UInt8] {
    let output = JSONOutput()
    // No type here throws when it is encoded.
    try? value.encode(to: output)
    return output.bytes
  }

  /// Returns whether a text needs no escaping in JSON.
  static func isPlain(_ text: Span<UInt8>) -> Bool {
    for place in text.indices where isEscaped(text[place]) { return false }
    return true
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "<") || byte == 0x7f
  }

  /// Appends the contents of a string. Escaped text cannot end an enclosing script element.
  static func append(escaped text: Span<UInt8>, to bytes: inout [UInt8]) {
    var start = 0
    for place in text.indices {
      let byte = text[place]
      guard isEscaped(byte) else { continue }
      append(text.extracting(start..<place), to: &bytes)
      start = place + 1
      switch byte {
      case UInt8(ascii: "\""): append("\\\"", to: &bytes)
      case UInt8(ascii: "\\"): append("\\\\", to: &bytes)
      case UInt8(ascii: "\n"): append("\\n", to: &bytes)
      case UInt8(ascii: "\t"): append("\\t", to: &bytes)
      default:
        append("\\u00", to: &bytes)
        bytes += [hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      }
    }
    append(text.extracting(start..<text.count), to: &bytes)
  }

  static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) {
    unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
  }

  static func append(_ text: StaticString, to bytes: inout [UInt8]) {
    unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private static let hex = Array("0123456789abcdef".utf8)
}

/// The text so far. For one thread.
private final class JSONOutput: Encoder {
  var bytes: [UInt8] = []
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(JSONObject<Key>(self))
  }
  func unkeyedContainer() -> any UnkeyedEncodingContainer { JSONArray(self) }
  func singleValueContainer() -> any SingleValueEncodingContainer { JSONSingle(output: self) }

  func append(_ text: StaticString) { JSONWriter.append(text, to: &bytes) }

  func appendValue(_ value: some Encodable) throws {
    switch value {
    case let text as String: quote(text)
    case let number as Int64: append(number)
    case let number as Int: append(Int64(number))
    case let flag as Bool: append(flag ? "true" : "false")
    default: try value.encode(to: self)
    }
  }

  func append(_ number: Int64) { bytes.append(contentsOf: String(number).utf8) }

  func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    JSONWriter.append(escaped: text.utf8.span, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }
}

/// Appends the end of an object or array when nothing more can be added.
private final class JSONEnd {
  let output: JSONOutput
  let text: StaticString
  var isEmpty = true

  init(_ output: JSONOutput, _ start: StaticString, _ end: StaticString) {
    self.output = output
    text = end
    output.append(start)
  }

  func separate() {
    if !isEmpty { output.append(",") }
    isEmpty = false
  }

  deinit { output.append(text) }
}

private struct JSONObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let end: JSONEnd
  var codingPath: [any CodingKey] { [] }

  init(_ output: JSONOutput) { end = JSONEnd(output, "{", "}") }

  private func key(_ key: Key) -> JSONOutput {
    end.separate()
    end.output.quote(key.stringValue)
    end.output.append(":")
    return end.output
  }

  func encodeNil(forKey key: Key) { self.key(key).append("null") }
  func encode(_ value: Bool, forKey key: Key) { self.key(key).append(value ? "true" : "false") }
  func encode(_ value: String, forKey key: Key) { self.key(key).quote(value) }
  func encode(_ value: Int, forKey key: Key) { self.key(key).append(Int64(value)) }
  func encode(_ value: Int64, forKey key: Key) { self.key(key).append(value) }
  func encode(_ value: some Encodable, forKey key: Key) throws { try self.key(key).appendValue(value) }

  func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(JSONObject<Nested>(self.key(key)))
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { JSONArray(self.key(key)) }
  func superEncoder() -> any Encoder { end.output }
  func superEncoder(forKey key: Key) -> any Encoder { self.key(key) }
}

private struct JSONArray: UnkeyedEncodingContainer {
  let end: JSONEnd
  var codingPath: [any CodingKey] { [] }
  var count = 0

  init(_ output: JSONOutput) { end = JSONEnd(output, "[", "]") }

  private mutating func next() -> JSONOutput {
    end.separate()
    count += 1
    return end.output
  }

  mutating func encodeNil() { next().append("null") }
  mutating func encode(_ value: some Encodable) throws { try next().appendValue(value) }

  mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(JSONObject<Nested>(next()))
  }
  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { JSONArray(next()) }
  mutating func superEncoder() -> any Encoder { next() }
}

private struct JSONSingle: SingleValueEncodingContainer {
  let output: JSONOutput
  var codingPath: [any CodingKey] { [] }

  func encodeNil() { output.append("null") }
  func encode(_ value: Bool) { output.append(value ? "true" : "false") }
  func encode(_ value: String) { output.quote(value) }
  func encode(_ value: Double) { output.bytes.append(contentsOf: "\(value)".utf8) }
  func encode(_ value: Float) { output.bytes.append(contentsOf: "\(value)".utf8) }
  func encode(_ value: Int) { output.append(Int64(value)) }
  func encode(_ value: Int8) { output.append(Int64(value)) }
  func encode(_ value: Int16) { output.append(Int64(value)) }
  func encode(_ value: Int32) { output.append(Int64(value)) }
  func encode(_ value: Int64) { output.append(value) }
  func encode(_ value: UInt) { output.bytes.append(contentsOf: String(value).utf8) }
  func encode(_ value: UInt8) { output.append(Int64(value)) }
  func encode(_ value: UInt16) { output.append(Int64(value)) }
  func encode(_ value: UInt32) { output.append(Int64(value)) }
  func encode(_ value: UInt64) { output.bytes.append(contentsOf: String(value).utf8) }
  func encode(_ value: some Encodable) throws { try value.encode(to: output) }
}
