import HTML
import Testing

@Suite struct HTMLTextTests {
  @Test(arguments: [
    ("<p>a</p><p>b</p>", "a\n\nb\n"), ("a<br>b<div>c</div>d", "a\nb\nc\nd\n"),
    ("<title>t</title>a<style>p{}</style>b<SCRIPT>if (a<b) c</SCRIPT>d<!-- e -->f", "abdf\n"),
    ("a</script>b</title>c", "abc\n"), ("<template><p>a</p></template>b", "b\n"),
    ("<ul><li>a<li>b</ul>c", "- a\n- b\n\nc\n"), ("<table><tr><td>a<td>b<tr><td>c</table>", "a\tb\nc\n"),
    ("<td>a<td>b", "a\tb\n"), ("a<td>b", "a\tb\n"), ("<tr><td><tr><td><td>a</tr><td>b", "a\nb\n"),
    ("a<br><br><br><br>b", "a\n\nb\n"), ("<br>a<hr>b", "a\n----\nb\n"),
    ("<pre>a\n  b</pre>", "a\n  b\n"), (" a \n b ", "a b\n"), ("a < b", "a < b\n"),
    ("&#65;&#x42;&#X43;&#x64&#101 &amp;&lt;&nbsp;&eacute;", "ABCde &< é\n"),
    ("&#128;&#x99;&#xd800;&#0;", "€™\u{fffd}\u{fffd}\n"),
    ("&#xA;&#x110000;&bogus;&#x;&#;", "\n\u{fffd}&bogus;&#x;&#;\n"),
  ])
  func htmlIsConvertedToText(_ html: String, _ text: String) {
    #expect(String(decoding: HTMLText.text(of: Array(html.utf8)), as: UTF8.self) == text)
  }
}
