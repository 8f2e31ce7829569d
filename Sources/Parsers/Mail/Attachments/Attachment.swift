public import Bytes

/// A file in a message: a part, a file inline in its text, or one from a `winmail.dat`.
public struct Attachment: Sendable {
  /// Safe, and unique within the message.
  public let name: FileName
  /// `type/subtype` in lower case; `application/octet-stream` if none is declared.
  public let contentType: String
  /// Whether it is a message (RFC 5322) that can be read as one.
  public let isMessage: Bool
  /// Its index among the message's attachments.
  let number: Int
  let origin: Origin

  enum Origin: Sendable {
    case part(Int)
    case inline(part: Int, InlineFile)
    /// A range of the decoded bytes of a `winmail.dat` part.
    case tnef(part: Int, Range<Int64>)
    /// The range of an embedded message in a `winmail.dat` part, which `header` precedes.
    case tnefMessage(part: Int, Range<Int64>, header: [UInt8])
  }
}

/// The text of a message in one form.
public struct TextBody: Sendable {
  enum Piece: Sendable {
    /// A part without the files inline in its text.
    case part(Int, TextForm)
    /// A range of the decoded bytes of a `winmail.dat` part.
    case tnef(part: Int, Range<Int64>, TextForm)
    /// An RTF part.
    case plainRTF(part: Int)
    /// A range of compressed RTF in the decoded bytes of a `winmail.dat` part.
    case rtf(part: Int, Range<Int64>)
  }

  enum Kind: Sendable {
    case text
    /// HTML that is safe to open.
    case page
    /// The message's own HTML.
    case original
  }

  let pieces: [Piece]
  let kind: Kind
}
