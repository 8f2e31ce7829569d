import FileTrees
import Foundation
import SystemPackage
import Testing

@Suite struct SearchPathTests {
  @Test func searchPathsAreAbsolute() {
    for place in FileTree.SearchPath.allCases { #expect(place.path?.isAbsolute ?? true, "\(place)") }
    let environment = ProcessInfo.processInfo.environment
    if let home = environment["HOME"] { #expect(FileTree.SearchPath.home.path?.string == home) }
    if let folder = environment["TMPDIR"] { #expect(FileTree.SearchPath.temporary.path?.string == folder) }
    if let cache = environment["XDG_CACHE_HOME"] { #expect(FileTree.SearchPath.cache.path?.string == cache) }
  }
}
