internal import CXML2

/// The events that libxml2 reports while it parses.
@safe final class MarkupEvents {
  private(set) var list: [MarkupReader.Event] = []
  /// The text after the last event. It arrives in very many parts, and becomes one event when it ends.
  private var text = ""
  /// The names, by the addresses of local name and namespace. A parser keeps one copy of each.
  private var names: [Key: String] = [:]

  private struct Key: Hashable {
    let local: UInt
    let namespace: UInt
  }

  typealias Text = UnsafePointer<xmlChar>
  typealias Texts = UnsafeMutablePointer<UnsafePointer<xmlChar>?>

  /// Returns the callbacks of the parser. No external entity is loaded, no declared one is known, and nothing is
  /// printed.
  func handler(_ language: MarkupReader.Language) -> xmlSAXHandler {
    var handler = unsafe xmlSAXHandler()
    unsafe handler.initialized = UInt32(XML_SAX2_MAGIC)
    unsafe handler.characters = { user, text, count in unsafe MarkupEvents.at(user)?.add(text, count) }
    unsafe handler.ignorableWhitespace = handler.characters
    unsafe handler.cdataBlock = handler.characters
    unsafe handler.serror = { _, _ in }
    switch language {
    case .xml:
      unsafe handler.getEntity = { _, name in unsafe xmlGetPredefinedEntity(name) }
      unsafe handler.startElementNs = { user, local, _, namespace, _, _, count, _, attributes in
        guard let events = unsafe MarkupEvents.at(user), let local = unsafe local else { return }
        unsafe events.start(local, namespace, Int(count), attributes)
      }
      unsafe handler.endElementNs = { user, local, _, namespace in
        guard let events = unsafe MarkupEvents.at(user), let local = unsafe local else { return }
        events.add(.end(unsafe events.name(local, namespace)))
      }
    case .html:
      unsafe handler.startElement = { user, name, attributes in
        guard let events = unsafe MarkupEvents.at(user), let name = unsafe name else { return }
        unsafe events.start(name, attributes)
      }
      unsafe handler.endElement = { user, name in
        guard let events = unsafe MarkupEvents.at(user), let name = unsafe name else { return }
        events.add(.end(unsafe MarkupEvents.string(name)))
      }
    }
    return unsafe handler
  }

  private static func at(_ user: UnsafeMutableRawPointer?) -> MarkupEvents? {
    unsafe user.map { unsafe Unmanaged<MarkupEvents>.fromOpaque($0).takeUnretainedValue() }
  }

  private func add(_ text: Text?, _ count: Int32) {
    guard let text = unsafe text, count > 0 else { return }
    unsafe self.text += String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
  }

  private func add(_ event: MarkupReader.Event) {
    endText()
    list.append(event)
  }

  /// Adds an event with the text so far.
  func endText() {
    if text.isEmpty { return }
    list.append(.text(text))
    text = ""
  }

  func removeAll() { list.removeAll(keepingCapacity: true) }

  private func start(_ local: Text, _ namespace: Text?, _ count: Int, _ given: Texts?) {
    var attributes: [(name: String, value: String)] = []
    if count > 0, let given = unsafe given {
      attributes.reserveCapacity(count)
      // Five pointers each: the local name, the prefix, the namespace, the value's start and its end.
      for index in 0..<count {
        guard let local = unsafe given[index * 5], let start = unsafe given[index * 5 + 3],
          let end = unsafe given[index * 5 + 4]
        else { continue }
        let value = unsafe String(decoding: UnsafeBufferPointer(start: start, count: end - start), as: UTF8.self)
        attributes.append((unsafe name(local, given[index * 5 + 2]), value))
      }
    }
    add(.start(Element(name: unsafe name(local, namespace), attributes: attributes)))
  }

  private func start(_ name: Text, _ given: Texts?) {
    var attributes: [(name: String, value: String)] = []
    if let given = unsafe given {
      var index = 0
      while let name = unsafe given[index] {
        let value = unsafe given[index + 1]
        attributes.append((unsafe Self.string(name), unsafe value.map { unsafe Self.string($0) } ?? ""))
        index += 2
      }
    }
    add(.start(Element(name: unsafe Self.string(name), attributes: attributes)))
  }

  private func name(_ local: Text, _ namespace: Text?) -> String {
    let key = Key(local: UInt(bitPattern: local), namespace: UInt(bitPattern: namespace))
    if let known = names[key] { return known }
    let prefix = unsafe namespace.map { unsafe MarkupNames.prefix(of: Self.string($0)) } ?? ""
    let name = unsafe prefix + Self.string(local)
    names[key] = name
    return name
  }

  private static func string(_ text: Text) -> String { unsafe String(cString: text) }
}
