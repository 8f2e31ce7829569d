/// What is searched, and what is to be found.
extension SearchTests {
  static func mail(_ fields: String, _ body: String, day: String = "3 May 2024") -> String {
    "From - \nDate: Fri, \(day) 12:00:00 +0200\nMIME-Version: 1.0\n\(fields)\n\n\(body)\n\n"
  }

  static let mails = [
    mail(
      "From: Anna Berg <anna@example.com>\nTo: Bob <bob@example.org>\nSubject: Q3 numbers\nX-Gmail-Labels: Work/Project A",
      "The invoice for the Straßenbahn is überfällig."),
    mail(
      "From: Bob <bob@example.org>\nTo: anna@example.com\nSubject: =?utf-8?Q?R=C3=A9sum=C3=A9?=\nContent-Type: text/html",
      "<p>an <b>invoice</b>, <i>not</i> paid<script>hidden</script>", day: "4 Jun 2023"),
    mail(
      "From: c@example.com\nSubject: 会議の資料\nContent-Type: text/plain; charset=utf-8", "添付ファイルをご確認ください。",
      day: "1 Jan 2020"),
    mail(
      "From: d@example.com\nSubject: files\nX-Gmail-Labels: Inbox,C++\nContent-Type: multipart/mixed; boundary=b",
      "--b\n\nthe scan\n--b\nContent-Type: application/pdf; name=\"tax return.pdf\"\n\n\(String(repeating: "x\n", count: 4000))--b--",
      day: "2 Feb 2021"),
    mail(
      "From: e@example.com\nSubject: both\nContent-Type: multipart/alternative; boundary=b",
      "--b\n\nonly a stub\n--b\nContent-Type: text/html\n\n<p>the whole <b>zebra</b>\n--b--", day: "1 Jan 2019"),
    mail(
      "From: f@example.com\nSubject: forwarded\nContent-Type: multipart/mixed; boundary=b",
      """
      --b

      see below
      --b
      Content-Type: message/rfc822

      From: g@example.com
      Subject: pangolin
      Content-Type: multipart/mixed; boundary=c

      --c

      made of marmalade
      --c
      Content-Disposition: attachment; filename=deep.bin

      x
      --c--
      --b--
      """, day: "1 Jan 2018"),
  ]

  /// The expected hits of each query: numbers of messages, newest first.
  static let queries: [(String, [Int])] = [
    ("invoice", [1, 2]), ("INVOICE", [1, 2]), ("uberfallig", [1]), ("\"the invoice\"", [1]), ("\"invoice the\"", []),
    ("inv*", [1, 2]), ("invoice -paid", [1]), ("resume OR q3", [1, 2]), ("hidden", []), ("zebra stub", [5]),
    ("\"whole zebra\"", [5]), ("from:anna", [1]),
    ("from:anna@example.com", [1]), ("to:anna", [2]), ("anna", [1, 2]), ("subject:invoice", []), ("filename:tax", [4]),
    ("has:attachment", [4, 6]), ("-has:attachment", [1, 2, 3, 5]), ("larger:5k", [4]), ("smaller:5k invoice", [1, 2]),
    ("after:2024-05-03", [1]), ("before:2021", [3, 5, 6]), ("after:2020-01-01 before:2021-02-02", [3]),
    ("after:2021-02-02 before:2021-02-03", [4]), ("label:work", [1]), ("label:work-project-a", [1]), ("label:proj", []),
    ("label:c++", [4]), ("label:c#", [4]), ("label:+", []),
    ("会議", [3]), ("議の", [3]), ("料", [3]), ("ファイルをご", [3]), ("会の", []), ("資料 確認", [3]),
    ("(invoice OR scan) -from:bob", [1, 4]), ("marmalade pangolin", [6]), ("subject:pangolin", []), ("from:g", []),
    ("g@example.com", [6]), ("filename:deep", [6]),
  ]
}
