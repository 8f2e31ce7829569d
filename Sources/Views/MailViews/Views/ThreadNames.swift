internal import Bytes
internal import Mail
internal import Text
internal import Tree

/// Names threads by the subjects of their oldest messages; threads with equal subjects are numbered, in the order of
/// their first messages.
struct ThreadNames {
  /// The thread, by message.
  private var threads: [UInt32]
  /// The oldest message, by thread.
  private var oldest: [UInt32]
  private var names = NameList()
  /// The index of the subject's name, by thread.
  private var subjects: [UInt32]

  init(_ threads: ThreadFinder.Threads) {
    self.threads = threads.numbers
    oldest = threads.oldest
    subjects = Array(repeating: 0, count: threads.count)
  }

  /// Adds a message by its name; only a thread's oldest counts.
  mutating func add(at position: Int, _ name: () -> ArraySlice<UInt8>) {
    let thread = Int(threads[position])
    guard Int(oldest[thread]) == position else { return }
    subjects[thread] = names.add(name()).number
  }

  /// The name of a thread that starts with a message of this subject, but for a number.
  static func name(of subject: BaseSubject) -> [UInt8] {
    let text = MessageRow.folderText(subject.text)
    return Array(SafeName.safe(Array((text.isEmpty ? "no subject" : text).utf8)[...]))
  }

  /// The groups, once all messages have been added.
  consuming func groups() -> MessageGroups {
    oldest = []
    // By subject: the number of threads with its name, and so the next number to try.
    var taken = [UInt32](repeating: 0, count: names.count)
    for thread in subjects.indices {
      let subject = Int(subjects[thread])
      while taken[subject] > 0 {
        let (number, isNew) = names.add(names[subject] + Array(" (\(taken[subject]))".utf8))
        taken[subject] += 1
        // Numbers are unlimited, but the space for names may not be.
        guard isNew || taken[subject] > subjects.count else { continue }
        subjects[thread] = number
        break
      }
      if taken[subject] == 0 { taken[subject] = 1 }
    }
    names.finish()
    for message in threads.indices { threads[message] = subjects[Int(threads[message])] }
    return MessageGroups(names, of: threads)
  }
}
