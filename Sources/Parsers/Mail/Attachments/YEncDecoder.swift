/// Decodes the lines between `=ybegin` (and `=ypart`) and `=yend` of yEnc 1.3.
///
/// Line ends are ignored everywhere. A line that starts with `=y` ends the data.
public struct YEncDecoder: TransferDecoder {
  public static var number: UInt64 { 5 }

  private enum State {
    case lineStart
    case inLine
    /// After a `=`, at the start of a line or not.
    case escape(atLineStart: Bool)
    case done
  }
  private var state = State.lineStart

  public init() {}

  public mutating func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool
  ) -> (used: Int, made: Int) {
    precondition(output.count >= input.count)
    var to = 0
    loop: for index in 0..<input.count {
      let byte = unsafe input[index]
      switch state {
      case .done: break loop
      case .escape(true) where byte == 0x79: state = .done
      case .escape:
        unsafe output[to] = byte &- 106
        to += 1
        state = .inLine
      case .lineStart, .inLine:
        if byte == 0x0d || byte == 0x0a {
          state = .lineStart
        } else if byte == 0x3d {
          if case .lineStart = state { state = .escape(atLineStart: true) } else { state = .escape(atLineStart: false) }
        } else {
          unsafe output[to] = byte &- 42
          to += 1
          state = .inLine
        }
      }
    }
    return (input.count, to)
  }
}
