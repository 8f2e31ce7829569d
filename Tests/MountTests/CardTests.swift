import TestSupport
import Testing

/// Calendars and contacts through a mount.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CardTests {
  private static let calendar = """
    BEGIN:VCALENDAR
    VERSION:2.0
    PRODID:-//x//y//EN
    BEGIN:VTIMEZONE
    TZID:Europe/Berlin
    BEGIN:STANDARD
    DTSTART:19701025T030000
    TZOFFSETFROM:+0200
    TZOFFSETTO:+0100
    END:STANDARD
    END:VTIMEZONE
    BEGIN:VTIMEZONE
    TZID:Unused
    END:VTIMEZONE
    BEGIN:VEVENT
    UID:1
    DTSTART;TZID=Europe/Berlin:20240503T100000
    DTEND;TZID=Europe/Berlin:20240503T113000
    SUMMARY:Besprechung: Zahlen\\, Pläne / mehr
    LOCATION:Raum 5\\; Haus B
    RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=4
    ORGANIZER;CN="Müller, Eva":mailto:eva@example.org
    ATTENDEE;PARTSTAT=ACCEPTED;CN=Karl:mailto:karl@example.org
    DESCRIPTION:Erste Zeile\\nzweite Zeile\\, die
      umbrochen ist
    BEGIN:VALARM
    DESCRIPTION:Nicht diese
    END:VALARM
    END:VEVENT
    BEGIN:VEVENT
    UID:2
    DTSTART;VALUE=DATE:20240229
    DTEND;VALUE=DATE:20240302
    SUMMARY:Ausflug
    RRULE:FREQ=MONTHLY;BYDAY=-1FR
    END:VEVENT
    BEGIN:VEVENT
    UID:1
    RECURRENCE-ID;TZID=Europe/Berlin:20240506T100000
    DTSTART:20240506T120000Z
    SUMMARY:Verschoben
    END:VEVENT
    BEGIN:VTODO
    SUMMARY:Steuer
    DUE:20240731T120000Z
    END:VTODO
    END:VCALENDAR
    """

  private static let cards = """
    BEGIN:VCARD
    VERSION:3.0
    FN:Dr. Jane Doe
    N:Doe;Jane;;Dr.;
    ORG:Firma;Abteilung
    TEL;TYPE=CELL,voice:+49 30 1
    item1.EMAIL;type=INTERNET:j@example.org
    item1.X-ABLabel:_$!<Other>!$_
    ADR;TYPE=home:;;Weg 1;Ort;;12345;Land
    NOTE:a\\, "b" c
    PHOTO;ENCODING=b;TYPE=PNG:iVBORw0K
     GgoAAAAA
    END:VCARD
    BEGIN:VCARD
    VERSION:2.1
    N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:M=FCller;J=F6rg
    TEL;HOME;VOICE:1
    TEL;WORK:2
    ADR;WORK;ENCODING=QUOTED-PRINTABLE:;;Stra=C3=9Fe =
    2;Ort
    END:VCARD
    BEGIN:VCARD
    FN:Dr. Jane Doe
    END:VCARD

    """

  @Test func calendarsAndContactsHaveEntryAndTextViews() async throws {
    try await withScratch { scratch in
      try scratch.write("a.ics", Self.calendar.replacing("\n", with: "\r\n"))
      try scratch.write("b.vcf", Self.cards)
      try scratch.write("none.ics", "nothing")
      try await withMount(scratch) { mount in
        let lines = """
          export LC_ALL=C.UTF-8; cd "$1" && { ls; ls a.ics.contents b.vcf.contents; cat a.ics.as-txt; echo --; cat b.vcf.as-txt
          echo --; cat b.vcf.as-csv; echo --; cat none.ics.as-txt; ls none.ics.contents; cd a.ics.contents
          tr -d '\\r' < '2024-02-29 Ausflug.ics'; grep -c BEGIN:VEVENT 2024-05*; grep TZID: 2024-05*; cat *.as-txt
          for f in *; do stat -c %s "$f" | cmp - <(cat "$f" | wc -c); done; cat '2024-07-31 Steuer.ics.as-txt'
          cd ../b.vcf.contents; od -An -tx1 'Dr. Jane Doe.png'; cat 'Dr. Jane Doe (1).vcf'; } 2>&1
          """
        let said = try await shell(lines, mount.mountpoint, limit: 60)
        #expect(
          said.text == """
            a.ics
            b.vcf
            none.ics
            a.ics.contents:
            2024-02-29 Ausflug.ics
            2024-05-03 Besprechung: Zahlen, Pläne - mehr.ics
            2024-07-31 Steuer.ics

            b.vcf.contents:
            Dr. Jane Doe (1).vcf
            Dr. Jane Doe.png
            Dr. Jane Doe.vcf
            Jörg Müller.vcf
            Besprechung: Zahlen, Pläne / mehr
            When: 2024-05-03 10:00 to 11:30 (Europe/Berlin)
            Repeats: every week on Monday, Wednesday, 4 times
            Where: Raum 5; Haus B
            Organizer: Müller, Eva <eva@example.org>
            Attendee: Karl <karl@example.org>, accepted

            Erste Zeile
            zweite Zeile, die umbrochen ist

            Ausflug
            When: 2024-02-29 to 2024-03-01
            Repeats: FREQ=MONTHLY;BYDAY=-1FR

            Verschoben
            When: 2024-05-06 12:00 (UTC)
            Instead of: 2024-05-06 10:00 (Europe/Berlin)

            Steuer
            Due: 2024-07-31 12:00 (UTC)
            --
            Dr. Jane Doe
            Organization: Firma, Abteilung
            E-mail (other): j@example.org
            Phone (cell): +49 30 1
            Address (home): Weg 1, 12345, Ort, Land

            a, "b" c

            Jörg Müller
            Phone (home): 1
            Phone (work): 2
            Address (work): Straße 2, Ort

            Dr. Jane Doe
            --
            Name,Given name,Family name,Organization,Title,E-mail,Phone,Address,Birthday,Web,Categories,Note\r
            Dr. Jane Doe,Jane,Doe,"Firma, Abteilung",,j@example.org,+49 30 1,"Weg 1, 12345, Ort, Land",,,,"a, ""b"" c"\r
            Jörg Müller,Jörg,Müller,,,,1; 2,"Straße 2, Ort",,,,\r
            Dr. Jane Doe,,,,,,,,,,,\r
            --
            ls: cannot access 'none.ics.contents': No such file or directory
            BEGIN:VCALENDAR
            VERSION:2.0
            PRODID:-//x//y//EN
            BEGIN:VEVENT
            UID:2
            DTSTART;VALUE=DATE:20240229
            DTEND;VALUE=DATE:20240302
            SUMMARY:Ausflug
            RRULE:FREQ=MONTHLY;BYDAY=-1FR
            END:VEVENT
            END:VCALENDAR
            2
            TZID:Europe/Berlin\r
            cat: '*.as-txt': No such file or directory
            Steuer
            Due: 2024-07-31 12:00 (UTC)
             89 50 4e 47 0d 0a 1a 0a 00 00 00 00
            BEGIN:VCARD
            FN:Dr. Jane Doe
            END:VCARD

            """)
      }
    }
  }

  @Test func truncatedCalendarsAndContactsAreReported() async throws {
    try await withScratch { scratch in
      let event = "BEGIN:VEVENT\nSUMMARY:Whole\nEND:VEVENT\n"
      try scratch.write("a.ics", "BEGIN:VCALENDAR\n\(event)BEGIN:VEVENT\nSUMMARY:Cu")
      try scratch.write("b.vcf", "BEGIN:VCARD\nFN:Whole\nEND:VCARD\nBEGIN:VCARD\nFN:Cut\n")
      // Between two entries.
      try scratch.write("c.ics", "BEGIN:VCALENDAR\n\(event)")
      try await withMount(scratch) { mount in
        let lines = """
          export LC_ALL=C.UTF-8; cd "$1"
          { for d in a.ics b.vcf c.ics; do ls $d.contents; getfattr --only-values -n user.ffmount.error $d.contents; echo
          cat $d.as-txt; done; cat b.vcf.as-csv | tail -n 1; } 2>&1
          """
        let said = try await shell(lines, mount.mountpoint, limit: 60)
        #expect(
          said.text == """
            Whole.ics
            a.ics: expected END:VEVENT, found the end of the file (at byte 77)
            Whole
            cat: a.ics.as-txt: Input/output error
            Whole.vcf
            b.vcf: expected END:VCARD, found the end of the file (at byte 50)
            Whole
            cat: b.vcf.as-txt: Input/output error
            Whole.ics
            c.ics: expected END:VCALENDAR, found the end of the file (at byte 54)
            Whole
            cat: c.ics.as-txt: Input/output error
            cat: b.vcf.as-csv: Input/output error
            Whole,,,,,,,,,,,\r

            """)
      }
    }
  }
}
