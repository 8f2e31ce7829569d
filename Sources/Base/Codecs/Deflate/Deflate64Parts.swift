internal import Bytes

/// Reads bits from an input, least significant bit first.
struct BitReader {
  /// The offset of the next input byte that is not in `bits` yet.
  var position = 0
  private var bits: UInt64 = 0
  private(set) var count = 0

  /// Starts a new input, which begins with the first unconsumed byte of the previous one.
  mutating func start() { position = 0 }

  /// Gives whole bytes back to the input. Returns the number of consumed bytes.
  mutating func finish() -> Int {
    giveBack()
    return position
  }

  mutating func giveBack() {
    let whole = min(count >> 3, position)
    position -= whole
    count -= whole << 3
    bits &= (1 << UInt64(count)) &- 1
  }

  func bytesLeft(_ input: RawSpan) -> Int { input.byteCount - position }

  /// Fills the buffer to at least 56 bits, fewer only at the input's end.
  @inline(__always)
  mutating func refill(_ input: RawSpan) {
    if position &+ 8 <= input.byteCount {
      // Any bit pattern is a value of an integer.
      let word = unsafe input.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self)
      bits |= UInt64(littleEndian: word) &<< UInt64(count)
      let taken = (63 &- count) &>> 3
      position &+= taken
      count &+= taken &<< 3
      return
    }
    while count <= 56, position < input.byteCount {
      bits |= UInt64(input.byte(at: position)) &<< UInt64(count)
      position += 1
      count += 8
    }
  }

  /// Returns the next bits without consuming them. Bits beyond the end are 0.
  @inline(__always)
  func peek(_ width: Int) -> Int { Int(truncatingIfNeeded: bits & ((1 &<< UInt64(width)) &- 1)) }

  /// Consumes bits, which must be available.
  @inline(__always)
  mutating func drop(_ width: Int) {
    bits &>>= UInt64(width)
    count &-= width
  }

  /// Consumes and returns bits. Returns `nil` if not enough are available.
  @inline(__always)
  mutating func take(_ width: Int) -> Int? {
    guard width <= count else { return nil }
    let value = peek(width)
    drop(width)
    return value
  }

  /// Skips to the next byte boundary.
  mutating func align() { drop(count & 7) }
}

/// A canonical Huffman code (RFC 1951, 3.2.2).
struct HuffmanCode {
  /// The entries, by the next ten bits: the symbol times 16, plus the length of its code. 0 if the code is longer or
  /// undefined.
  private var table = [UInt16](repeating: 0, count: 1 << quickBits)
  /// The number of codes by length.
  private var counts = [Int](repeating: 0, count: longest + 1)
  /// The symbols, in code order.
  private var symbols: [UInt16] = []

  private static let quickBits = 10
  private static let longest = 15

  /// Builds the code from the lengths of its symbols. Throws if no code can have these lengths.
  ///
  /// An incomplete code is accepted: a block that uses only its symbols is valid.
  mutating func build(_ lengths: some Collection<UInt8>) throws(Fault) {
    for index in counts.indices { counts[index] = 0 }
    for length in lengths { counts[Int(length)] += 1 }
    counts[0] = 0
    var offsets = [Int](repeating: 0, count: Self.longest + 2)
    var codes = [Int](repeating: 0, count: Self.longest + 2)
    for length in 1...Self.longest {
      offsets[length + 1] = offsets[length] + counts[length]
      codes[length + 1] = (codes[length] + counts[length]) << 1
      guard codes[length] + counts[length] <= 1 << length else {
        throw Fault(.damaged, "expected Deflate64 data, found too many codes of one length")
      }
    }
    symbols = [UInt16](repeating: 0, count: offsets[Self.longest + 1])
    for index in table.indices { table[index] = 0 }
    var symbol: UInt16 = 0
    for length in lengths {
      let length = Int(length)
      if length > 0 {
        symbols[offsets[length]] = symbol
        offsets[length] += 1
        if length <= Self.quickBits { enter(symbol, codes[length], length) }
        codes[length] += 1
      }
      symbol += 1
    }
  }

  /// Enters a short code, bit-reversed, at every index that starts with it.
  private mutating func enter(_ symbol: UInt16, _ code: Int, _ length: Int) {
    var reversed = 0
    for bit in 0..<length where code >> bit & 1 == 1 { reversed |= 1 << (length - 1 - bit) }
    for index in stride(from: reversed, to: 1 << Self.quickBits, by: 1 << length) {
      table[index] = symbol << 4 | UInt16(length)
    }
  }

  /// Returns the next symbol. Returns `nil` if its bits are incomplete. Throws if they do not encode a symbol.
  @inline(__always)
  func decode(_ bits: inout BitReader) throws(Fault) -> Int? {
    let entry = Int(table[bits.peek(Self.quickBits)])
    guard entry != 0 else { return try decodeLong(&bits) }
    guard entry & 15 <= bits.count else { return nil }
    bits.drop(entry & 15)
    return entry >> 4
  }

  private func decodeLong(_ bits: inout BitReader) throws(Fault) -> Int? {
    let all = bits.peek(Self.longest)
    var code = 0
    var first = 0
    var index = 0
    for length in 1...Self.longest {
      guard length <= bits.count else { return nil }
      code |= all >> (length - 1) & 1
      if code - first < counts[length] {
        bits.drop(length)
        return Int(symbols[index + code - first])
      }
      index += counts[length]
      first = (first + counts[length]) << 1
      code <<= 1
    }
    throw Fault(.damaged, "expected Deflate64 data, found an invalid symbol")
  }
}

/// A window of at least the last 64 KiB of output, with space to append more.
struct Deflate64Window {
  private(set) var bytes = [UInt8](repeating: 0, count: reach * 5)
  /// The offset after the last byte of output.
  private(set) var end = 0

  private static let reach = 64 << 10

  var capacity: Int { bytes.count }
  /// The maximum distance of a match.
  var filled: Int { end }

  /// Moves the window to the front when the buffer is full.
  mutating func makeRoom() {
    guard end == bytes.count else { return }
    bytes.replaceSubrange(0..<Self.reach, with: bytes[(bytes.count - Self.reach)...])
    end = Self.reach
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    bytes[end] = byte
    end &+= 1
  }

  mutating func append(_ span: RawSpan) {
    for index in 0..<span.byteCount { append(span.byte(at: index)) }
  }

  /// Appends `count` bytes that start `distance` bytes before the end. Source and target may overlap.
  @inline(__always)
  mutating func copy(_ count: Int, from distance: Int) {
    var source = end &- distance
    precondition(source >= 0 && count >= 0 && end &+ count <= bytes.count)
    var target = end
    end &+= count
    while target < end {
      bytes[target] = bytes[source]
      target &+= 1
      source &+= 1
    }
  }
}
