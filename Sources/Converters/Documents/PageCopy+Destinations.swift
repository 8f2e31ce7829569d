internal import WorkerKit

/// Named destinations of links in the document.
extension PageCopy {
  /// Returns the catalog's entries for the named destinations that the copied links use and that are on these pages.
  mutating func namedPlaces() throws(JobFailure) -> [UInt8] {
    let (strings, names) = try placeEntries()
    let tree = strings.isEmpty ? [] : Array(" /Names << /Dests << /Names [ ".utf8) + strings + Array("] >> >>".utf8)
    return names.isEmpty ? tree : tree + Array(" /Dests << ".utf8) + names + Array(">>".utf8)
  }

  mutating func placeEntries() throws(JobFailure) -> (strings: [UInt8], names: [UInt8]) {
    var (strings, names) = ([UInt8](), [UInt8]())
    for (name, place) in places.places(destinationNames, on: copied) {
      let entry = (newName(of: name) ?? name) + [0x20] + translated(place) + [0x20]
      if name.first == 0x2F { names += entry } else { strings += entry }
      try writeWaiting()
    }
    return (strings, names)
  }

  /// Returns the name of a destination in a merged document. Returns `nil` if this file has no such destination.
  mutating func newName(of name: [UInt8]) -> [UInt8]? {
    guard let member else { return nil }
    if let known = newNames[name] { return known }
    var new: [UInt8]?
    if !places.places([name], on: copied).isEmpty {
      // Names sort by file, then by themselves.
      let digits = String(member)
      let mark = Array((String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".").utf8)
      if name.first == 0x2F {
        new = [0x2F] + mark + name.dropFirst()
      } else if let string = ObjectText.string(name[...]) {
        let hexadecimal = Array("0123456789abcdef".utf8)
        new = [0x3C] + (mark + string).flatMap { [hexadecimal[Int($0 >> 4)], hexadecimal[Int($0 & 15)]] } + [0x3E]
      }
    }
    newNames[name] = .some(new)
    return new
  }
}
