public import WorkerKit

/// The time at which an office document was last saved, as it records it.
public enum SavingTime {
  /// Returns the time in seconds since 1970. Returns `nil` if it is missing or implausible.
  public static func seconds(of input: JobInput) -> Int64? {
    let time =
      if input.starts(with: [0x50, 0x4b]) {
        inPackage(input)
      } else if input.starts(with: compoundFile) {
        inCompoundFile(input)
      } else if input.starts(with: Array("{\\rt".utf8)) {
        inRichText(input)
      } else {
        nil as Int64?
      }
    return time.flatMap { possible.contains($0) ? $0 : nil }
  }

  /// The plausible times, from 1980 to 2099.
  private static let possible: Range<Int64> = 315_532_800..<4_102_444_800
  private static let compoundFile: [UInt8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

  /// Reads the time in an archive (ECMA-376, part 2, 8.3.4 and OpenDocument 1.3, part 3, 4.3.2.7).
  private static func inPackage(_ input: JobInput) -> Int64? {
    guard let package = try? OfficePackage(input) else { return nil }
    for (part, mark) in [("docProps/core.xml", "<dcterms:modified"), ("meta.xml", "<dc:date")] {
      guard let bytes = package.bytes(part, upTo: 1 << 20), let place = place(of: mark.utf8, in: bytes),
        let start = bytes[place...].firstIndex(of: UInt8(ascii: ">"))
      else { continue }
      return time(numbers(in: bytes[start...].prefix(40)))
    }
    return nil
  }

  /// Reads the time in RTF: `{\revtim\yr2013\mo5\dy3\hr10\min20}`.
  private static func inRichText(_ input: JobInput) -> Int64? {
    let head = unsafe Array(input.bytes.prefix(1 << 18))
    guard let place = place(of: "\\revtim".utf8, in: head) else { return nil }
    return time(numbers(in: head[place...].prefix { $0 != UInt8(ascii: "}") }.prefix(80)))
  }

  /// Reads the time in the summary information ([MS-OLEPS] 2.21). It is found by its format identifier, which requires
  /// that its stream is contiguous.
  private static func inCompoundFile(_ input: JobInput) -> Int64? {
    let format: [UInt8] = [0xe0, 0x85, 0x9f, 0xf2, 0xf9, 0x4f, 0x68, 0x10, 0xab, 0x91, 8, 0, 0x2b, 0x27, 0xb3, 0xd9]
    let lastSaved: UInt64 = 13
    let fileTime: UInt64 = 64
    let bytes = unsafe Array(input.bytes.suffix(searched))
    func number(_ place: Int, _ count: Int) -> UInt64 {
      bytes.dropFirst(place).prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard let found = place(of: format, in: bytes), found >= 28, number(found - 28, 2) == 0xfffe else { return nil }
    let section = found - 28 + Int(number(found + 16, 4))
    let properties = Int(min(64, number(section + 4, 4)))
    for place in (0..<properties).map({ section + 8 + $0 * 8 }) where number(place, 4) == lastSaved {
      let value = section + Int(number(place + 4, 4))
      // Tenths of microseconds since 1601.
      return number(value, 4) == fileTime ? Int64(number(value + 4, 8) / 10_000_000) - 11_644_473_600 : nil
    }
    return nil
  }

  /// The number of bytes searched at a compound file's end, where writers put the stream.
  private static let searched = 32 << 20

  private static func place(of mark: some Collection<UInt8>, in bytes: [UInt8]) -> Int? {
    let mark = Array(mark)
    var place = 0
    while let next = bytes[place...].firstIndex(of: mark[0]) {
      if bytes[next...].starts(with: mark) { return next }
      place = next + 1
    }
    return nil
  }

  /// Returns the first six runs of digits.
  private static func numbers(in text: ArraySlice<UInt8>) -> [Int] {
    text.split { !(0x30...0x39).contains($0) }.prefix(6).map { digits in
      digits.prefix(6).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
  }

  /// Returns the time for year, month, day, hour, minute and second. The last three may be missing.
  private static func time(_ numbers: [Int]) -> Int64? {
    guard numbers.count >= 3, (1980..<2100).contains(numbers[0]) else { return nil }
    let all = (numbers + [0, 0, 0]).map(Int64.init)
    // Years that begin in March end with the leap day.
    let (year, month) = all[1] > 2 ? (all[0], all[1] - 3) : (all[0] - 1, all[1] + 9)
    guard (0..<12).contains(month) else { return nil }
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + all[2] - 719_469
    return days * 86_400 + all[3] * 3600 + all[4] * 60 + all[5]
  }
}
