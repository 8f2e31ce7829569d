/// The adaptive binary arithmetic coder of ITU-T T.88, Annex E: the cost of each bit depends on its probability in its
/// context.
struct ArithmeticCoder {
  /// The transition of a context in a state. A state is stored times two, plus its more probable bit.
  private struct Step {
    let size: UInt32
    let afterProbable: UInt8
    let afterOther: UInt8
  }

  /// Qe, the next state after the more and the less probable bit, and whether the more probable bit switches, by state
  /// (table E.1).
  private static let states: [(UInt32, UInt8, UInt8, Bool)] = [
    (0x5601, 1, 1, true), (0x3401, 2, 6, false), (0x1801, 3, 9, false), (0x0AC1, 4, 12, false),
    (0x0521, 5, 29, false), (0x0221, 38, 33, false), (0x5601, 7, 6, true), (0x5401, 8, 14, false),
    (0x4801, 9, 14, false), (0x3801, 10, 14, false), (0x3001, 11, 17, false), (0x2401, 12, 18, false),
    (0x1C01, 13, 20, false), (0x1601, 29, 21, false), (0x5601, 15, 14, true), (0x5401, 16, 14, false),
    (0x5101, 17, 15, false), (0x4801, 18, 16, false), (0x3801, 19, 17, false), (0x3401, 20, 18, false),
    (0x3001, 21, 19, false), (0x2801, 22, 19, false), (0x2401, 23, 20, false), (0x2201, 24, 21, false),
    (0x1C01, 25, 22, false), (0x1801, 26, 23, false), (0x1601, 27, 24, false), (0x1401, 28, 25, false),
    (0x1201, 29, 26, false), (0x1101, 30, 27, false), (0x0AC1, 31, 28, false), (0x09C1, 32, 29, false),
    (0x08A1, 33, 30, false), (0x0521, 34, 31, false), (0x0441, 35, 32, false), (0x02A1, 36, 33, false),
    (0x0221, 37, 34, false), (0x0141, 38, 35, false), (0x0111, 39, 36, false), (0x0085, 40, 37, false),
    (0x0049, 41, 38, false), (0x0025, 42, 39, false), (0x0015, 43, 40, false), (0x0009, 44, 41, false),
    (0x0005, 45, 42, false), (0x0001, 45, 43, false), (0x5601, 46, 46, false),
  ]

  private static let steps: [Step] = states.flatMap { size, probable, other, isSwitch in
    (0..<2).map { bit -> Step in
      let bit = UInt8(bit)
      return Step(size: size, afterProbable: probable << 1 | bit, afterOther: other << 1 | (isSwitch ? 1 - bit : bit))
    }
  }

  /// The state of each context. Contexts start in state 0.
  private var contexts: [UInt8]
  private let steps = ArithmeticCoder.steps
  private var interval: UInt32 = 0x8000
  private var code: UInt32 = 0
  private var shifts: UInt32 = 12
  /// The coded bytes, except the last one, which a carry can still change.
  private(set) var bytes: [UInt8] = []
  private var last: UInt8?

  init(contexts count: Int) { contexts = [UInt8](repeating: 0, count: count) }

  @inline(__always)
  mutating func code(_ bit: UInt8, in context: Int) {
    let state = contexts[context]
    let step = steps[Int(state)]
    interval &-= step.size
    if state & 1 == bit {
      if interval & 0x8000 != 0 {
        code &+= step.size
        return
      }
      if interval < step.size { interval = step.size } else { code &+= step.size }
      contexts[context] = step.afterProbable
    } else {
      if interval < step.size { code &+= step.size } else { interval = step.size }
      contexts[context] = step.afterOther
    }
    repeat {
      interval <<= 1
      code <<= 1
      shifts &-= 1
      if shifts == 0 { emit() }
    } while interval & 0x8000 == 0
  }

  private mutating func emit() {
    if last != 0xFF, code >= 0x800_0000 {
      last = last.map { $0 &+ 1 }
      code &= 0x7FF_FFFF
    }
    if let last { bytes.append(last) }
    if last == 0xFF {
      last = UInt8(truncatingIfNeeded: code >> 20)
      code &= 0xF_FFFF
      shifts = 7
    } else {
      last = UInt8(truncatingIfNeeded: code >> 19)
      code &= 0x7_FFFF
      shifts = 8
    }
  }

  /// Ends the code with its marker.
  mutating func finish() {
    let top = code &+ interval
    code |= 0xFFFF
    if code >= top { code &-= 0x8000 }
    for _ in 0..<2 {
      code <<= shifts
      emit()
    }
    if let last, last != 0xFF { bytes.append(last) }
    bytes += [0xFF, 0xAC]
  }
}
