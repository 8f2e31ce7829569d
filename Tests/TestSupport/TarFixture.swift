/// A TAR archive for tests: each field can be made invalid.
public struct TarFixture: Sendable {
  public private(set) var bytes: [UInt8] = []

  public init() {}

  /// Adds the entries of another fixture, in time proportional to them.
  public mutating func append(_ other: TarFixture) { bytes += other.bytes }

  /// One header, and data padded to blocks. `size` is what the header claims, `mark` its last bytes.
  public func adding(
    _ name: String, type: Character = "0", link: String = "", magic: String = "ustar\u{0}00", _ data: [UInt8] = [],
    size: [UInt8]? = nil, signed: Bool = false, mode: String = "0000644", prefix: String = "", mark: String = "",
    offset: Int = 0
  ) -> TarFixture {
    var header = [UInt8](repeating: 0, count: 512)
    func put(_ bytes: some Collection<UInt8>, _ place: Int) {
      for (offset, byte) in bytes.enumerated() { header[place + offset] = byte }
    }
    put(Array(name.utf8).prefix(100), 0)
    put(mode.utf8, 100)
    put(size ?? Self.octal(data.count, 11), 124)
    put("14500000000".utf8, 136)
    put(String(type).utf8, 156)
    put(Array(link.utf8).prefix(100), 157)
    put(magic.utf8, 257)
    put(Array(prefix.utf8).prefix(155), 345)
    put(mark.utf8, 508)
    if offset > 0 { put(Self.octal(offset, 11), 369) }
    put(String(repeating: " ", count: 8).utf8, 148)
    let sum = header.reduce(0) { $0 + (signed ? Int(Int8(bitPattern: $1)) : Int($1)) }
    put(Self.octal(sum, 6) + [0, 0x20], 148)
    var longer = self
    longer.bytes += header + data + [UInt8](repeating: 0, count: (512 - data.count % 512) % 512)
    return longer
  }

  /// An extended header with such records.
  public func pax(_ records: (String, String)..., global: Bool = false) -> TarFixture {
    let lines = records.map { key, value -> String in
      let rest = " \(key)=\(value)\n"
      var count = rest.utf8.count + 1
      while String(count).utf8.count + rest.utf8.count != count { count += 1 }
      return "\(count)\(rest)"
    }
    return adding("pax", type: global ? "g" : "x", Array(lines.joined().utf8))
  }

  /// The end, or what is appended as it is.
  public func ending(_ tail: [UInt8] = [UInt8](repeating: 0, count: 1024)) -> TarFixture {
    var longer = self
    longer.bytes += tail
    return longer
  }

  static func octal(_ number: Int, _ digits: Int) -> [UInt8] {
    let text = String(number, radix: 8)
    return Array((String(repeating: "0", count: max(0, digits - text.count)) + text).utf8)
  }
}
