internal import CRecognition
public import Catalogue
internal import Files
internal import Glibc

/// The installed language data, `CODE.traineddata`. The files are mapped, so that unused ones take no memory and a
/// worker without access to files can use them. They stay mapped until the process exits.
public struct TrainedData {
  private struct Mapped {
    let address: UInt
    let count: Int
  }

  private var files: [String: Mapped] = [:]

  /// The name of the data for recognizing scripts and orientations.
  static let orientation = "osd"
  /// The maximum size of a data file, in bytes. Larger ones do not exist.
  private static let largest = 1 << 28

  /// Maps all data in the directories. If two have the same name, the first is used. Unreadable files are ignored.
  public init(folders: [String] = ReadingLanguages.folders) {
    for folder in folders {
      for name in ReadingLanguages.codes(ofFiles: fileNames(inFolder: folder)) where files[name] == nil {
        files[name] = Self.map("\(folder)/\(name)\(ReadingLanguages.suffix)")
      }
    }
  }

  var names: [String] { files.keys.sorted() }

  func has(_ name: String) -> Bool { files[name] != nil }

  /// Calls `body` with the data of those names that are installed.
  func with<Result>(_ names: [String], _ body: ([ffscan_data]) -> Result) -> Result {
    let names = names.filter(has)
    return unsafe withStrings(names[...], []) { strings in
      unsafe body(
        zip(names, strings).map { name, string in
          let file = files[name] ?? Mapped(address: 0, count: 0)
          return unsafe ffscan_data(
            name: string, bytes: UnsafeRawPointer(bitPattern: file.address), count: file.count)
        })
    }
  }

  private func withStrings<Result>(
    _ names: ArraySlice<String>, _ strings: [UnsafePointer<CChar>], _ body: ([UnsafePointer<CChar>]) -> Result
  ) -> Result {
    guard let first = names.first else { return unsafe body(strings) }
    return unsafe first.withCString { unsafe withStrings(names.dropFirst(), strings + [$0], body) }
  }

  private static func map(_ path: String) -> Mapped? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, (1...largest).contains(Int(status.st_size)),
      let address = unsafe mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, file, 0),
      unsafe address != MAP_FAILED
    else { return nil }
    return Mapped(address: UInt(bitPattern: address), count: Int(status.st_size))
  }
}
