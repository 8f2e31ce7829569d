import Bytes
import Codecs
import Entries
import Foundation
import TestSupport
import Testing
import Zip

/// An archive of the corpus beside the project.
struct CorpusArchive: CustomTestStringConvertible, Sendable {
  let url: URL
  var testDescription: String { url.lastPathComponent }

  func bytes() throws -> [UInt8] { try Array(Data(contentsOf: url)) }

  static let all: [CorpusArchive] = {
    guard let folder = sharedCorpus?.appendingPathComponent("zip"),
      let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    else { return [] }
    return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "zip" }
      .sorted { $0.path < $1.path }.map { CorpusArchive(url: $0) }
  }()
}

/// An entry's contents as size and checksum: names differ between readers, contents must not.
struct ContentMark: Hashable, Sendable {
  let size: Int
  let crc: UInt32
}

@Suite(.enabled("needs the corpus beside the project") { !CorpusArchive.all.isEmpty })
struct CorpusTests {
  /// The contents of each archive as read by Python's zipfile, by path; empty if there is no python3.
  private static let known: [String: [ContentMark]] = {
    let code = """
      import os, sys, zipfile, zlib
      for folder, _, names in os.walk(\(CorpusTests.quoted(sharedCorpus?.appendingPathComponent("zip").path ?? ""))):
          for name in sorted(names):
              path = os.path.join(folder, name)
              try: archive = zipfile.ZipFile(path)
              except Exception: continue
              for info in archive.infolist():
                  if info.filename.endswith("/") or info.compress_type not in (0, 8): continue
                  if info.flag_bits & 1 or info.file_size > 1 << 24: continue
                  try: data = archive.read(info)
                  except Exception: continue
                  # It gives short data without a word.
                  if len(data) != info.file_size: continue
                  print(path, len(data), zlib.crc32(data), sep="\\t")
      """
    guard let output = try? Python.output(of: code) else { return [:] }
    var known: [String: [ContentMark]] = [:]
    for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
      let fields = line.split(separator: "\t")
      guard fields.count == 3, let size = Int(fields[1]), let crc = UInt32(fields[2]) else { continue }
      known[String(fields[0]), default: []].append(ContentMark(size: size, crc: crc))
    }
    return known
  }()

  private static func quoted(_ text: String) -> String { "'\(text)'" }

  @Test(.enabled("needs python3") { StreamName.isPythonThere }) func pythonReadsManyCorpusArchives() {
    #expect(Self.known.count > 100)
  }

  /// The archives of which Python reads anything.
  private static let readable = CorpusArchive.all.filter { known[$0.url.path] != nil }

  @Test(.enabled("needs python3") { StreamName.isPythonThere }, arguments: readable)
  func entriesReadByPythonAreFound(_ file: CorpusArchive) throws {
    let expected = try #require(Self.known[file.url.path])
    let archive = try ZipArchive(bytes: file.bytes())
    var found: [ContentMark: Int] = [:]
    for index in 1..<UInt32(archive.count) where archive.node(index).kind != .folder {
      guard archive.node(index).size <= 1 << 24, let bytes = try? archive.content(of: index) else { continue }
      found[ContentMark(size: bytes.count, crc: ZipChecksum.crc32(bytes)), default: 0] += 1
    }
    for mark in expected {
      let left = found[mark, default: 0]
      #expect(left > 0, "an entry of \(mark.size) bytes with CRC \(String(mark.crc, radix: 16)) is missing")
      found[mark] = left - 1
    }
  }

  @Test(arguments: CorpusArchive.all) func everyArchiveOpensOrReportsReason(_ file: CorpusArchive) throws {
    do {
      let archive = try ZipArchive(bytes: file.bytes())
      for index in 1..<UInt32(archive.count) where archive.node(index).kind == .file {
        guard let source = try? archive.open(index, .blocking) else { continue }
        let size = archive.node(index).size
        if let got = try? source.partialBytes(at: 0, count: 4096) { #expect(Int64(got.count) == min(4096, size)) }
      }
    } catch let fault as Fault {
      #expect(fault.concernsArchive && !fault.reason.isEmpty)
    }
  }
}

extension Fault {
  fileprivate var concernsArchive: Bool { kind == .damaged || kind == .unsupported || kind == .limit }
}
