/// A fuzzer's input as a sequence of choices; zeros after its end.
struct Choices {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// A number from 0 up to, but not including, `bound`, which is 256 at most.
  mutating func below(_ bound: Int) -> Int { Int(byte()) % bound }

  mutating func one<Element>(of elements: [Element]) -> Element { elements[below(min(256, elements.count))] }

  mutating func bytes(upTo count: Int) -> [UInt8] {
    let taken = Array(rest.prefix(count))
    rest = rest.dropFirst(count)
    return taken
  }

  mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

  /// Numbers near overflow, by one step or by several.
  private static let limits: [UInt64] = {
    let powers: [UInt64] = [8, 16, 31, 32, 40, 53, 55, 56, 57, 59, 60, 61, 62, 63].map { 1 << $0 }
    let steps: [Int64] = [-4097, -512, -511, -30, -1, 0, 1, 30, 4096]
    return powers.flatMap { power in steps.map { power &+ UInt64(bitPattern: $0) } } + [
      .max, .max - 1, .max - 511, 0, 1,
    ]
  }()

  /// An unusual number: near a limit, small, or random.
  mutating func number() -> UInt64 {
    switch below(4) {
    case 0, 1: return one(of: Self.limits)
    case 2: return UInt64(byte())
    default: return word()
    }
  }

  mutating func signed() -> Int64 { Int64(bitPattern: number()) }
}
