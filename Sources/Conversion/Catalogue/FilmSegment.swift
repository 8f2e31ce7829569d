/// What the segments of a film are called.
public enum FilmSegment {
  private static let digits = 5
  public static let suffix = ".ts"
  public static let playlist = "index.m3u8"

  /// `00001.ts`, counted from 1.
  public static func name(_ number: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text + suffix
  }

  /// nil for what is not called so.
  public static func number(_ name: String) -> Int? {
    guard name.hasSuffix(suffix), let number = Int(name.dropLast(suffix.utf8.count)), number > 0,
      Self.name(number) == name
    else { return nil }
    return number
  }
}
