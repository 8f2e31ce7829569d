internal import ArgumentParser

/// The access token of a server.
package enum Token {
  /// The environment variable with a token.
  package static let variable = "FFMOUNT_TOKEN"

  /// Throws if a token is invalid.
  ///
  /// - Parameter place: The origin of the token, for the error.
  package static func check(_ token: String, from place: String) throws {
    guard (8...1024).contains(token.utf8.count), token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw ValidationError("\(place): expected 8 or more ASCII characters without blanks")
    }
  }

  /// Returns the first line of a file, of a pipe, or of standard input for `-`. Throws if others can read the file.
  /// Blocks.
  package static func read(from path: String) throws -> String {
    let line = try PrivateFile.text(at: path, option: "--token-file", isLine: true)
    let token = line.hasSuffix("\r") ? String(line.dropLast()) : line
    try check(token, from: "--token-file \(path)")
    return token
  }
}
