import Glibc

/// The mounts listed in /proc/self/mountinfo.
struct MountTable {
  struct Entry {
    let mountpoint: String
    let type: String
  }

  let entries: [Entry]

  init() {
    var text: [UInt8] = []
    let file = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      entries = []
      return
    }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe read(file, &buffer, buffer.count)
      guard count > 0 else { break }
      text += buffer[..<count]
    }
    entries = text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 6, let dash = fields.firstIndex(where: { $0.elementsEqual([UInt8(ascii: "-")]) }),
        dash + 1 < fields.count
      else { return nil }
      return Entry(
        mountpoint: MountTable.unescaped(fields[4]), type: String(decoding: fields[dash + 1], as: UTF8.self))
    }
  }

  /// Decodes `\040` and the like, which stand for bytes that would split the line.
  private static func unescaped(_ field: ArraySlice<UInt8>) -> String {
    var bytes: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.count >= 3,
        let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
      {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The topmost mount on a folder.
  func topmost(on path: String) -> Entry? { entries.last { $0.mountpoint == path } }
}
