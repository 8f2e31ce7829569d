import Bytes
import ServerAnswers
import Testing

struct BucketTests {
  private func page(_ content: String) throws -> BucketListing {
    let text = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    return try BucketListing(Array((text + content + "</ListBucketResult>").utf8))
  }

  private func object(_ key: String, size: String = "5") -> String {
    "<Contents><Key>\(key)</Key><LastModified>2024-01-02T03:04:05.678Z</LastModified><ETag>&quot;abc&quot;</ETag>"
      + "<Size>\(size)</Size></Contents>"
  }

  private func names(_ page: BucketListing, _ prefix: String) -> [String] {
    page.entries(of: Array(prefix.utf8)).map { item in
      String(decoding: item.name.bytes, as: UTF8.self) + (item.kind == .folder ? "/" : "")
    }
  }

  @Test func objectsAndFoldersAreEntries() throws {
    let page = try page(
      "<EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>" + object("a/") + object("a/x+y%2B%26%C3%A4")
        + "<CommonPrefixes><Prefix>a/b%0A/</Prefix></CommonPrefixes>")
    #expect(names(page, "a/") == ["x y+&ä", "b\n/"])
    let item = try #require(page.entries(of: Array("a/".utf8)).first)
    #expect(item.size == .exact(5))
    #expect(item.tag == "\"abc\"")
    #expect(item.modified == Timestamp(seconds: 1_704_164_645, nanoseconds: 678_000_000))
    #expect(page.next == nil)
  }

  /// Without an encoding type, keys are as they are.
  @Test func unencodedKeysAreKept() throws { #expect(names(try page(object("a/x+y%41")), "a/") == ["x+y%41"]) }

  @Test(arguments: ["a/../x", "a//", "a/.", "a/..", "b/x", "a", "", "a/x/y"])
  func otherKeysAreNotEntries(key: String) throws {
    #expect(
      names(try page(object(key) + "<CommonPrefixes><Prefix>\(key)/</Prefix></CommonPrefixes>"), "a/").allSatisfy {
        $0 == "x/"
      })
  }

  @Test func nextPageIsMarked() throws {
    let mark = "<NextContinuationToken>1/x=&amp;</NextContinuationToken>"
    #expect(try page("<IsTruncated>true</IsTruncated>" + mark).next == "1/x=&")
    #expect(try page("<IsTruncated>false</IsTruncated>" + mark).next == nil)
  }

  @Test(arguments: [
    "<IsTruncated>true</IsTruncated>", "<Contents><Key>a</Key></Contents>",
    "<EncodingType>url</EncodingType><Contents><Key>%zz</Key><Size>1</Size></Contents>", "<Contents>", "&x;",
    "<Contents><Key>a</Key><Size>-1</Size></Contents>",
  ])
  func brokenPagesAreRefused(content: String) { #expect(throws: Fault.self) { try page(content) } }

  @Test(arguments: ["", "x", "<html/>", "<Error><Code>x</Code></Error>"])
  func otherAnswersAreRefused(text: String) { #expect(throws: Fault.self) { try BucketListing(Array(text.utf8)) } }

  @Test func errorsAreRead() throws {
    let text =
      "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>gone\nforever</Message><Region>eu-x-1</Region></Error>"
    let error = try #require(BucketError(Array(text.utf8)))
    #expect(error.code == "NoSuchKey" && error.message == "gone forever" && error.region == "eu-x-1")
    #expect(BucketError(Array("<html/>".utf8)) == nil && BucketError([]) == nil)
    #expect(BucketError(Array("<Error><Code>x</Code><Region>evil.example/</Region></Error>".utf8))?.region == nil)
  }
}

struct AWSSettingsTests {
  private func settings(
    _ variables: [String: String], credentials: String = "", config: String = ""
  ) throws -> AWSSettings {
    let files = ["/home/me/.aws/credentials": Array(credentials.utf8), "/home/me/.aws/config": Array(config.utf8)]
    return try AWSSettings(variable: { $0 == "HOME" ? "/home/me" : variables[$0] }, file: { files[$0] })
  }

  private let file =
    "[default]\r\naws_access_key_id = A\naws_secret_access_key= B=\n# x\n[ two ]\naws_access_key_id=C\naws_secret_access_key=D\naws_session_token=E"

  @Test func profilesAreRead() throws {
    #expect(try settings([:], credentials: file).credentials == .init(key: "A", secret: "B="))
    let two = try settings(
      ["AWS_PROFILE": "two"], credentials: file,
      config:
        "[profile two]\nregion = x-1\nendpoint_url = http://e\ns3 =\n  addressing_style = path\nservices = s\n[services s]\ns3 =\n  endpoint_url = http://f"
    )
    #expect(two.credentials == .init(key: "C", secret: "D", session: "E"))
    #expect(two.region == "x-1" && two.endpoint == "http://f" && two.hasBucketInPath == true)
    #expect(try settings([:]).credentials == nil)
  }

  @Test func environmentTakesPrecedence() throws {
    let variables = [
      "AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "S", "AWS_REGION": "r", "AWS_ENDPOINT_URL": "u",
    ]
    let found = try settings(variables, credentials: file, config: "[default]\nregion=q")
    #expect(found.credentials == .init(key: "K", secret: "S") && found.region == "r" && found.endpoint == "u")
  }

  @Test func unusableProfilesAreRefused() {
    #expect(throws: AWSSettings.Failure.noProfile("x")) { try settings(["AWS_PROFILE": "x"], credentials: file) }
    #expect(throws: AWSSettings.Failure.unsupported(profile: "default", setting: "role_arn")) {
      try settings([:], config: "[default]\nrole_arn = y")
    }
    #expect(throws: AWSSettings.Failure.incomplete(profile: "default")) {
      try settings([:], credentials: "[default]\naws_access_key_id = A")
    }
  }
}
