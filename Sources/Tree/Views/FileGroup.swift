package import Bytes

/// Several files of a directory that form one file.
package struct FileGroup: Sendable {
  package struct Member: Sendable {
    package let name: FileName
    package let item: any Item
    package let attributes: Attributes
    /// The directories that symbolic links traverse on the way to the file.
    let passed: [LookupResult]

    package init(name: FileName, item: any Item, attributes: Attributes, passed: [LookupResult] = []) {
      self.name = name
      self.item = item
      self.attributes = attributes
      self.passed = passed
    }

    /// Opens the file. A fault includes its name.
    package func open(_ blocking: BlockingMode) throws(Fault) -> any ByteSource {
      do throws(Fault) {
        return try item.content(blocking)
      } catch {
        if error.isDelay { throw error }
        throw Fault(error.kind, "\(name.text) \(error.reason)", atByte: error.offset)
      }
    }
  }

  package let members: [Member]
  /// A hash of the names and the states of all files.
  package let state: UInt64

  package init(_ members: [Member]) {
    self.members = members
    var hash = StableHash()
    for member in members {
      hash.combine(member.name.bytes)
      hash.combine(member.item.revision(member.attributes))
    }
    state = hash.value
  }

  /// The sum of the known sizes.
  package var size: Int64 { members.reduce(0) { Bounds.sum($0, $1.attributes.size) } }

  /// The owner of the bytes. `nil` if there are several.
  package var soleOwner: UInt32? {
    let owners = Set(members.map { $0.item.soleOwner($0.attributes) })
    return owners.count == 1 ? owners.first ?? nil : nil
  }

  /// Returns `rights` narrowed to those of an item derived from all the files.
  package func narrowing(_ rights: CommonRights) throws(Fault) -> CommonRights {
    var rights = rights
    for member in members {
      rights.narrow(to: CommonRights(member.attributes, try member.item.accessList(), wanted: 4))
      for folder in member.passed {
        rights.narrow(to: CommonRights(folder.attributes, try folder.item.accessList(), wanted: 1))
      }
    }
    return rights
  }

  /// Resolves a name through symbolic links that stay in the directory. Returns `nil` if it does not lead to a file.
  package static func member(
    named name: FileName, in folder: any Item, _ blocking: BlockingMode
  ) throws(Fault) -> Member? {
    var rest = [ArraySlice(name.bytes)]
    var place: [LookupResult] = []
    var passed: [LookupResult] = []
    var links = 0
    while let next = rest.popLast() {
      if next.elementsEqual(".".utf8) { continue }
      if next.elementsEqual("..".utf8) {
        guard place.popLast() != nil else { return nil }
        continue
      }
      guard let found = try (place.last?.item ?? folder).child(named: FileName(next), blocking) else { return nil }
      switch found.attributes.kind {
      case .file:
        guard rest.isEmpty else { return nil }
        return Member(name: name, item: found.item, attributes: found.attributes, passed: passed)
      case .folder:
        place.append(found)
        passed.append(found)
      case .link:
        links += 1
        let target = try found.item.linkTarget(blocking)
        guard links <= mostLinks, target.first != UInt8(ascii: "/") else { return nil }
        rest += target.split(separator: UInt8(ascii: "/")).reversed()
      default: return nil
      }
    }
    return nil
  }

  /// The maximum number of symbolic links, as in the kernel. More are considered a loop.
  private static let mostLinks = 40
}
