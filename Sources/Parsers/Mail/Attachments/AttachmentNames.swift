internal import Bytes
internal import Text

/// Assigns safe and unique names to the attachments of a message.
struct AttachmentNames {
  private var names = UniqueNames()

  /// Returns a name for the `index`-th part, counted from 1. `raw` is the recorded name, in UTF-8, of which only the
  /// last path component is used. If nothing is left of it, `stem` and the extension of `contentType` are used instead.
  mutating func name(_ raw: [UInt8]?, stem: String? = nil, index: Int, contentType: String, isMessage: Bool = false)
    -> FileName
  {
    var name = raw.map { Self.cleaned($0) } ?? []
    if name.isEmpty, let stem {
      name = Self.cleaned(Array(stem.utf8.map { $0 == 0x2f || $0 == 0x5c ? 0x2d : $0 }))
      let tail = Array(".\(FileTypes.fileExtension(of: contentType))".utf8)
      if !name.isEmpty { name = Array(SafeName.cut(name[...], to: 120)) + tail }
    }
    if name.isEmpty { name = Array(FileTypes.fallbackName(contentType, index: index).utf8) }
    let tail = Array(".eml".utf8)
    if isMessage, !name.suffix(4).map({ $0.asciiLowercase }).elementsEqual(tail) {
      name = SafeName.cut(name[...], to: SafeName.longest - tail.count) + tail
    }
    return names.unique(SafeName.safe(name[...]))
  }

  /// Returns the last component of a possible path, without deceptive characters: control characters, bidi overrides
  /// and isolates, surrounding spaces. Empty if only dots are left.
  private static func cleaned(_ raw: [UInt8]) -> [UInt8] {
    var components = raw[...]
    while let last = components.last, last == 0x2f || last == 0x5c { components.removeLast() }
    if let slash = components.lastIndex(where: { $0 == 0x2f || $0 == 0x5c }) { components = components[(slash + 1)...] }
    var scalars = String.UnicodeScalarView()
    for scalar in String(decoding: components, as: UTF8.self).unicodeScalars {
      switch scalar.value {
      case 0x09, 0x0a, 0x0d: scalars.append(" ")
      case ..<0x20, 0x7f...0x9f, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069, 0x2028, 0x2029, 0x61c, 0xfeff:
        continue
      default: scalars.append(scalar)
      }
    }
    var name = Array(String(scalars).utf8)[...]
    while name.first == 0x20 { name.removeFirst() }
    while name.last == 0x20 { name.removeLast() }
    return name.allSatisfy { $0 == 0x2e } ? [] : Array(name)
  }
}
