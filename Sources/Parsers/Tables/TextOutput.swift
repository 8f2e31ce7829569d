/// An append-only text buffer.
@safe struct TextOutput: ~Copyable {
  private var start: UnsafeMutablePointer<UInt8>
  private var count = 0
  private var capacity: Int

  /// - Parameter capacity: The initial capacity, in bytes. It grows as needed.
  init(capacity: Int) {
    self.capacity = max(64, capacity)
    unsafe start = .allocate(capacity: self.capacity)
  }

  deinit { unsafe start.deallocate() }

  /// A copy of the text.
  var bytes: [UInt8] { unsafe Array(UnsafeBufferPointer(start: start, count: count)) }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if capacity - count < more { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    capacity = max(2 * capacity, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    unsafe larger.update(from: start, count: count)
    unsafe start.deallocate()
    unsafe start = larger
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe start[count] = byte
    count += 1
  }

  @inline(__always)
  mutating func append(_ text: Span<UInt8>) {
    reserve(text.count)
    if text.count < 16 {
      for index in text.indices { unsafe start[count + index] = text[index] }
    } else {
      unsafe text.withUnsafeBufferPointer { from in
        if let base = from.baseAddress { unsafe (start + count).update(from: base, count: from.count) }
      }
    }
    count += text.count
  }

  @inline(__always)
  mutating func append(literal text: StaticString) {
    reserve(text.utf8CodeUnitCount)
    unsafe (start + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    count += text.utf8CodeUnitCount
  }

  mutating func append(_ text: String) { append(Array(text.utf8).span) }

  mutating func append(_ byte: UInt8, times: Int) {
    guard times > 0 else { return }
    reserve(times)
    unsafe (start + count).update(repeating: byte, count: times)
    count += times
  }
}
