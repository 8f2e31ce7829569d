import NIOCore
import NIOHTTP1

/// The page that shows the tree in browsers. The files in this directory are embedded in the program.
enum Page {
  /// The policy of the page: only its own files, without inline scripts or styles. Files of the tree are framed without
  /// scripts.
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
    + "connect-src 'self'; font-src 'self'; manifest-src 'self'; frame-src 'self'; object-src 'self'; base-uri 'none'; "
    + "form-action 'self'; frame-ancestors 'none'"

  private struct Asset {
    let type: String
    let bytes: ByteBuffer
    /// The entity tag.
    let tag: String

    init(type: String, _ bytes: [UInt8]) {
      self.type = type
      self.bytes = ByteBuffer(bytes: bytes)
      tag = Response.entityTag(of: self.bytes)
    }

    /// The query of addresses with this content.
    var version: String { "v=" + tag.filter { $0 != "\"" } }
  }

  /// The scripts and styles, and what browsers need to install the page as an application (W3C Web Application Manifest).
  private static let parts: [String: Asset] = [
    "page.css": Asset(type: "text/css; charset=utf-8", PackageResources.page_css),
    "page.js": Asset(type: "text/javascript; charset=utf-8", PackageResources.page_js),
    "write.js": Asset(type: "text/javascript; charset=utf-8", PackageResources.write_js),
    "share.js": Asset(type: "text/javascript; charset=utf-8", PackageResources.share_js),
    "manifest.webmanifest": Asset(type: "application/manifest+json", PackageResources.manifest_webmanifest),
    "icon.svg": Asset(type: "image/svg+xml", PackageResources.icon_svg),
    "icon.png": Asset(type: "image/png", PackageResources.icon_png),
    "enter.js": Asset(type: "text/javascript; charset=utf-8", Array(entering.utf8)),
  ]

  /// The document, which refers to the parts by addresses that change with their content.
  private static let document = {
    var text = String(decoding: PackageResources.page_html, as: UTF8.self)
    for (name, part) in parts { text = text.replacing("\"\(name)\"", with: "\"\(name)?\(part.version)\"") }
    return Asset(type: "text/html; charset=utf-8", Array(text.utf8))
  }()

  static func answer(_ request: HTTPRequest) -> Response {
    let name = String(request.path.dropFirst())
    guard let asset = name.isEmpty ? document : parts[name] else {
      return .problem(.notFound, "page not found (the tree is below /api/ and /dav/)")
    }
    let response = html(asset.bytes, type: asset.type).tagged(asset.tag, for: request)
    return request.query.sent == asset.version
      ? response.with("Cache-Control", "private, max-age=31536000, immutable") : response
  }

  private static func html(
    _ bytes: ByteBuffer, type: String = "text/html; charset=utf-8", status: HTTPResponseStatus = .ok
  ) -> Response {
    Response(
      status,
      headers: [
        ("Content-Type", type), ("Content-Security-Policy", policy), ("Cache-Control", "private, no-cache"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("X-DNS-Prefetch-Control", "off"),
      ], .buffer(bytes))
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
    return html(ByteBuffer(string: text)).with("Cache-Control", "no-store")
  }

  private static let entering = """
    const rest = location.search.slice(1).split("&").filter((part) => part !== "token" && !part.startsWith("token="));
    location.replace(location.pathname + (rest.join("&") && "?" + rest.join("&")) + location.hash);

    """

  /// The address of the form for names and passwords.
  static let login = "/login"
  /// The address that ends a session.
  static let logout = "/logout"

  /// Returns the page for clients without credentials, or with wrong ones.
  ///
  /// - Parameters:
  ///   - hasNames: whether there are users with passwords.
  ///   - link: the name of the link to which the password belongs, which consists of plain characters.
  static func locked(hasNames: Bool, isWrong: Bool, link: String? = nil) -> Response {
    let ended = "token is wrong, or the link has ended"
    let asksName = hasNames && link == nil
    let hasPassword = hasNames || link != nil
    let title = link != nil ? "Shared files" : hasNames ? "Sign in" : "Locked"
    let wrong =
      isWrong
      ? "<p role=\"alert\">The \(asksName ? "name or password is wrong" : hasPassword ? "password is wrong" : ended).</p>"
      : ""
    let hidden = link.map { "<input type=\"hidden\" name=\"name\" value=\"\($0)\">" } ?? ""
    let name = """
      <label>Name<input name="name" autocomplete="username" autocapitalize="off" spellcheck="false" autofocus></label>
      """
    let hint = "<p>The token is in the address and QR code that <code>ffmount serve</code> printed.</p>"
    let text = """
      <!DOCTYPE html><html lang="en"><meta charset="utf-8">\
      <meta name="viewport" content="width=device-width, initial-scale=1">\
      <meta name="color-scheme" content="light dark"><title>\(title) – ffmount</title>\
      <style>\(lockedStyle)</style><main><h1>\(title)</h1>\(wrong)\
      <form method="post" action="login">\(asksName ? name : hidden)<label>\(hasPassword ? "Password" : "Token")\
      <input name="password" type="password" autocomplete="current-password" required></label>\
      <button>\(asksName ? "Sign in" : "Open")</button></form>\(hasPassword ? "" : hint)</main>
      """
    return html(ByteBuffer(string: text), status: .unauthorized)
      .with("Content-Security-Policy", lockedPolicy).with("Cache-Control", "no-store")
  }

  private static let lockedPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

  private static let lockedStyle = """
    body{font:16px/1.5 system-ui,sans-serif;margin:0;min-height:100vh;display:grid;place-items:center}\
    main{width:min(20rem,calc(100vw - 3rem))}h1{font-size:1.5rem}label{display:block;margin:0 0 1rem}\
    input{display:block;width:100%;box-sizing:border-box;font:inherit;padding:.6rem;margin-top:.25rem}\
    button{font:inherit;width:100%;padding:.7rem;border:0;border-radius:.5rem;background:#2467c4;color:#fff}\
    [role=alert]{color:light-dark(#b3261e,#ff8a80)}
    """
}
