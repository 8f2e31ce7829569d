import TestSupport
import Testing

/// Messages of Outlook's through a mount, read by the real worker and by Python.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OutlookTests {
  @Test func outlookMessagesHaveMailViews() async throws {
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
          getfattr --only-values -n user.ffmount.remark letter.msg.as-eml; echo; ls none.msg.message; cat none.msg.message/*
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
            body.txt
            headers.txt
            message.eml
            cat: none.msg.message/body.txt: Input/output error
            cat: none.msg.message/headers.txt: Input/output error
            cat: none.msg.message/message.eml: Input/output error
            none.msg: is not a readable compound file (at byte 0)
            """)
      }
    }
  }

  /// A name does not decide: some programs save ordinary messages as `.msg`.
  @Test func ordinaryMessageOfThatNameIsRead() async throws {
    try await withScratch { scratch in
      try scratch.write(
        "plain.msg", "From: a@example.org\nSubject: one\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\nHello\n")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          "ls plain.msg.message; cat plain.msg.message/body.txt; cmp plain.msg.as-eml $S/plain.msg", scratch)
        #expect(said == "body.txt\nheaders.txt\nmessage.eml\nHello\n")
      }
    }
  }

  @Test func signedOutlookMessagesShowTheirContent() async throws {
    try await withScratch { scratch in
      try await script("make_outlook.py", scratch.source + "/signed.msg", "signed")
      try await withMount(scratch) { mount in
        let lines = """
          export LC_ALL=C.UTF-8; cd "$1/signed.msg.message" && ls . attachments && cat body.txt; echo; cat attachments/a.csv; echo; cat headers.txt
          tail -c +$(($(grep -abo -m1 -- --s message.eml | cut -d: -f1) + 1)) message.eml | sha1sum
          """
        let said = try await shell(lines, mount.mountpoint, limit: 60)
        #expect(
          said.text == """
            .:
            attachments
            body.txt
            headers.txt
            message.eml

            attachments:
            a.csv
            smime.p7s
            Grüße, signed\u{20}
            1,2
            MIME-Version: 1.0
            From: <j@example.org>
            Subject: Signed
            Date: Tue, 14 Nov 2023 22:13:20 +0000
            Content-Type: multipart/signed; protocol="application/x-pkcs7-signature"; boundary="s"
            6425144abf470475c0fc5fd0d86809c4925fb119  -

            """)
      }
    }
  }

  @Test func outlookStoresAreSearchedWithoutAMount() async throws {
    try await withScratch { scratch in
      let store = scratch.source + "/mail.pst"
      try await script("make_pst.py", store)
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache", "LC_ALL": "C"]
      func ffmount(_ words: String...) async throws -> MountChild.Result {
        try await MountChild([MountProcess.binary] + words, environment: environment).wait(atMost: 30)
      }
      let queries = ["Buy", "from:karl", "Prüfung", "absent"]
      var found: [String] = []
      for query in queries {
        let said = try await ffmount("search", store, query)
        #expect(said.status == (query == "absent" ? 1 : 0), "\(said.errors)")
        found += said.lines.compactMap { $0.split(separator: "\t").first.map(String.init) }
      }
      #expect(found.first == "mail.pst.messages/000004 undated unknown sender - Milk", "\(found)")
      try await withMount(scratch) { mount in
        let lines =
          "cd \"$1/mail.pst.views/search\"; shift; for q; do ls -r \"$q\" | sed 's,^,mail.pst.messages/,'; done"
        let shown = try await shell(lines, mount.mountpoint, queries[0], queries[1], queries[2], queries[3])
        #expect(found.sorted() == shown.lines.sorted(), "\(shown.errors)")
      }
      let indexed = try await ffmount("index", "--search", "--mail", scratch.source)
      #expect(
        indexed.status == 0 && indexed.text.contains("4 messages") && indexed.text.contains("text of \(store)"),
        "\(indexed.text)\(indexed.errors)")
      try scratch.write("none.pst", "!BDN and nothing else")
      let none = try await ffmount("search", scratch.source + "/none.pst", "x")
      #expect(none.status == 2 && none.errors.contains("not an Outlook data file"), "\(none.errors)")
    }
  }

  @Test func outlookStoresHaveMailboxViews() async throws {
    try await withScratch { scratch in
      try await script("make_pst.py", scratch.source + "/mail.pst")
      try scratch.write("none.pst", "!BDN and nothing else")
      try await withMount(scratch) { mount in
        let lines = """
          export LC_ALL=C.UTF-8; cd "$1" && { ls; ls none.pst.messages; getfattr --only-values -n user.ffmount.error \
          none.pst.messages; echo; cd mail.pst.messages && ls | cut -d' ' -f 2-; cd 000002*
          stat -c %s message.eml | cmp - <(cat message.eml | wc -c); grep -o 'src="[^"]*"' body.html; ls attachments
          ls attachments/Inner.eml.message/attachments; cd ..; cat 000003*/headers.txt; cd ../mail.pst.views
          (cd by-label; find * -type d | grep -v '/0'); ls search/from:karl search/Buy with-attachments; } 2>&1
          """
        let said = try await shell(lines, mount.mountpoint, limit: 60)
        #expect(
          said.text == """
            mail.pst
            mail.pst.messages
            mail.pst.views
            none.pst
            none.pst.messages
            none.pst.views
            ls: cannot open directory 'none.pst.messages': Input/output error
            none.pst: cannot be read (is not an Outlook data file (at byte 0))
            2023-11-14 Jürgen - Prüfung 日本
            2023-11-14 Jürgen - Re: Prüfung 日本
            2023-11-14 Karl - As it came
            undated unknown sender - Milk
            src="attachments/Bild%20%C3%A4.png"
            Bild ä.png
            Inner.eml
            Inner.eml.message
            empty.txt
            deep.bin
            MIME-Version: 1.0
            Content-Type: text/plain; charset=utf-8
            Content-Transfer-Encoding: base64
            Received: by x
            From: Karl <karl@example.org>
            Subject: As it came
            Message-ID: <came@x>
            Date: Tue, 14 Nov 2023 10:00:00 +0100
            Inbox
            Inbox/A-B
            Notes
            flagged
            replied
            unread
            search/Buy:
            000004 undated unknown sender - Milk

            search/from:karl:
            000003 2023-11-14 Karl - As it came

            with-attachments:
            000002 2023-11-14 Jürgen - Re: Prüfung 日本

            """)
        let seen = try await shell(
          "cd \"$1\"/mail.pst.messages/000002* && exec python3 \"$2\" message.eml", mount.mountpoint,
          MountScratch.package + "/Tests/Scripts/show_message.py", limit: 60)
        #expect(
          seen.lines.suffix(5) == [
            "image/png inline Bild ä.png: 858a1b565078b7f4ceb27c632ae19cbe5d696837",
            "text/plain attachment empty.txt: ",
            "message Inner.eml", "text/plain None None: inside",
            "application/x-deep attachment deep.bin: c2d3c73132fde103abd111ca7bf62beef897e69d",
          ])
      }
    }
  }
}
