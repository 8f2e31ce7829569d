import Bytes
import Catalogue
import Glibc
import TestSupport
import Testing

@testable import Jobs

extension ConversionTests {
  @Suite(.serialized, .timeLimit(.minutes(5))) struct CacheTests {
    private func text(_ number: UInt64, size: Int) -> String { "echo\n\(number)" + String(repeating: "x", count: size) }

    private func onThread(_ body: @escaping @Sendable (MountScratch) throws -> Void) async throws {
      try await withScratch { scratch in try await offThread { Result { try body(scratch) } }.get() }
    }

    private func files(_ workshop: Workshop) -> [String] {
      guard let folder = unsafe opendir(workshop.cacheFolder) else { return [] }
      defer { unsafe closedir(folder) }
      var names: [String] = []
      while let entry = unsafe readdir(folder) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name.utf8.count == 64 { names.append("\(workshop.cacheFolder)/\(name)") }
      }
      return names
    }

    @Test func leastRecentlyUsedResultIsEvictedFirst() async throws {
      try await onThread { scratch in
        let workshop = Workshop(cacheSize: 100_000, in: scratch)
        // Another mount, with a limit of its own.
        let other = Workshop(cacheSize: 100_000, in: scratch)
        defer {
          workshop.renditions.stop()
          other.renditions.stop()
        }
        let held = try workshop.make(text(1, size: 20_000), 1)
        for number in UInt64(2)...4 {
          _ = try workshop.make(text(number, size: 20_000), number)
          _ = usleep(20_000)
        }
        // Used again, so that 3 is evicted next.
        #expect(try workshop.ask(text(2, size: 20_000), 2).made != nil)
        _ = usleep(20_000)
        _ = try other.make(text(5, size: 20_000), 5)
        let cache = DiskCache(folder: workshop.cacheFolder, maximumSize: 1)
        #expect(cache.contents.size <= 100_000)
        #expect(try other.ask(text(2, size: 20_000), 2).made != nil)
        // An open rendition is kept, although it is the oldest.
        #expect(try other.ask(text(1, size: 20_000), 1).made != nil)
        #expect(held.size > 20_000)
        #expect(try workshop.ask(text(3, size: 20_000), 3).pending != nil)
        // The request restarted it; once it is made, no job is running.
        _ = try workshop.make(text(3, size: 20_000), 3)
        #expect(try cache.clear() >= 3 && cache.contents.count == 0)
        #expect(try Workshop.parts(held).text.hasSuffix("xxx"))
      }
    }

    /// A result is found for the same bytes, recipe and passwords only.
    @Test func nameOfAResultDependsOnEverythingItIsMadeOf() async throws {
      @Sendable func file(_ device: UInt64, _ inode: UInt64, _ size: Int64, _ modified: Int64, _ changed: Int32)
        -> ByteIdentity
      {
        ByteIdentity(
          device: device, inode: inode, size: size, modified: Timestamp(seconds: modified, nanoseconds: 4),
          changed: Timestamp(seconds: 5, nanoseconds: changed))
      }
      let (one, png) = (file(1, 2, 3, 4, 5), Recipe(verb: "png"))
      try await onThread { scratch in
        let folder = scratch.path + "/names"
        let cache = DiskCache(folder: folder, maximumSize: 1000)
        func seal(_ passwords: String...) throws -> [UInt8] {
          try #require(cache.seal(passwords.map { Array($0.utf8) }))
        }
        let names = try [
          RenditionName(one, png), RenditionName(one, Recipe(verb: "jpeg")), RenditionName(file(9, 2, 3, 4, 5), png),
          RenditionName(file(1, 9, 3, 4, 5), png), RenditionName(file(1, 2, 9, 4, 5), png),
          RenditionName(file(1, 2, 3, 9, 5), png), RenditionName(file(1, 2, 3, 4, 9), png),
          RenditionName(one.adding(.range, 0, 1), png), RenditionName(one.adding(.range, 1, 0), png),
          RenditionName(one.adding(.inflate, 0, 1), png), RenditionName(one.converted(by: png), png),
          RenditionName(one, png, seal: seal()), RenditionName(one, png, seal: seal("a")),
          RenditionName(one, png, seal: seal("a", "b")), RenditionName(one, png, seal: seal("b", "a")),
          RenditionName(one, png, seal: seal("ab")), RenditionName(one, png, seal: seal("a", "")),
        ]
        #expect(Set(names).count == names.count && Set(names.map { $0.fileName.bytes }).count == names.count)
        #expect(try RenditionName(one, png, seal: seal("a")) == names[12])
        // Without the key, nobody can try passwords.
        let other = DiskCache(folder: scratch.path + "/other", maximumSize: 1000)
        #expect(try other.seal([Array("a".utf8)]) != seal("a"))
      }
    }

    /// Another program's files are not counted, not evicted, and not removed.
    @Test func foreignFilesInTheCacheStay() async throws {
      try await onThread { scratch in
        let workshop = Workshop(cacheSize: 100_000, in: scratch)
        defer { workshop.renditions.stop() }
        _ = try workshop.make(text(1, size: 20_000), 1)
        let foreign = ["README", String(repeating: "a", count: 63), String(repeating: "b", count: 65)]
        let bytes = [UInt8](repeating: 1, count: 90_000)
        for name in foreign {
          let raw = unsafe open("\(workshop.cacheFolder)/\(name)", O_WRONLY | O_CREAT, 0o600)
          #expect(unsafe write(raw, bytes, bytes.count) == bytes.count)
          close(raw)
        }
        let cache = DiskCache(folder: workshop.cacheFolder, maximumSize: 100_000)
        #expect(cache.contents.count == 1 && cache.contents.size < 90_000)
        for number in UInt64(2)...3 { _ = try workshop.make(text(number, size: 20_000), number) }
        #expect(try cache.clear() == 3 && cache.contents.count == 0)
        for name in foreign { #expect(unsafe access("\(workshop.cacheFolder)/\(name)", F_OK) == 0) }
      }
    }

    @Test(arguments: ["cut", "flipped", "emptied", "longer"]) func damagedCacheFileIsRebuilt(_ damage: String)
      async throws
    {
      try await onThread { scratch in
        let workshop = Workshop(in: scratch)
        let process = try Workshop.parts(workshop.make(text(1, size: 5000), 1)).process
        workshop.renditions.stop()
        let file = try #require(files(workshop).first)
        switch damage {
        case "cut": #expect(unsafe truncate(file, 3000) == 0)
        case "emptied": #expect(unsafe truncate(file, 0) == 0)
        case "longer": #expect(unsafe truncate(file, 9000) == 0)
        default:
          let raw = unsafe open(file, O_WRONLY)
          #expect(unsafe pwrite(raw, "?", 1, 2500) == 1)
          close(raw)
        }
        let next = Workshop(in: scratch)
        defer { next.renditions.stop() }
        let made = try Workshop.parts(next.make(text(1, size: 5000), 1))
        #expect(made.process != process && made.text == "text\n" + text(1, size: 5000))
      }
    }

    /// Cache files with each other's contents, though each is complete.
    @Test func swappedCacheFileIsRebuilt() async throws {
      try await onThread { scratch in
        let workshop = Workshop(in: scratch)
        _ = try workshop.make(text(1, size: 5000), 1)
        _ = try workshop.make(text(2, size: 5000), 2)
        let files = files(workshop)
        try #require(files.count == 2)
        // Also while the cache is in use.
        #expect(unsafe rename(files[0], files[0] + "x") == 0)
        #expect(unsafe rename(files[1], files[0]) == 0)
        #expect(unsafe rename(files[0] + "x", files[1]) == 0)
        for workshop in [workshop, Workshop(in: scratch)] {
          for number in UInt64(1)...2 {
            let made = try Workshop.parts(workshop.make(text(number, size: 5000), number))
            #expect(made.text == "text\n" + text(number, size: 5000))
          }
          workshop.renditions.stop()
        }
      }
    }

    @Test(arguments: ["key", "folder"]) func cacheFileOfAnotherKeyIsRebuilt(_ what: String) async throws {
      try await onThread { scratch in
        let workshop = Workshop(in: scratch)
        let process = try Workshop.parts(workshop.make(text(1, size: 5000), 1)).process
        workshop.renditions.stop()
        #expect(Self.rights(workshop.cacheFolder) == 0o700 && Self.rights(workshop.cacheFolder + "/key") == 0o600)
        if what == "key" {
          #expect(unsafe unlink(workshop.cacheFolder + "/key") == 0)
        } else {
          #expect(unsafe chmod(workshop.cacheFolder, 0o777) == 0)
        }
        let next = Workshop(in: scratch)
        defer { next.renditions.stop() }
        let made = try next.make(text(1, size: 5000), 1)
        #expect(try Workshop.parts(made).process != process)
        // Nothing is cached in a folder that others can change.
        let count = files(next).count
        _ = try next.make(text(2, size: 5000), 2)
        #expect(files(next).count == count + (what == "key" ? 1 : 0))
      }
    }

    private static func rights(_ path: String) -> mode_t? {
      var status = stat()
      return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test(arguments: ["cut", "changed", "longer"]) func damageToOpenCacheFileIsDetected(_ damage: String) async throws {
      try await onThread { scratch in
        for isFound in [false, true] {
          let number: UInt64 = isFound ? 2 : 1
          let first = Workshop(in: scratch)
          defer { first.renditions.stop() }
          let made = try first.make(text(number, size: 300_000), number)
          let second = Workshop(in: scratch)
          defer { second.renditions.stop() }
          let (workshop, open) =
            isFound ? (second, try second.make(text(number, size: 300_000), number)) : (first, made)
          let before = try Workshop.parts(open)
          let file = try #require(files(workshop).max { Self.modified($0) < Self.modified($1) })
          _ = usleep(20_000)
          switch damage {
          case "cut": #expect(unsafe truncate(file, 200_000) == 0)
          case "longer": #expect(unsafe truncate(file, 400_000) == 0)
          default:
            let raw = unsafe Glibc.open(file, O_WRONLY)
            #expect(unsafe pwrite(raw, "?", 1, 2500) == 1)
            close(raw)
          }
          // Both by read and by the check before bytes are spliced.
          #expect(throws: Fault.self) { try open.bytes(at: 0, count: 100) }
          #expect(throws: Fault.self) { try open.willMove(at: 0, count: 100, .blocking) }
          let again = try Workshop.parts(workshop.make(text(number, size: 300_000), number))
          #expect(again.text == before.text)
        }
      }
    }

    private static func modified(_ path: String) -> Int {
      var status = stat()
      _ = unsafe lstat(path, &status)
      return status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    }

    @Test func fifoInTheCacheDoesNotBlockReaders() async throws {
      try await onThread { scratch in
        let workshop = Workshop(in: scratch)
        _ = try workshop.make("echo", 1)
        workshop.renditions.stop()
        let file = try #require(files(workshop).first)
        #expect(unsafe unlink(file) == 0 && mkfifo(file, 0o600) == 0)
        let next = Workshop(in: scratch)
        defer { next.renditions.stop() }
        #expect(try Workshop.parts(next.make("echo", 1)).text == "text\necho")
      }
    }

    @Test func resultLargerThanTheCacheIsNotCached() async throws {
      try await onThread { scratch in
        let workshop = Workshop(cacheSize: 10_000, in: scratch)
        defer { workshop.renditions.stop() }
        _ = try workshop.make(text(1, size: 1000), 1)
        #expect(files(workshop).count == 1)
        // It is served without evicting others.
        let made = try workshop.make(text(2, size: 20_000), 2)
        #expect(made.size > 20_000 && files(workshop).count == 1)
        #expect(try workshop.ask(text(1, size: 1000), 1).made != nil)
      }
    }

    @Test func conversionWorksWithoutWritableCache() async throws {
      try await onThread { scratch in
        // A file in place of the folder.
        unsafe close(open(scratch.path + "/cache", O_CREAT | O_WRONLY, 0o600))
        let workshop = Workshop(in: scratch)
        defer { workshop.renditions.stop() }
        let made = try Workshop.parts(workshop.make("echo", 1))
        #expect(made.text == "text\necho")
        // For a second open.
        #expect(try workshop.ask("echo", 1).made != nil)
      }
    }
  }
}
