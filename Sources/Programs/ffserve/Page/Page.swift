import NIOHTTP1

/// The page that shows the tree in browsers. The files in this directory are embedded in the program.
enum Page {
  /// The policy of the page: only its own files, without inline scripts or styles. Files of the tree are framed without
  /// scripts.
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
    + "connect-src 'self'; font-src 'self'; manifest-src 'self'; frame-src 'self'; object-src 'self'; base-uri 'none'; "
    + "form-action 'none'; frame-ancestors 'none'"

  private static let assets: [String: (type: String, bytes: [UInt8])] = [
    "/": ("text/html; charset=utf-8", PackageResources.page_html),
    "/page.css": ("text/css; charset=utf-8", PackageResources.page_css),
    "/page.js": ("text/javascript; charset=utf-8", PackageResources.page_js),
    "/write.js": ("text/javascript; charset=utf-8", PackageResources.write_js),
    "/enter.js": ("text/javascript; charset=utf-8", Array(entering.utf8)),
  ]

  static func answer(_ request: HTTPRequest) -> Response {
    guard let asset = assets[String(request.path)] else {
      return .problem(.notFound, "page not found (the tree is below /api/ and /dav/)")
    }
    return html(asset.bytes, type: asset.type)
  }

  private static func html(
    _ bytes: [UInt8], type: String = "text/html; charset=utf-8", status: HTTPResponseStatus = .ok
  ) -> Response {
    Response(
      status,
      headers: [
        ("Content-Type", type), ("Content-Security-Policy", policy), ("Cache-Control", "private, no-cache"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("X-DNS-Prefetch-Control", "off"),
      ], .bytes(bytes))
  }

  /// Leads from an address with the token to the one without, so that the token is in no history and no link. This is
  /// not a redirect: for a browser that comes from another page, that would be a cross-site request, without the
  /// cookie. Scripts preserve the part after `#`, which servers do not receive.
  static func forgettingToken(_ request: HTTPRequest) -> Response {
    let rest = request.query.without("token").utf8.filter {
      // An encoded query contains no characters that could end the attribute.
      !"\"'<>&; ".utf8.contains($0) || $0 == UInt8(ascii: "&")
    }
    let target = String(decoding: rest, as: UTF8.self).replacing("&", with: "&amp;")
    let text = """
      <!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>ffmount</title>\
      <noscript><meta http-equiv="refresh" content="0;url=./\(target.isEmpty ? "" : "?" + target)"></noscript>\
      <script src="enter.js"></script>
      """
    return html(Array(text.utf8)).with("Cache-Control", "no-store")
  }

  private static let entering = """
    const rest = location.search.slice(1).split("&").filter((part) => part !== "token" && !part.startsWith("token="));
    location.replace(location.pathname + (rest.join("&") && "?" + rest.join("&")) + location.hash);

    """

  /// The page for clients without the token.
  static let locked = html(
    Array(
      """
      <!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">\
      <title>ffmount</title><h1>Locked</h1><p>Open the address that <code>ffmount serve</code> printed, \
      with its token, or scan its QR code.</p>
      """.utf8), status: .unauthorized)
}

extension String {
  fileprivate func replacing(_ character: Character, with text: String) -> String {
    split(separator: character, omittingEmptySubsequences: false).joined(separator: text)
  }
}
