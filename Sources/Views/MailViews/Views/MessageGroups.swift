internal import Bytes
internal import Text
internal import Tree

/// Message positions in named groups, in a few flat arrays: four bytes per message, plus the names.
///
/// A group's name is a path. Groups are ordered so that the groups below one path are contiguous. Positions start at 0
/// and ascend within a group.
struct MessageGroups: Sendable, Equatable {
  /// All names, concatenated, their end offsets, and the index of each group's name. Sorting the names themselves would
  /// need memory for a second copy.
  private let names: [UInt8]
  private let nameEnds: [UInt32]
  private let order: [UInt32]
  /// All positions, group by group, and the end index of each group.
  private let positions: [UInt32]
  private let ends: [UInt32]

  var count: Int { ends.count }

  func name(_ group: Int) -> ArraySlice<UInt8> {
    let place = Int(order[group])
    return names[(place == 0 ? 0 : Int(nameEnds[place - 1]))..<Int(nameEnds[place])]
  }

  func members(_ group: Int) -> ArraySlice<UInt32> {
    positions[(group == 0 ? 0 : Int(ends[group - 1]))..<Int(ends[group])]
  }

  /// Returns whether a message is in a group. O(log n).
  func contains(_ position: Int, in group: Int) -> Bool {
    let members = members(group)
    let place = members.partitionIndex { $0 < position }
    return place < members.endIndex && members[place] == position
  }

  // MARK: Paths

  /// Returns whether a name precedes another one: bytewise, except that the slash precedes all other bytes.
  static func isBefore(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
    var (index, place) = (one.startIndex, other.startIndex)
    while index < one.endIndex, place < other.endIndex {
      let (a, b) = (one[index], other[place])
      if a != b { return a == 0x2f || b != 0x2f && a < b }
      index += 1
      place += 1
    }
    return index == one.endIndex && place < other.endIndex
  }

  /// Returns a number that orders names by their first seven bytes, as `isBefore` does.
  private static func start(of name: ArraySlice<UInt8>) -> UInt64 {
    var start: UInt64 = 0
    for index in 0..<7 {
      start <<= 9
      guard index < name.count else { continue }
      let byte = name[name.startIndex + index]
      // 0 is the end of a shorter name.
      start |= byte == 0x2f ? 1 : UInt64(byte) + 2
    }
    return start
  }

  /// Returns the first group in `range` whose name does not precede `name`, or the range's end if there is none.
  private func lowerBound(_ name: ArraySlice<UInt8>, in range: Range<Int>) -> Int {
    range.partitionIndex { Self.isBefore(self.name($0), name) }
  }

  /// Returns the group with a name. Returns `nil` if there is none. O(log n).
  func group(named name: ArraySlice<UInt8>) -> Int? {
    let found = lowerBound(name, in: 0..<count)
    return found < count && self.name(found) == name ? found : nil
  }

  /// Returns the groups whose paths start with `path` and a slash, or all of them if `path` is empty. O(log n).
  func below(_ path: ArraySlice<UInt8>) -> Range<Int> {
    if path.isEmpty { return 0..<count }
    let start = lowerBound(path + [0x2f], in: 0..<count)
    // The byte that follows the slash in this order.
    return start..<lowerBound(path + [0x01], in: start..<count)
  }

  /// Returns the path component at `depth` bytes into a group's name.
  func component(of group: Int, behind depth: Int) -> ArraySlice<UInt8> {
    let rest = name(group).dropFirst(depth)
    return rest.prefix { $0 != 0x2f }
  }

  /// Returns the end of the run of groups, from the start of `range`, whose names share the first `depth` bytes.
  func end(ofThoseSharing depth: Int, in range: Range<Int>) -> Int {
    let shared = name(range.lowerBound).prefix(depth)
    return range.partitionIndex { group in
      let other = name(group)
      // A name in the range that continues these bytes with anything but a slash has another component.
      return other.prefix(depth) == shared && (other.count == depth || other[other.startIndex + depth] == 0x2f)
    }
  }
}

extension MessageGroups {
  /// A message, and the index of the name of its group.
  typealias Member = (group: UInt32, position: UInt32)

  /// Creates groups from their names, in any order, and the index of each message's group.
  init(_ names: NameList, of groups: [UInt32]) {
    self.init(names, groups.lazy.enumerated().map { (group: $0.element, position: UInt32($0.offset)) })
  }

  /// Creates groups of messages that may be in any number of groups. The positions within a group must ascend.
  init(_ unsorted: NameList, _ members: some Sequence<Member>) {
    var order = Array(0..<UInt32(unsorted.count))
    // Most names differ in their first bytes, which are compared without the names.
    let starts = order.map { Self.start(of: unsorted[Int($0)]) }
    order.sort { [unsorted] one, other in
      let (start, rival) = (starts[Int(one)], starts[Int(other)])
      return start == rival ? Self.isBefore(unsorted[Int(one)], unsorted[Int(other)]) : start < rival
    }
    var places = [UInt32](repeating: 0, count: order.count)
    for (place, group) in order.enumerated() { places[Int(group)] = UInt32(place) }
    // First the index for the next member of each group, finally the end of the group.
    var ends = [UInt32](repeating: 0, count: order.count)
    var count = 0
    for member in members {
      ends[Int(places[Int(member.group)])] += 1
      count += 1
    }
    var sum: UInt32 = 0
    for group in ends.indices {
      sum += ends[group]
      ends[group] = sum - ends[group]
    }
    var positions = [UInt32](repeating: 0, count: count)
    for member in members {
      let group = Int(places[Int(member.group)])
      positions[Int(ends[group])] = member.position
      ends[group] += 1
    }
    names = unsorted.bytes
    nameEnds = unsorted.ends
    self.order = order
    self.positions = positions
    self.ends = ends
  }

  /// A single group without a name; no group if it would be empty.
  init(single positions: [UInt32]) {
    names = []
    nameEnds = positions.isEmpty ? [] : [0]
    order = nameEnds
    self.positions = positions
    ends = positions.isEmpty ? [] : [UInt32(positions.count)]
  }

  /// The size in memory, in bytes.
  var size: Int { names.count + 4 * (3 * ends.count + positions.count) }
}

extension MessageGroups: Packable {
  var packedSize: Int { names.count + 4 * wordCount }

  private var wordCount: Int { 2 + 3 * ends.count + positions.count }

  /// Returns a range of the serialized form: 32-bit words, then the names.
  func packed(_ range: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    let lists = [[UInt32(ends.count), UInt32(positions.count)], nameEnds, order, ends, positions]
    var start = 0
    for words in lists {
      let wanted = (range.lowerBound / 4 - start..<(range.upperBound + 3) / 4 - start).clamped(to: words.indices)
      for word in words[wanted] { bytes.append(littleEndian: word) }
      start += words.count
    }
    let head = 4 * wordCount
    if range.upperBound > head { bytes += names[max(0, range.lowerBound - head)..<range.upperBound - head] }
    return bytes
  }

  /// Parses the output of `packed`. Returns `nil` if it is malformed, or if a name is not a path of `components` safe
  /// names (`SafeName`). An empty name has none.
  init?(packed bytes: [UInt8], messages: Int, components: ClosedRange<Int> = 0...(.max)) {
    let span = bytes.span
    func word(_ place: Int) -> UInt32 {
      let start = 4 * place
      return UInt32(span[start]) | UInt32(span[start + 1]) << 8 | UInt32(span[start + 2]) << 16
        | UInt32(span[start + 3]) << 24
    }
    guard bytes.count >= 8 else { return nil }
    let (groups, members) = (Int(word(0)), Int(word(1)))
    let head = 2 + 3 * groups + members
    guard bytes.count >= 4 * head else { return nil }
    func words(_ start: Int, _ count: Int) -> [UInt32] { (start..<start + count).map(word) }
    nameEnds = words(2, groups)
    order = words(2 + groups, groups)
    ends = words(2 + 2 * groups, groups)
    positions = words(2 + 3 * groups, members)
    names = Array(bytes[(4 * head)...])
    guard zip(nameEnds, nameEnds.dropFirst()).allSatisfy({ $0 <= $1 }), Int(nameEnds.last ?? 0) == names.count,
      zip(ends, ends.dropFirst()).allSatisfy({ $0 <= $1 }), Int(ends.last ?? 0) == members,
      positions.allSatisfy({ $0 < messages }), order.allSatisfy({ $0 < groups }),
      (0..<groups).allSatisfy({ Self.components(of: name($0)).map(components.contains) ?? false })
    else { return nil }
  }

  /// Returns the number of names in a path. Returns `nil` if one is not safe.
  private static func components(of path: ArraySlice<UInt8>) -> Int? {
    if path.isEmpty { return 0 }
    var (count, start) = (1, path.startIndex)
    while true {
      let end = path[start...].firstIndex(of: 0x2f) ?? path.endIndex
      guard SafeName.safe(path[start..<end]) == path[start..<end] else { return nil }
      if end == path.endIndex { return count }
      start = end + 1
      count += 1
    }
  }
}
