/// The names of a film's segments.
public enum FilmSegment {
  private static let digits = 5
  public static let suffix = ".ts"
  public static let playlist = "index.m3u8"

  /// Returns the name of a segment, counted from 1, such as `00001.ts`.
  public static func name(_ number: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text + suffix
  }

  /// Returns the number of the segment with this name. Returns `nil` if the name is not a segment's.
  public static func number(_ name: String) -> Int? {
    guard name.hasSuffix(suffix), let number = Int(name.dropLast(suffix.utf8.count)), number > 0,
      Self.name(number) == name
    else { return nil }
    return number
  }
}
