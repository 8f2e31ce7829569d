import Bytes
import NIOHTTP1
import Testing

@testable import ffserve

@Suite struct HeaderTests {
  @Test func datesAreWrittenAndRead() {
    let times: [(Int64, Int32, String, String)] = [
      (784_111_777, 0, "Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.000Z"),
      (0, 999_999_999, "Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00.999Z"),
      (-1, 1_000_000, "Wed, 31 Dec 1969 23:59:59 GMT", "1969-12-31T23:59:59.001Z"),
      (951_782_400, 0, "Tue, 29 Feb 2000 00:00:00 GMT", "2000-02-29T00:00:00.000Z"),
      (253_402_300_799, 0, "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59.000Z"),
      (-62_135_596_800, 0, "Mon, 01 Jan 0001 00:00:00 GMT", "0001-01-01T00:00:00.000Z"),
    ]
    for (seconds, nanoseconds, text, iso) in times {
      let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
      #expect(HTTPDate.text(time) == text && HTTPDate.iso(time) == iso)
      #expect(HTTPDate.seconds(text) == (seconds >= 0 ? seconds : nil))
    }
    // Years without four digits become the nearest of those.
    for seconds in [Int64.max, 253_402_300_800, 1 << 40] {
      #expect(HTTPDate.iso(Timestamp(seconds: seconds)).hasPrefix("9999-12-31T23:59:59"), "\(seconds)")
      #expect(HTTPDate.text(Timestamp(seconds: seconds)) == "Fri, 31 Dec 9999 23:59:59 GMT")
    }
    for seconds in [Int64.min, -62_135_596_801] {
      #expect(HTTPDate.iso(Timestamp(seconds: seconds)).hasPrefix("0001-01-01T00:00:00"), "\(seconds)")
      #expect(HTTPDate.text(Timestamp(seconds: seconds)) == "Mon, 01 Jan 0001 00:00:00 GMT")
    }
    for text in [
      "", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
      "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:61:37 GMT",
      "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 10000 08:49:37 GMT",
    ] {
      #expect(HTTPDate.seconds(text) == nil, "\(text)")
    }
  }

  /// A series of times, of which each formats only what differs from the one before.
  @Test func seriesOfTimesIsWritten() {
    var times = ISOTimes()
    let seconds: [Int64] = [
      0, 1, 86_399, 86_400, 86_399, -1, 0, 253_402_300_799, .max, -62_135_596_800, .min, 784_111_777,
    ]
    for second in seconds {
      times.set(Timestamp(seconds: second, nanoseconds: 5_000_000))
      #expect(
        String(decoding: times.text, as: UTF8.self) == HTTPDate.iso(Timestamp(seconds: second, nanoseconds: 5_000_000)))
    }
  }

  @Test(arguments: [
    ("bytes=0-", ByteRanges.part(0..<6)), ("bytes=2-3", .part(2..<4)), ("bytes=2-99", .part(2..<6)),
    ("bytes=-2", .part(4..<6)),
    ("bytes=-1000", .part(0..<6)), ("Bytes= 2 - 3", .part(2..<4)), ("bytes=6-", .unsatisfiable),
    ("bytes=-0", .unsatisfiable),
    ("bytes=9223372036854775807-", .unsatisfiable), ("bytes=0-9223372036854775807", .part(0..<6)),
    ("bytes=0-99999999999999999999", .part(0..<6)), ("bytes=-99999999999999999999", .part(0..<6)),
    ("bytes=3-2", .whole),
    ("bytes=", .whole), ("bytes=-", .whole), ("bytes=0-1,3-4", .whole), ("bytes=a-b", .whole), ("bytes=0--1", .whole),
    ("lines=0-1", .whole), ("bytes=+1-2", .whole),
  ])
  func rangesAreRead(_ header: String, _ range: ByteRanges) { #expect(ByteRanges(header, size: 6) == range) }

  @Test func rangesOfAnEmptyFileAreUnsatisfiable() {
    #expect(ByteRanges("bytes=0-", size: 0) == .unsatisfiable && ByteRanges("bytes=-1", size: 0) == .unsatisfiable)
    #expect(ByteRanges(nil, size: 0) == .whole)
  }

  @Test(arguments: [
    ("gzip", "gzip"), ("GZIP", "gzip"), ("br, gzip", "gzip"), ("gzip;q=1", "gzip"), ("gzip; q=0.5", "gzip"),
    ("gzip;q=0.001", "gzip"), ("deflate, gzip ; q=0.9", "gzip"), ("zstd", "zstd"), ("gzip, deflate, br, zstd", "zstd"),
    ("zstd;q=0.5, gzip;q=0.50", "zstd"), ("zstd;q=0.5, gzip;q=0.6", "gzip"), ("zstd;q=0.5, gzip", "gzip"),
    ("zstd;q=0, gzip;q=0.1", "gzip"), ("zstd; Q=1.000 , gzip", "zstd"), ("", nil), ("br", nil), ("x-gzip", nil),
    ("gzip;q=0", nil), ("gzip; q=0.0", nil), ("gzip;Q=0.000", nil), ("br;q=1, gzip;q=0", nil), ("gzip;q=-1", nil),
    ("gzip;q=99999999999999999999, zstd", "gzip"), ("gzip;q=", nil), ("gzip;q=nan", nil),
  ])
  func codingOfGreatestWeightIsChosen(_ value: String, _ coding: String?) {
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Accept-Encoding": value])
    let request = HTTPRequest(head, body: [], isTLS: false, peer: "::1", behind: Proxies([]))
    #expect(request.acceptedCoding?.rawValue == coding)
  }

  @Test(arguments: [
    "text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml", "application/xslt+xml",
    "application/atom+xml", "model/x3d+xml",
  ])
  func typesWithScriptsAreActive(_ type: String) { #expect(MediaType.isActive(type)) }

  @Test(arguments: [
    "text/plain", "image/png", "application/pdf", "application/json", "application/xml-dtd", "text/css",
  ])
  func otherTypesAreNotActive(_ type: String) { #expect(!MediaType.isActive(type)) }

  /// Players recognize a playlist and its segments by their types.
  @Test(arguments: [("index.m3u8", "application/vnd.apple.mpegurl"), ("00001.ts", "video/mp2t")])
  func segmentsHaveTheirTypes(_ name: String, _ type: String) { #expect(MediaType.header(FileName(name)) == type) }

  @Test(arguments: ["a.js", "a.mjs", "a.JS"]) func scriptsAreText(_ name: String) {
    #expect(MediaType.header(FileName(name)) == "text/plain; charset=utf-8")
  }

  @Test(arguments: [
    "/..", "/a/../b", "/a/%2e%2e/b", "/a%2Fb", "/a%2fb", "/%00", "/a%", "/a%0", "/a%zz",
    String(repeating: "/a", count: 1025),
  ])
  func pathThatIsNotPlainIsRefused(_ path: String) { #expect(TreePath(encoded: path[...]) == nil) }

  @Test(arguments: ["..", "/../a", "/a/.", "/./a", "/a\0b"]) func stepsAreRefused(_ path: String) {
    #expect(TreePath(Array(path.utf8)) == nil)
  }

  @Test func pathsAreRead() {
    #expect(TreePath(encoded: "//a/./b%20c//")?.names == ["a", "b c"] && TreePath(encoded: "")?.names == [])
    #expect(TreePath(Array("/a/b".utf8))?.text == "/a/b" && TreePath([])?.text == "/")
    #expect(TreePath(encoded: Substring(String(repeating: "/a", count: 1024)))?.names.count == 1024)
  }
}
