internal import Bytes
internal import Mail
internal import Text
internal import Tree

/// Names threads by the subjects of their oldest messages; those of one subject get numbers, in the order of their first
/// messages.
struct ThreadNames {
  /// By message: its thread.
  private var threads: [UInt32]
  /// By thread: its oldest message.
  private var oldest: [UInt32]
  private var names = NameList()
  /// By thread: its subject's name.
  private var subjects: [UInt32]

  init(_ threads: ThreadFinder.Threads) {
    self.threads = threads.numbers
    oldest = threads.oldest
    subjects = Array(repeating: 0, count: threads.count)
  }

  /// Looks at a message, of which those that are their threads' oldest count.
  mutating func add(_ row: MessageRow, at position: Int) {
    let thread = Int(threads[position])
    guard Int(oldest[thread]) == position else { return }
    let text = MessageRow.folderText(BaseSubject(row.subject).text)
    let name = SafeName.safe(Array((text.isEmpty ? "no subject" : text).utf8)[...])
    subjects[thread] = names.add(Array(name)[...]).number
  }

  /// The groups, once all messages have been looked at.
  consuming func groups() -> MessageGroups {
    oldest = []
    // By subject: how many threads have had its name, and so the next number to try.
    var taken = [UInt32](repeating: 0, count: names.count)
    for thread in subjects.indices {
      let subject = Int(subjects[thread])
      while taken[subject] > 0 {
        let (number, isNew) = names.add(names[subject] + Array(" (\(taken[subject]))".utf8))
        taken[subject] += 1
        // There is no end of numbers, but there may be one of room for names.
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
