internal import Bytes
internal import ServerAnswers

extension FuzzTarget {
  /// Responses of servers of all kinds: names, sizes and link targets are ones that the kernel takes, and a page of a
  /// bucket continues or ends.
  public static let answers = FuzzTarget(name: "answers") {
    let texts = [
      #"{"items":[{"name":"a\u00e9","type":"file","size":12,"modified":"2024-02-29T12:34:56.789Z","link":"x"}]}"#,
      #"{"items":[{"encodedPath":"/a/%e9","type":"file","size":1,"tag":"\"1\"","content":"eA=="}],"next":"n"}"#,
      #"{"name":"a","type":"directory","source":"b","state":"failed","error":"c","encodedLink":"..%2fx"}"#,
      #"{"available":1,"used":9223372036854775807,"detail":"a\nb","path":"/a","encodedPath":"/%61"}"#,
      """
      <html><head><title>Index of /a/</title></head><body><a href="../">../</a><a href="b%20c.txt">b c.txt</a>
      <a href='/a/d/'>d/</a><a href=./e>e</a></body></html>
      """,
      """
      <?xml version="1.0"?><d:multistatus xmlns:d="DAV:"><d:response><d:href>/a/</d:href><d:propstat><d:prop>
      <d:resourcetype><d:collection/></d:resourcetype></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>
      </d:response><d:response><d:href>/a/b%20c</d:href><d:propstat><d:prop><d:getcontentlength>12</d:getcontentlength>
      <d:getetag>W/"x"</d:getetag><d:getlastmodified>Tue, 14 Nov 2023 22:13:20 GMT</d:getlastmodified></d:prop>
      <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>
      """,
      """
      <ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>n
      </NextContinuationToken><Contents><Key>a/b+c%2B</Key><Size>12</Size><ETag>&quot;x&quot;</ETag>
      <LastModified>2024-02-29T12:34:56.000Z</LastModified></Contents><Contents><Key>a/d/e</Key><Size>0</Size></Contents>
      <CommonPrefixes><Prefix>a/f/</Prefix></CommonPrefixes></ListBucketResult>
      """,
      "<Error><Code>AuthorizationHeaderMalformed</Code><Message>m</Message><Region>eu-west-1</Region></Error>",
    ]
    let file = SFTPMessage.request(.open, id: 7, [Array("b".utf8), Array("-rw- b".utf8)]).dropFirst(5)
    let attributes: [UInt8] = [0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0x81, 0xa4, 0, 0, 0, 1, 0, 0, 0, 2]
    let names = [104] + file.prefix(4) + [0, 0, 0, 1] + file.dropFirst(4) + attributes
    return texts.map { Array($0.utf8) } + [names, [105, 0, 0, 0, 7] + attributes, [101, 0, 0, 0, 7, 0, 0, 0, 2]]
  } complaints: { bytes in
    let folder = Array("/a/".utf8)
    var items = (try? ServerAnswer.listing(bytes)) ?? []
    var complaints: [String] = []
    if Set(items.map(\.name)).count < items.count { complaints.append("a name is listed twice") }
    if let item = try? ServerAnswer.item(bytes, named: FileName("own")) { items.append(item) }
    if let space = try? ServerAnswer.space(bytes), !Bounds.holds(space.available) || !Bounds.holds(space.used) {
      complaints.append("the space is \(space)")
    }
    if let sentence = ServerAnswer.sentence(bytes), sentence.utf8.contains(where: { $0 < 0x20 }) {
      complaints.append("the sentence has a control character")
    }
    _ = ServerAnswer.path(ofEvent: bytes)
    if FolderPage.isListing(bytes) { items += (try? FolderPage.entries(of: bytes, at: folder)) ?? [] }
    if let properties = try? FolderProperties(bytes, at: folder) { items += properties.entries }
    _ = BucketError(bytes)
    if let page = try? BucketListing(bytes) {
      if let next = page.next, next.isEmpty { complaints.append("the next page has no mark") }
      items += page.entries(of: Array(folder.dropFirst()))
      var walk = KeyWalk(at: Array("/".utf8))
      let folders = (try? walk.add(page.objects, isLastPage: page.next == nil)) ?? []
      items += folders.flatMap(\.items)
    }
    if case .names(let names)? = try? SFTPMessage.response(bytes[...]).response {
      for name in names where ServerItem.isName(name.name) {
        items.append(name.attributes.item(named: FileName(name.name), target: nil))
      }
    }
    for item in items {
      if !ServerItem.isName(item.name.bytes) { complaints.append("'\(item.name)' is no name") }
      let size =
        switch item.size {
        case .exact(let size), .estimate(let size): size
        }
      if !Bounds.holds(size) || item.size == .estimate(0) { complaints.append("the size is \(item.size)") }
      if let target = item.target, target.isEmpty || target.contains(0) || target.count > 4095 {
        complaints.append("the target is \(target)")
      }
      if let content = item.content, item.size != .exact(Int64(content.bytes.count)) {
        complaints.append("\(content.bytes.count) bytes come with the size \(item.size)")
      }
    }
    return complaints
  }
}
