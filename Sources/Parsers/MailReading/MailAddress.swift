internal import Mail

/// Somebody who writes or gets mail.
public struct MailAddress: Hashable, Sendable, CustomStringConvertible {
  /// Decoded, and cut after 512 bytes; nil if there is none.
  public let name: String?
  /// As written, without brackets, and cut after 512 bytes; may be empty.
  public let address: String

  init?(_ row: MessageRow) {
    guard !row.sender.isEmpty || !row.address.isEmpty else { return nil }
    name = row.sender == row.address || row.sender.isEmpty ? nil : row.sender
    address = row.address
  }

  /// The name, or else the address.
  public var description: String { name ?? address }
}
