internal import Mail

/// A sender or recipient of mail.
public struct MailAddress: Hashable, Sendable, CustomStringConvertible {
  /// The decoded name, cut after 512 bytes. Nil if there is none.
  public let name: String?
  /// The address as written, without brackets and cut after 512 bytes. It can be empty.
  public let address: String

  init?(_ row: MessageRow) {
    guard !row.sender.isEmpty || !row.address.isEmpty else { return nil }
    name = row.sender == row.address || row.sender.isEmpty ? nil : row.sender
    address = row.address
  }

  /// The name, or else the address.
  public var description: String { name ?? address }
}
