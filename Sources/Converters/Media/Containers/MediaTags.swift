internal import CFFmpeg
internal import WorkerKit

/// The tags of a container (title, artist and so on), by FFmpeg's names.
struct MediaTags: Equatable {
  var entries: [(name: String, value: String)] = []

  /// The tags that describe the source's container or a program, and not the content.
  private static let ofContainers: Set = [
    "encoder", "encoded_by", "major_brand", "minor_version", "compatible_brands", "handler_name", "vendor_id",
    "encoder_options", "duration", "number_of_bytes", "number_of_frames", "bps", "_statistics_tags",
    "_statistics_writing_app", "_statistics_writing_date_utc",
  ]

  /// The maximum size of a tag, in bytes. Larger tags are omitted.
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

  /// Sets a tag and removes others of the same name.
  mutating func set(_ name: String, _ value: String) {
    entries.removeAll { $0.name.lowercased() == name.lowercased() }
    entries.append((name, value))
  }

  /// Returns these tags, and those of `other` whose names are missing here.
  func completed(by other: MediaTags) -> MediaTags {
    var tags = self
    for (name, value) in other.entries where tags[name] == nil { tags.entries.append((name, value)) }
    return tags
  }

  /// Adds the tags to an FFmpeg dictionary.
  func write(to dictionary: inout OpaquePointer?) {
    for (name, value) in entries { unsafe av_dict_set(&dictionary, name, value, 0) }
  }

  static func == (one: MediaTags, other: MediaTags) -> Bool {
    one.entries.elementsEqual(other.entries) { $0 == $1 }
  }
}
