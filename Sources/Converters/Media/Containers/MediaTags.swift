internal import CFFmpeg
internal import WorkerKit

/// What a container says of itself in words: title, artist and so on, by FFmpeg's names for them.
struct MediaTags: Equatable {
  var entries: [(name: String, value: String)] = []

  /// What describes the source's container, or a program, and not what is in it.
  private static let ofContainers: Set = [
    "encoder", "encoded_by", "major_brand", "minor_version", "compatible_brands", "handler_name", "vendor_id",
    "encoder_options", "duration", "number_of_bytes", "number_of_frames", "bps", "_statistics_tags",
    "_statistics_writing_app", "_statistics_writing_date_utc",
  ]

  /// A tag with more bytes is left out.
  private static let longest = 1 << 16
  private static let most = 1000

  init() {}

  init(_ dictionary: OpaquePointer?) {
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while entries.count < Self.most,
      let next = unsafe av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX)
    {
      unsafe entry = next
      guard let key = unsafe next.pointee.key, let text = unsafe next.pointee.value else { continue }
      let name = unsafe String(cString: key)
      let value = unsafe String(cString: text)
      let plain = name.lowercased().prefix { $0 != "-" }
      if value.utf8.count <= Self.longest, !Self.ofContainers.contains(String(plain)) { set(name, value) }
    }
  }

  subscript(name: String) -> String? {
    entries.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Replaces what there was of that name.
  mutating func set(_ name: String, _ value: String) {
    entries.removeAll { $0.name.lowercased() == name.lowercased() }
    entries.append((name, value))
  }

  /// With those of another, where this one has none.
  func completed(by other: MediaTags) -> MediaTags {
    var tags = self
    for (name, value) in other.entries where tags[name] == nil { tags.entries.append((name, value)) }
    return tags
  }

  /// Adds them to a dictionary of FFmpeg's.
  func write(to dictionary: inout OpaquePointer?) {
    for (name, value) in entries { unsafe av_dict_set(&dictionary, name, value, 0) }
  }

  static func == (one: MediaTags, other: MediaTags) -> Bool {
    one.entries.elementsEqual(other.entries) { $0 == $1 }
  }
}
