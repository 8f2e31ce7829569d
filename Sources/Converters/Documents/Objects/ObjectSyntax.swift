/// Checks the tokens of an object: matching brackets, keys that are names and have values, complete references, and
/// nothing ambiguous.
///
/// The check is stricter than a reader needs to be. Objects that fail are left to libqpdf.
struct ObjectSyntax {
  private(set) var isSound = true
  /// The open brackets: whether each is a dictionary's, and whether a key is expected next.
  private var open: [(isDictionary: Bool, wantsKey: Bool)] = []
  /// The number of integers just before that can be part of a reference.
  private var numbers = 0
  private var isDone = false

  /// Whether the object has ended.
  var isComplete: Bool { isSound && isDone && open.isEmpty }

  /// - Parameter isNumber: whether the token is an integer.
  mutating func take(_ token: ArraySlice<UInt8>, isNumber: Bool) {
    guard isSound, let first = token.first, let last = token.last, !isDone else {
      isSound = false
      return
    }
    // At the top level there is exactly one dictionary or array.
    if open.isEmpty, first != 0x5B, first != 0x3C || token.count != 2 {
      isSound = false
      return
    }
    let inDictionary = open.last?.isDictionary ?? false
    if isNumber {
      numbers += 1
      if inDictionary, numbers > 1 {
        isSound = numbers == 2
        return
      }
      return value()
    }
    let before = numbers
    numbers = 0
    if first == 0x52 {
      // The second number of a reference was not taken for a value.
      isSound = token.count == 1 && before >= 2
      return
    }
    if inDictionary, before > 1 {
      isSound = false
      return
    }
    switch first {
    case 0x28: isSound = token.count > 1 && last == 0x29
    case 0x3C where token.count == 2 && last == 0x3C:
      value()
      return open.append((true, true))
    case 0x3C: isSound = last == 0x3E && token.dropFirst().dropLast().allSatisfy(ObjectSyntax.isHex)
    case 0x3E:
      guard token.count == 2, inDictionary, open.popLast()?.wantsKey == true else {
        isSound = false
        return
      }
      isDone = open.isEmpty
      return
    case 0x5B:
      value()
      return open.append((false, false))
    case 0x5D:
      guard !open.isEmpty, !inDictionary else {
        isSound = false
        return
      }
      open.removeLast()
      isDone = open.isEmpty
      return
    case 0x2F:
      isSound = token.count > 1 && token.dropFirst().allSatisfy(ObjectSyntax.isPlain)
      if inDictionary, open[open.count - 1].wantsKey {
        open[open.count - 1].wantsKey = false
        return
      }
    default:
      isSound =
        ["true", "false", "null"].contains { token.elementsEqual($0.utf8) }
        || ObjectSyntax.isReal(token)
    }
    value()
  }

  private mutating func value() {
    if let last = open.last, last.isDictionary {
      if last.wantsKey { isSound = false }
      open[open.count - 1].wantsKey = true
    }
  }

  /// Returns whether a byte is written without an escape in a name.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && ![0x23, 0x25, 0x7B, 0x7D].contains(byte)
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }

  private static func isReal(_ token: ArraySlice<UInt8>) -> Bool {
    let digits = token.first == 0x2D || token.first == 0x2B ? token.dropFirst() : token
    return digits.contains { (0x30...0x39).contains($0) }
      && digits.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E } && digits.count { $0 == 0x2E } <= 1
  }
}
