/// A form's default resources, `/DR`, in PDF syntax: mostly fonts, by category and name.
struct FormResources {
  private struct Category {
    let name: [UInt8]
    /// The text of a category that is not a dictionary.
    let whole: [UInt8]
    var entries: [(name: [UInt8], value: [UInt8])]
    var names: Set<[UInt8]>
  }

  private var categories: [Category] = []

  var isEmpty: Bool { categories.isEmpty }

  /// Adds the entries of a category whose names are not taken yet.
  mutating func add(_ name: [UInt8], whole: [UInt8], _ entries: [(name: [UInt8], value: [UInt8])]) {
    guard let index = categories.firstIndex(where: { $0.name == name }) else {
      categories.append(Category(name: name, whole: whole, entries: entries, names: Set(entries.map(\.name))))
      return
    }
    for entry in entries where categories[index].names.insert(entry.name).inserted {
      categories[index].entries.append(entry)
    }
  }

  mutating func add(_ other: FormResources) {
    for category in other.categories { add(category.name, whole: category.whole, category.entries) }
  }

  var text: [UInt8] {
    var text = Array("<< ".utf8)
    for category in categories {
      text += category.name + [0x20]
      if category.entries.isEmpty {
        text += category.whole
      } else {
        text += "<< ".utf8
        for entry in category.entries { text += entry.name + [0x20] + entry.value + [0x20] }
        text += ">>".utf8
      }
      text.append(0x20)
    }
    return text + Array(">>".utf8)
  }
}
