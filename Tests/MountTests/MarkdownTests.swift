import TestSupport
import Testing

/// Markdown as a source, through a mount.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MarkdownTests {
  private static let notes = """
    ---
    title: hidden
    ---
    # Head & *more*

    - [x] done
    - [ ] to do
      1. first
      2. ~~second~~

    | a | b |
    |---|---|
    | 1 | **2** |

    ```swift
    let x = a < b
    ```

    See www.example.org, [this](javascript:alert(1)) and ![a cat](cat.png).[^1]
    <script>alert(2)</script><kbd onclick="alert(3)">Esc</kbd><iframe src="x"></iframe>

    [^1]: A note.

    """

  @Test func markdownHasTextAndHTMLViews() async throws {
    try await withScratch { scratch in
      try scratch.write("notes.md", Self.notes)
      let target = String(repeating: "b", count: 60_000)
      try scratch.write("bomb.markdown", "[a]: /\(target)\n\n" + String(repeating: "[a] ", count: 300))
      try scratch.write("empty.md", "\n")
      try await withMount(scratch) { mount in
        let lines = """
          export LC_ALL=C.UTF-8; cd "$1" && { ls | tr '\\n' ' '; echo; cat notes.md.as-txt; echo ----
          sed '1,/<body>/d' notes.md.as-html; cat empty.md.as-txt | wc -c
          # Debian 13's cmark-gfm expands references to a limit only, which leaves the rest as it is.
          if cat bomb.markdown.as-html > "$2/bomb"; then [ $(wc -c < "$2/bomb") -lt 1000000 ] && echo limited; else
            getfattr --only-values -n user.ffmount.error bomb.markdown.as-html | tr -d 0-9; fi; } 2>&1
          """
        let said = try await shell(lines, mount.mountpoint, scratch.path, limit: 30)
        let refused = "cat: bomb.markdown.as-html: Input/output error\nbomb.markdown: grows to  bytes as a page"
        #expect([refused, "limited\n"].map { Self.expected + $0 }.contains(said.text))
      }
    }
  }

  private static let expected = """
    bomb.markdown empty.md notes.md 
    Head & more

    • ☑ done
    • ☐ to do
      1. first
      2. second

    a\tb
    1\t2

    let x = a < b


    See www.example.org, this and a cat.1

    Esc

    1. A note.
    ----
    <h1>Head &amp; <i>more</i></h1>
    <ul>
    <li>☑ done</li>
    <li>☐ to do</li>
    <ol>
    <li value="1">first</li>
    <li value="2"><s>second</s></li>
    </ol>
    </ul>
    <table>
    <tr><th>a</th><th>b</th></tr>
    <tr><td>1</td><td><b>2</b></td></tr>
    </table>
    <pre>let x = a &lt; b
    </pre>
    <p>See <a href="http://www.example.org">www.example.org</a>, this and <a class="picture" href="cat.png">a cat</a>.<sup>1</sup></p>
    <p><code>Esc</code></p>
    <ol>
    <li value="1">A note.</li>
    </ol>
    </body>
    </html>
    0

    """
}
