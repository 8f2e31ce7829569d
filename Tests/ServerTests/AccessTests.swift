import NIOHTTP1
import Testing

@testable import ffserve

/// The requests that a server refuses before it looks for credentials, and those that it does not.
@Suite struct AccessTests {
  /// Returns the status of the refusal of a request. Returns `nil` if it is admitted.
  private func refusal(
    _ method: HTTPMethod, _ target: String, _ headers: [(String, String)] = [], host: String? = "localhost"
  ) -> UInt? {
    let access = Access(hosts: HostNames(given: []))
    access.set(owner: .owner(token: nil))
    var all = HTTPHeaders(headers)
    if let host { all.add(name: "Host", value: host) }
    let head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: all)
    let request = HTTPRequest(head, body: [], isTLS: false, peer: "127.0.0.1", behind: Proxies([]))
    switch access.check(request) {
    case .admitted: return nil
    case .refused(let response): return response.status.code
    case .undecided: return 0
    }
  }

  @Test func hostMustBeOneOfTheServer() {
    #expect(refusal(.GET, "/") == nil && refusal(.GET, "/", host: "127.0.0.1:80") == nil)
    #expect(refusal(.GET, "/", host: "evil.example") == 421 && refusal(.GET, "/", host: nil) == 400)
    #expect(refusal(.GET, "/", [("Host", "localhost")]) == 400)
    // The host of an absolute target counts.
    #expect(refusal(.GET, "http://localhost/x", host: "evil.example") == nil)
    #expect(refusal(.GET, "http://evil.example/x") == 421 && refusal(.GET, "HTTPS://evil.example?x") == 421)
    #expect(refusal(.GET, "http://localhost/x", host: nil) == 400)
  }

  @Test(arguments: ["cross-site", "same-site"]) func otherSitesMayOnlyLeadToThePage(_ site: String) {
    let page = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
    #expect(refusal(.GET, "/", page) == nil && refusal(.GET, "/login", page) == nil)
    for target in ["/api/list?path=/", "/api/file?path=/a", "/dav/", "/x"] {
      #expect(refusal(.GET, target, page) == 403, "\(target)")
    }
    for part in 1...2 {
      var other = page
      other[part].1 = "no-cors"
      #expect(refusal(.GET, "/", other) == 403)
      other.remove(at: part)
      #expect(refusal(.GET, "/", other) == 403)
    }
  }

  @Test(arguments: [HTTPMethod.POST, .PUT, .DELETE, .MKCOL, .MOVE, .COPY, .PROPPATCH, .LOCK, .UNLOCK, .PATCH])
  func changesOfOtherPagesAreRefused(_ method: HTTPMethod) {
    for target in ["/dav/a", "/api/move"] {
      func refusal(_ headers: (String, String)...) -> UInt? { self.refusal(method, target, headers) }
      #expect(refusal() == nil, "programs send no origin")
      #expect(refusal(("Origin", "http://localhost")) == nil && refusal(("Origin", "https://localhost")) == nil)
      for origin in [
        "http://evil.example", "null", "", "localhost", "http://localhost:81", "http://localhost.evil.example",
        "http://127.0.0.1",
      ] {
        #expect(refusal(("Origin", origin)) == 403, "\(origin)")
        #expect(refusal(("Origin", origin), ("Sec-Fetch-Site", "none")) == 403, "\(origin)")
        // The browser has compared both, with names that proxies may have changed.
        #expect(refusal(("Origin", origin), ("Sec-Fetch-Site", "same-origin")) == nil, "\(origin)")
      }
      #expect(refusal(("Origin", "http://localhost"), ("Origin", "http://localhost")) == 403)
      for site in ["same-site", "cross-site"] {
        #expect(refusal(("Origin", "http://localhost"), ("Sec-Fetch-Site", site)) == 403)
      }
    }
    // Reading is no change.
    for method in [HTTPMethod.GET, .HEAD, .OPTIONS, .PROPFIND] {
      #expect(self.refusal(method, "/dav/a", [("Origin", "http://evil.example")]) == nil)
    }
  }

  @Test(arguments: ["image", "style", "script", "iframe", "object", "video", "embed", "font", "worker"])
  func workCannotBeEmbedded(_ kind: String) {
    for target in ["/api/list?path=/", "/api/zip?path=/", "/api/search?path=/&query=a", "/api/stat?path=/"] {
      #expect(refusal(.GET, target, [("Sec-Fetch-Dest", kind)]) == 403, "\(target)")
    }
    // The files of the tree can be parts of its pages.
    for target in ["/api/file?path=/a.png", "/", "/page.css"] {
      #expect(refusal(.GET, target, [("Sec-Fetch-Dest", kind)]) == nil, "\(target)")
    }
    for kind in ["empty", "document"] {
      #expect(refusal(.GET, "/api/list?path=/", [("Sec-Fetch-Dest", kind)]) == nil)
    }
  }
}
