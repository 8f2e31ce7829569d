/// The state of parsing a sheet.
struct CueReading {
  private struct Place: Hashable {
    let file: Int
    let frame: Int64
  }

  private struct Entry {
    let number: Int
    let isSound: Bool
    /// The position of index 01.
    var start: Place?
    var words: [String: String] = [:]
  }

  private(set) var files: [String] = []
  private var entries: [Entry] = []
  /// The properties of the record.
  private var words: [String: String] = [:]

  /// The maximum length of a text, in characters. Longer texts are cut.
  private static let longestText = 250

  mutating func take(_ line: CueLine) {
    switch line.command {
    case "FILE": if files.count < CueSheet.most { files.append(line.nameBeforeWord) }
    case "TRACK":
      guard entries.count < CueSheet.most, let number = line.words.first.flatMap({ CueLine.number($0, below: 1000) })
      else { return }
      let kind = line.words.dropFirst().first?.uppercased() ?? "AUDIO"
      entries.append(Entry(number: number, isSound: kind == "AUDIO"))
    case "INDEX":
      guard !entries.isEmpty, !files.isEmpty, line.words.count == 2, CueLine.number(line.words[0], below: 100) == 1,
        let frame = CueLine.time(line.words[1]), entries[entries.count - 1].start == nil
      else { return }
      entries[entries.count - 1].start = Place(file: files.count - 1, frame: frame)
    case "TITLE", "PERFORMER", "SONGWRITER", "ISRC": set(line.command, line.text)
    case "REM": set(line.remark.command, line.remark.text)
    default: break
    }
  }

  private mutating func set(_ name: String, _ text: String) {
    let value = String(text.prefix(Self.longestText))
    guard !value.isEmpty, CueTags.all.contains(name) else { return }
    if entries.isEmpty { words[name] = value } else { entries[entries.count - 1].words[name] = value }
  }

  // MARK: Result

  /// The tracks, each of which extends to the start of the next one.
  var result: [CueSheet.Track] {
    let places = entries.compactMap(\.start)
    let starts = Dictionary(grouping: Set(places), by: \.file).mapValues { $0.map(\.frame).sorted() }
    let first = places.first
    var seen: Set<Place> = []
    var tracks: [CueSheet.Track] = []
    if let first, let least = starts[first.file]?.first, least > 0 {
      tracks.append(track(0, first.file, from: 0, to: least, ["TITLE": "Pregap"]))
    }
    let last = entries.map(\.number).max()
    for entry in entries where entry.isSound {
      guard let place = entry.start, seen.insert(place).inserted, let all = starts[place.file] else { continue }
      let end = all.first { $0 > place.frame }
      // The part before the first track of a further file belongs to that track.
      let isFirst = place.frame == all.first && place.file != first?.file
      tracks.append(track(entry.number, place.file, from: isFirst ? 0 : place.frame, to: end, entry.words, of: last))
    }
    return tracks
  }

  private func track(
    _ number: Int, _ file: Int, from start: Int64, to end: Int64?, _ own: [String: String], of count: Int? = nil
  ) -> CueSheet.Track {
    CueSheet.Track(
      number: number, file: file, start: start, end: end, title: own["TITLE"],
      tags: CueTags.tags(number, of: count, own, record: words))
  }
}
