internal import Bytes
internal import Mail

/// Groups a mailbox's messages by thread in one pass over them. The names of all subjects are in memory.
struct ThreadsBuilder {
  private var finder: ThreadFinder
  private var names = NameList()
  /// The index of the subject's name, by message.
  private var subjects: [UInt32] = []

  /// `count` is the number of messages.
  init(expecting count: Int) {
    finder = ThreadFinder(expecting: count)
    subjects.reserveCapacity(count)
  }

  /// Adds the next message of the mailbox.
  mutating func add(_ row: MessageRow) {
    subjects.append(names.add(ThreadNames.name(of: finder.add(row))[...]).number)
  }

  /// Returns the groups, once all messages have been added. `dates` are those of the messages.
  consuming func groups(dates: [Int64]) -> MessageGroups {
    var threads = ThreadNames(finder.takeThreads(dates: dates))
    for (position, subject) in subjects.enumerated() { threads.add(at: position) { names[Int(subject)] } }
    (names, subjects) = (NameList(), [])
    return threads.groups()
  }
}
