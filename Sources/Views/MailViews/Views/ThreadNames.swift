internal import Bytes
internal import Mail
internal import Text
internal import Tree

/// Names threads by the subjects of their oldest messages. Threads with equal subjects are numbered, in the order of
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

  /// Adds the name of a message. Only a thread's oldest message counts.
  mutating func add(at position: Int, _ name: () -> ArraySlice<UInt8>) {
    let thread = Int(threads[position])
    guard Int(oldest[thread]) == position else { return }
    subjects[thread] = names.add(name()).number
  }

  /// Returns the name, without a number, of a thread that starts with a message of this subject.
  static func name(of subject: BaseSubject) -> [UInt8] {
    let text = MessageRow.folderText(subject.text)
    return Array(SafeName.safe(Array((text.isEmpty ? "no subject" : text).utf8)[...]))
  }

  /// Returns the groups, once all messages have been added.
  consuming func groups() -> MessageGroups {
    oldest = []
    // The number of threads with each subject's name, and so the next number to try.
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
