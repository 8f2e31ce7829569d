internal import Bytes

/// Conversions of Outlook mail stores: the list of messages, and their attachments.
extension Conversion {
  public static let stores: [Conversion] = [letters, letterFile]

  /// The list of a mail store's messages. See `MailRecord`.
  public static let letters: Conversion = {
    var conversion = store("letters", nil, "the list of their messages")
    conversion.making = .growing
    return conversion
  }()

  /// The bytes of an attachment, by its address in the list.
  public static let letterFile = store("letter-file", MailFileAddress.self, "files that are attached to their messages")

  private static func store(_ verb: String, _ arguments: (any Arguments.Type)?, _ meaning: String) -> Conversion {
    var conversion = Conversion(
      verb, from: [], to: .messageList, as: .inView, arguments: arguments, size: .guess(1), programs: ["ffoffice"],
      meaning: ("PST, OST (Outlook)", meaning))
    conversion.outputLimit = Job.largestOutput
    conversion.slowness = 60
    return conversion
  }
}

extension Recipe {
  public static let letters = Recipe(verb: Conversion.letters.verb)

  public static func letterFile(_ address: MailFileAddress) -> Recipe {
    Recipe(verb: Conversion.letterFile.verb, address)
  }
}

extension Format {
  static let messageList = Format(
    "message-list", extensions: [], mimeType: "application/octet-stream", family: .mail)
}
