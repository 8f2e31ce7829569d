import FileTrees
import Foundation
import SystemPackage
import Testing

/// Runs the programs of Sources/Examples, and checks by python what they say.
@Suite(.timeLimit(.minutes(5)))
struct ExampleTests {
  @Test func largestAttachmentsExampleRuns() throws {
    let sample = try Sample()
    try sample.make(
      by: """
        import mailbox, email.message
        box = mailbox.mbox('box.mbox')
        for number, sizes in enumerate([[100, 40000], [], [70000], [300]]):
          m = email.message.EmailMessage()
          m['From'], m['Subject'], m['Date'] = 'a@example.org', f'Letter {number}', 'Wed, 01 May 2024 11:30:00 +0200'
          m.set_content('See attached.')
          for size in sizes:
            m.add_attachment(bytes(i * 7 % 251 for i in range(size)), maintype='application', subtype='octet-stream',
                             filename=f'file {size}.bin')
          box.add(m)
        box.flush()
        """)
    let lines = try Sample.run("largest-attachments", sample.path("box.mbox"), "3").split(separator: "\n")
    #expect(lines.map { $0.prefix { $0 != "\t" } } == ["70000", "40000", "300"])
    #expect(lines.allSatisfy { $0.hasSuffix("/attachments/file \($0.prefix { $0 != "\t" }).bin") })
    #expect(try Sample.run("largest-attachments", sample.path("none")).contains("No such file"))
  }

  @Test func pdfThumbnailsExampleRuns() throws {
    let sample = try Sample()
    try sample.makeFolder("out")
    try sample.make(
      by: """
        import email.message, io, zipfile
        def pdf(width, height):
          parts = [b'<</Type/Catalog/Pages 2 0 R>>', b'<</Type/Pages/Kids[3 0 R]/Count 1>>',
                   b'<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]>>' % (width, height)]
          out, places = b'%PDF-1.4\\n', []
          for n, part in enumerate(parts, 1):
            places.append(len(out))
            out += b'%d 0 obj%s\\nendobj\\n' % (n, part)
          start = len(out)
          out += b'xref\\n0 4\\n0000000000 65535 f \\n' + b''.join(b'%010d 00000 n \\n' % p for p in places)
          return out + b'trailer<</Size 4/Root 1 0 R>>\\nstartxref\\n%d\\n%%%%EOF\\n' % start
        plain = io.BytesIO()
        with zipfile.ZipFile(plain, 'w') as z:
          z.writestr('wide.pdf', pdf(800, 400))
          z.writestr('deep/Tall.PDF', pdf(300, 600))
          z.writestr('note.txt', 'no PDF')
        m = email.message.EmailMessage()
        m['From'], m['Subject'], m['Date'] = 'a@example.org', 'Plans', 'Wed, 01 May 2024 11:30:00 +0200'
        m.set_content('See attached.')
        m.add_attachment(plain.getvalue(), maintype='application', subtype='zip', filename='plans.zip')
        m.add_attachment(pdf(100, 100), maintype='application', subtype='pdf', filename='loose.pdf')
        open('mail.eml', 'wb').write(bytes(m))
        """)
    let said = try Sample.run("pdf-thumbnails", sample.path("mail.eml"), sample.path("out"))
    let made = try sample.names(in: "out")
    #expect(Set(said.split(separator: "\n").map(String.init)) == Set(made))
    var sides: Set<[Int]> = []
    for name in made {
      let head = Array(try sample.bytes(of: "out/\(name)").prefix(24))
      #expect(head.starts(with: [0x89, 0x50, 0x4e, 0x47]))
      func number(_ place: Int) -> Int { head[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
      sides.insert([number(16), number(20)])
    }
    #expect(sides == [[256, 128], [128, 256]])
  }
}
