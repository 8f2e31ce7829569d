internal import Bytes
internal import CQpdfKey
internal import Catalogue
internal import WorkerKit

/// Finds which passwords open documents.
struct PasswordSearch {
  private let passwords: [[UInt8]]
  /// The indexes of matching passwords.
  private var fitting: Set<Int> = []

  init(_ passwords: [[UInt8]]) { self.passwords = passwords }

  /// The number of matching passwords, with their indexes as the remark.
  var outcome: JobAnswer.Outcome {
    let numbers = fitting.sorted().prefix(Self.most)
    return .done(Int64(numbers.count), remark: numbers.map { "\($0)" }.joined(separator: ","))
  }

  /// The maximum number of passwords reported. A reply has a limited size.
  private static let most = 80

  /// Tries all passwords on a document. Records the one that is the owner password, otherwise the first that opens it.
  mutating func add(_ input: JobInput) {
    // An encrypted document declares it in clear text.
    guard input.mentionsEncryption else { return }
    var first: Int?
    for (index, password) in passwords.enumerated() {
      for spelling in Passphrase.spellings(of: password) {
        guard let key = unsafe try? EncryptionKey(of: input.bytes, spelling) else { continue }
        if key.isOwners {
          fitting.insert(index)
          return
        }
        first = first ?? index
      }
    }
    if let first { fitting.insert(first) }
  }
}

extension JobInput {
  /// Whether the document may be encrypted.
  var mentionsEncryption: Bool {
    let text = unsafe bytes.assumingMemoryBound(to: CChar.self)
    return unsafe ffmount_pdf_may_be_encrypted(text.baseAddress, text.count) != 0
  }
}
