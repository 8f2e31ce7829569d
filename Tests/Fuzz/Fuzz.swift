internal import Foundation
internal import Fuzzing

/// Runs a target: `fuzz TARGET FILE…` on files; `fuzz --seeds TARGET FOLDER` writes the seed inputs.
///
/// If built with libFuzzer (by `scripts/fuzz`), `fuzz TARGET` takes libFuzzer's own arguments.
@main struct Fuzz {
  static func main() throws {
    var words = Array(CommandLine.arguments.dropFirst())
    let writesSeeds = words.first == "--seeds"
    if writesSeeds { words.removeFirst() }
    guard let name = words.first, let target = FuzzTarget.named(name) else {
      print("fuzz: give a target: \(FuzzTarget.all.map(\.name).joined(separator: ", "))")
      exit(64)
    }
    if writesSeeds { return try write(target.seeds(), to: words.last ?? ".") }
    #if FUZZER
      exit(Fuzzer.run(target))
    #else
      var isSound = true
      for path in words.dropFirst() {
        let complaints = target.complaints(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        for complaint in complaints { print("\(path): \(complaint)") }
        isSound = isSound && complaints.isEmpty
      }
      exit(isSound ? 0 : 1)
    #endif
  }

  private static func write(_ seeds: [[UInt8]], to folder: String) throws {
    for (number, seed) in seeds.enumerated() {
      try Data(seed).write(to: URL(fileURLWithPath: folder).appendingPathComponent("seed-\(number)"))
    }
  }
}
