import NIOHTTP1

/// The page that shows the tree in browsers. The files in this directory are embedded in the program.
enum Page {
  /// The policy of the page: only its own files, without inline scripts or styles. Files of the tree are framed without
  /// scripts.
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
    + "connect-src 'self'; font-src 'self'; manifest-src 'self'; frame-src 'self'; object-src 'self'; base-uri 'none'; "
    + "form-action 'self'; frame-ancestors 'none'"

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
    return html(Array(text.utf8), status: .unauthorized)
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

extension String {
  fileprivate func replacing(_ character: Character, with text: String) -> String {
    split(separator: character, omittingEmptySubsequences: false).joined(separator: text)
  }
}
