public import Bytes

/// A file in a message: a part, a file inline in its text, or one out of a `winmail.dat`.
public struct Attachment: Sendable {
  /// Safe, and unique within the message.
  public let name: FileName
  /// `type/subtype` in lower case; of files that tell none, `application/octet-stream`.
  public let contentType: String
  /// Whether it is a message (RFC 5322), which can be read as one.
  public let isMessage: Bool
  /// Its place among the message's attachments.
  let number: Int
  let origin: Origin

  enum Origin: Sendable {
    case part(Int)
    case inline(part: Int, InlineFile)
    /// A range of the decoded bytes of a part that is a `winmail.dat`.
    case tnef(part: Int, Range<Int64>)
    /// The same, of a message in it; the header stands before it.
    case tnefMessage(part: Int, Range<Int64>, header: [UInt8])
  }
}

/// The text of a message in one form.
public struct TextBody: Sendable {
  enum Piece: Sendable {
    /// A part without the files in its text.
    case part(Int, TextForm)
    /// A range of the decoded bytes of a part that is a `winmail.dat`.
    case tnef(part: Int, Range<Int64>, TextForm)
    /// A part that is RTF.
    case plainRTF(part: Int)
    /// A range of the decoded bytes of a part that is a `winmail.dat`, of compressed RTF.
    case rtf(part: Int, Range<Int64>)
  }

  enum Kind: Sendable {
    case text
    /// HTML that is safe to open.
    case page
    /// HTML as the message has it.
    case original
  }

  let pieces: [Piece]
  let kind: Kind
}
