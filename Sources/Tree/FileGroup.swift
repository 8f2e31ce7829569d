package import Bytes

/// Several files of a folder that one is made of.
package struct FileGroup: Sendable {
  package struct Member: Sendable {
    package let name: FileName
    let item: any Item
    let attributes: Attributes
    /// The folders that a link passes on its way.
    let passed: [Found]

    package init(name: FileName, item: any Item, attributes: Attributes, passed: [Found] = []) {
      self.name = name
      self.item = item
      self.attributes = attributes
      self.passed = passed
    }

    /// A fault says which file it is about.
    package func open(_ patience: Patience) throws(Fault) -> any ByteSource {
      do throws(Fault) {
        return try item.content(patience)
      } catch {
        if error.isDelay { throw error }
        throw Fault(error.kind, "\(name.text) \(error.reason)", atByte: error.offset)
      }
    }
  }

  package let members: [Member]
  /// Of the names and all files' states.
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

  /// Their sizes in all, as far as they are known.
  package var size: Int64 { members.reduce(0) { Bounds.sum($0, $1.attributes.size) } }

  /// Whose bytes they are; nil: several users'.
  package var soleOwner: UInt32? {
    let owners = Set(members.map { $0.item.soleOwner($0.attributes) })
    return owners.count == 1 ? owners.first ?? nil : nil
  }

  /// What is left of `rights` for what is made of all of them.
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

  /// What a name stands for, by links that do not leave the folder; nil where that is no file.
  package static func member(
    named name: FileName, in folder: any Item, _ patience: Patience
  ) throws(Fault) -> Member? {
    var rest = [ArraySlice(name.bytes)]
    var place: [Found] = []
    var passed: [Found] = []
    var links = 0
    while let next = rest.popLast() {
      if next.elementsEqual(".".utf8) { continue }
      if next.elementsEqual("..".utf8) {
        guard place.popLast() != nil else { return nil }
        continue
      }
      guard let found = try (place.last?.item ?? folder).child(named: FileName(next), patience) else { return nil }
      switch found.attributes.kind {
      case .file:
        guard rest.isEmpty else { return nil }
        return Member(name: name, item: found.item, attributes: found.attributes, passed: passed)
      case .folder:
        place.append(found)
        passed.append(found)
      case .link:
        links += 1
        let target = try found.item.linkTarget(patience)
        guard links <= mostLinks, target.first != UInt8(ascii: "/") else { return nil }
        rest += target.split(separator: UInt8(ascii: "/")).reversed()
      default: return nil
      }
    }
    return nil
  }

  /// More are a loop, as to the system.
  private static let mostLinks = 40
}
