/// Reads mailboxes (RFC 4155) and messages (RFC 5322, RFC 2045 to 2049): bytes in, values out.
enum MailFormat {}
