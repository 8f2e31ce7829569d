/// Decodes compressed RTF ([MS-OXRTFCP] §2), without its header.
///
/// A reference to the write position ends the data, as does the end of the input at any point.
struct LZFuDecoder: TransferDecoder {
  static var number: UInt64 { 6 }
  /// A two-byte reference expands to up to 17 bytes.
  static var growth: Int { 9 }

  private var ring: [UInt8]
  private var place: Int
  /// The remaining bits of a control byte, one per token, the next one lowest.
  private var control: UInt8 = 0
  private var tokensLeft = 0
  private var isDone = false

  init() {
    ring = Self.dictionary + Array(repeating: 0, count: 4096 - Self.dictionary.count)
    place = Self.dictionary.count
  }

  mutating func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool)
    -> (used: Int, made: Int)
  {
    precondition(output.count >= Self.growth * input.count + 16)
    var from = 0
    var to = 0
    while from < input.count, !isDone {
      if tokensLeft == 0 {
        control = unsafe input[from]
        tokensLeft = 8
        from += 1
        continue
      }
      if control & 1 == 0 {
        unsafe put(input[from], output, &to)
        from += 1
      } else {
        guard from + 1 < input.count else { break }
        let token = unsafe Int(input[from]) << 8 | Int(input[from + 1])
        from += 2
        isDone = token >> 4 == place
        for step in 0..<(isDone ? 0 : token & 15 + 2) { unsafe put(ring[(token >> 4 + step) & 4095], output, &to) }
      }
      control >>= 1
      tokensLeft -= 1
    }
    return (isDone || isLast ? input.count : from, to)
  }

  private mutating func put(_ byte: UInt8, _ output: UnsafeMutableRawBufferPointer, _ to: inout Int) {
    unsafe output[to] = byte
    to += 1
    ring[place] = byte
    place = (place + 1) & 4095
  }

  /// The initial contents of the ring buffer (§2.1.2.1).
  private static let dictionary = Array(
    (#"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"#
      + #"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"# + "\r\n" + #"\par \pard\plain\f0\fs20\b\i\u"#
      + #"\tab\tx"#).utf8)
}
