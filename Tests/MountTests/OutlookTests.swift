import TestSupport
import Testing

/// Messages of Outlook's through a mount, read by the real worker and by Python.
@Suite(.serialized, .timeLimit(.minutes(2))) struct OutlookTests {
  @Test func messagesOfOutlookAreMessages() async throws {
    try await withScratch { scratch in
      try await script("make_outlook.py", scratch.source + "/letter.msg")
      try scratch.write("none.msg", "no compound file")
      try await withMount(scratch) { mount in
        let seen = try await script("show_message.py", mount.mountpoint + "/letter.msg.as-eml").lines
        #expect(
          seen == [
            "from: Jürgen <j@example.org>", "to: Anna <anna@example.org>", "cc: Nobody <>", "subject: Prüfung 日本",
            "date: Tue, 14 Nov 2023 22:13:20 +0000", "message-id: <a@b>", "importance: high",
            "text/plain None None: Grüße\r\nplain", "text/html None None: <p>Grüße&#8364;</p>",
            "image/png inline Bild ä.png: 0771e93c41d50171a121b23dc862ca4aba2f546e", "message inner.eml",
            "text/plain None None: Привет",
          ])
        let lines = """
          export LC_ALL=C.UTF-8; cd "$1" && { ls; cd letter.msg.message && ls && cmp message.eml ../letter.msg.as-eml
          stat -c %s message.eml | cmp - <(cat message.eml | wc -c); cat body.html | grep -o '<p>.*</p>'
          ls attachments; grep Subject attachments/inner.eml.message/headers.txt; cat attachments/inner.eml.message/body.txt; cd ..
          getfattr --only-values -n user.ffmount.remark letter.msg.as-eml; echo; ls none.msg.message
          getfattr --only-values -n user.ffmount.error none.msg.as-eml; } 2>&1
          """
        let said = try await shell(lines, mount.mountpoint, limit: 60)
        #expect(
          said.text == """
            letter.msg
            letter.msg.message
            none.msg
            none.msg.message
            attachments
            body.html
            body.txt
            headers.txt
            message.eml
            <p>Grüße&#8364;</p>
            Bild ä.png
            inner.eml
            inner.eml.message
            Subject: Sent so
            Приветletter.msg without 1 embedded objects, which only Outlook can open
            ls: cannot open directory 'none.msg.message': Input/output error
            none.msg: is no compound file that can be read (at byte 0)
            """)
      }
    }
  }
}
