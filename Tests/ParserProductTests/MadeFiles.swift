import Foundation
import TestSupport
import Testing

/// A mailbox, a message and archives made by Python's own modules, and what these say of them.
struct MadeFiles: Decodable {
  struct Mail: Decodable {
    let subject: String
    let address: String
    let name: String
    let date: Int64
    let to: [String]
    let text: String
    let attachments: [Attachment]
  }

  struct Attachment: Decodable {
    let name: String
    let type: String
    let data: Data
    var bytes: [UInt8] { Array(data) }
  }

  struct Member: Decodable {
    let path: String
    let isFolder: Bool
    let data: Data
    var bytes: [UInt8] { Array(data) }
  }

  let folder: String
  let mails: [Mail]
  let members: [Member]

  var mailbox: String { "\(folder)/inbox.mbox" }
  var message: String { "\(folder)/forwarded.eml" }
  var archive: String { "\(folder)/a.zip" }

  /// Makes them in a new folder and calls `body`.
  static func with(_ body: (MadeFiles) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "reading-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let output = try #require(try Python.output(of: "folder = '\(folder.path)'\n" + program))
    try body(JSONDecoder().decode(MadeFiles.self, from: Data(output)))
  }

  private static let program = #"""
    import base64, email, email.policy, email.utils, io, json, mailbox, random, time, zipfile
    from email.message import EmailMessage
    random.seed(7)
    def encoded(value): return base64.b64encode(value).decode()
    data = {"letters/may.txt": b"Dear Ann,\n", "letters/": b"", "empty": b"", "big.bin": random.randbytes(700000) * 3,
            "stored.bin": random.randbytes(300000), "Gr\u00fc\u00dfe/\u65e5\u672c.txt": "\u00e4".encode() * 9000,
            "x.pdf": b"%PDF-1.4\n"}
    methods = {"stored.bin": zipfile.ZIP_STORED, "x.pdf": zipfile.ZIP_LZMA, "empty": zipfile.ZIP_BZIP2}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as z:
        for name, value in data.items(): z.writestr(name, value, methods.get(name))
    packed = buffer.getvalue()
    open(f"{folder}/a.zip", "wb").write(packed)
    broken = bytearray(packed)
    with zipfile.ZipFile(io.BytesIO(packed)) as z:
        members = [dict(path=i.filename.rstrip("/"), isFolder=i.is_dir(), data=encoded(z.read(i)))
                   for i in z.infolist()]
        broken[z.getinfo("stored.bin").header_offset + 200000] ^= 1
    open(f"{folder}/broken.zip", "wb").write(broken)
    box = mailbox.mbox(f"{folder}/inbox.mbox")
    mails = []
    for n in range(3):
        m = EmailMessage()
        m["From"] = email.utils.formataddr((["", "J\u00fcrgen", "Ann, of Kent"][n], f"a{n}@example.org"))
        m["To"] = "Zo\u00eb <zoe@example.org>, bob@example.org"
        m["Subject"] = ["plain", "Gr\u00fc\u00dfe aus \u6771\u4eac", "long " * 40 + "end"][n]
        m["Date"] = email.utils.formatdate(1700000000 + n * 1000, localtime=False)
        m.set_content(["Hello\nFrom here on\n", "\u00e4\u00f6\u00fc\n" * 50, ""][n])
        if n > 0:
            m.add_attachment(packed if n == 1 else random.randbytes(90001), maintype="application", subtype="zip",
                             filename=["", "all.zip", "r\u00e9sum\u00e9.zip"][n])
            m.add_attachment("a,b\nFrom x\n", subtype="csv", filename="t.csv")
        box.add(m)
        # As it was before the mailbox had it, where lines that begin with From are quoted.
        m = email.message_from_bytes(m.as_bytes(), policy=email.policy.default)
        who = m["From"].addresses[0]
        files = [dict(name=p.get_filename(), type=p.get_content_type(), data=encoded(p.get_payload(decode=True)))
                 for p in m.iter_attachments()]
        mails.append(dict(
            subject=str(m["Subject"]), address=who.addr_spec, name=who.display_name, to=[str(m["To"])],
            date=int(m["Date"].datetime.timestamp()), text=m.get_body(("plain",)).get_content(), attachments=files))
    box.flush()
    outer = EmailMessage()
    outer["Subject"] = "Fwd"
    outer.set_content("see below")
    outer.add_attachment(email.message_from_bytes(box[1].as_bytes(), policy=email.policy.default))
    open(f"{folder}/forwarded.eml", "wb").write(outer.as_bytes())
    print(json.dumps(dict(folder=folder, mails=mails, members=members)))
    """#
}
