internal import Bytes
internal import Catalogue
internal import Files
internal import Glibc
internal import Threads

/// What happens on a worker's thread.
extension ConversionService {
  /// Nor is one that has to lie in memory.
  private static let memoryLimit: Int64 = 64 << 20
  /// What lies in no file as it is and is larger is not copied to one, in bytes.
  private static let inputLimit: Int64 = 4 << 30

  /// `growing` is told of the output's file, and how many of its bytes may be read, before it is whole.
  func make(
    _ recipe: Recipe, of bytes: any ByteSource, inState revision: UInt64, _ task: ConversionTask, _ worker: Worker,
    turn: TurnRequest? = nil, growing: (TemporaryFile, Int64) -> Void = { _, _ in }
  ) -> Outcome {
    var subject = InHand(bytes: bytes, revision: revision, passwords: passwords.found(for: revision))
    let conversion = pool.conversion(recipe)
    subject.isBundle = conversion?.naming == .folder
    subject.opener = conversion?.opener ?? subject.opener
    // What is read while it is made cannot wait for others, nor does what nobody has asked for.
    let name = isWhole(recipe) && !task.isAhead ? name(recipe, of: bytes, inState: revision) : nil
    if let name, let turn, let cache, !turn.isGranted(name, in: cache) { return .waits(turn) }
    // Others' turn begins when this ends, also by a failure.
    defer { turn?.end() }
    if name != nil, let kept = (try? kept(recipe, of: bytes, inState: revision, .blocking)) ?? nil {
      return .made(kept.size, kept, remark: "", isKept: true)
    }
    return attempt { [subject] () throws(Failed) in
      do throws(Failed) { return try make(recipe, subject, task, worker, growing) } catch {
        // What nothing can be left out of is as good as its copy.
        guard conversion?.keepsWhatItCannotChange ?? false, error.isLasting, !error.fault.isDelay,
          error.fault.kind != .changed
        else {
          throw error
        }
        return try copy(subject, recipe, because: error, task)
      }
    }
  }

  private func make(
    _ recipe: Recipe, _ subject: InHand, _ task: ConversionTask, _ worker: Worker,
    _ growing: (TemporaryFile, Int64) -> Void
  ) throws(Failed) -> Outcome {
    var subject = subject
    var isRead = false
    let mostBytes = pool.conversion(recipe)?.outputLimit ?? Job.usualOutput
    var refusal = Fault(.system(ENOSPC), "no room for the result")
    var places = places[...]
    while let place = places.first {
      let output: TemporaryFile
      do throws(Fault) { output = try place.make() } catch {
        // A folder that cannot be used has no room, either.
        let lacks: [Fault.Kind] = [.system(EMFILE), .system(ENFILE), .system(ENOMEM), .system(EDQUOT)]
        if lacks.contains(error.kind) { refusal = error }
        places.removeFirst()
        continue
      }
      let answer = try output.withDescriptor(failing: Failed.init) { (raw) throws(Failed) in
        try perform(.make(recipe), subject, task, worker, output: raw, limit: min(place.limit, mostBytes)) { bytes in
          isRead = true
          growing(output, bytes)
        }
      }
      switch answer {
      case .underWay: throw Failed(WorkerFailure.malformedReply)
      case .done(let size, let remark):
        guard (try? output.withDescriptor { (raw) throws(Fault) in try FileStatus(of: raw).size }) == size else {
          worker.end()
          throw Failed(WorkerFailure.malformedReply)
        }
        return made(recipe, subject, output, size: size, remark: Self.line(remark), isKept: place.isKept)
      case .failed(.locked, _) where try unlock(&subject, task, worker):
        // Now it is known under which name it may have been kept.
        let found = try? kept(recipe, of: subject.bytes, inState: subject.revision, .blocking)
        if let found { return .made(found.size, found, remark: "", isKept: true) }
        continue
      // Another disk may have room, or work.
      case .failed(let failure, let why) where (failure == .noSpace || failure == .system) && !isRead:
        refusal = Failed(failure, why).fault
      case .failed(.limit, _) where place.limit < mostBytes && !isRead: break
      case .failed(let failure, let reason): throw Failed(failure, reason)
      }
      places.removeFirst()
    }
    throw Failed(refusal, isLasting: false)
  }

  /// Whether a result is read only once it is whole.
  private func isWhole(_ recipe: Recipe) -> Bool { (pool.conversion(recipe)?.making ?? .whole) == .whole }

  private func made(
    _ recipe: Recipe, _ subject: InHand, _ output: TemporaryFile, size: Int64, remark: String, isKept: Bool
  ) -> Outcome {
    let name = isKept ? name(recipe, of: subject.bytes, inState: subject.revision) : nil
    let identity = subject.bytes.identity?.converted(by: recipe)
    switch name.flatMap({ cache?.keep(output, size: size, $0.fileName) }) ?? .failed {
    case .kept(let state):
      return .made(size, Rendition(output, size: size, identity: identity, kept: state), remark: remark, isKept: true)
    case .known(let file, let state, let size) where isWhole(recipe):
      return .made(size, Rendition(file, size: size, identity: identity, kept: state), remark: remark, isKept: true)
    case .known, .failed:
      return .made(size, Rendition(output, size: size, identity: identity, kept: nil), remark: remark, isKept: false)
    }
  }

  /// A file's own bytes, since nothing can be made of them.
  private func copy(
    _ subject: InHand, _ recipe: Recipe, because failed: Failed, _ task: ConversionTask
  ) throws(Failed) -> Outcome {
    // Another password, or another limit, and it is another result.
    let isKept = failed.fault.kind == .damaged
    for place in places where subject.bytes.size <= place.limit {
      guard let output = try? place.make() else { continue }
      do throws(Fault) {
        try subject.bytes.copy(to: output)
        try subject.bytes.verify()
      } catch {
        if [.system(ENOSPC), .system(EDQUOT)].contains(error.kind) { continue }
        throw Failed(error)
      }
      return made(
        recipe, subject, output, size: subject.bytes.size, remark: "is not changed: it \(failed.reason)",
        isKept: isKept && place.isKept)
    }
    throw failed
  }

  /// Whether there are passwords for a file, which were not sought before. Blocks.
  func unlock(_ file: inout InHand, _ task: ConversionTask, _ worker: Worker) throws(Failed) -> Bool {
    if passwords.areNone || file.passwords != nil { return false }
    let subject = file
    let (holder, start) = try input(subject.bytes, task)
    let found = try passwords.find(for: subject.revision, wantsOne: !subject.isBundle) { (some) throws(Failed) in
      var job = Job(
        number: 0, work: .findPasswords(isBundle: subject.isBundle, verb: subject.opener), start: start,
        size: subject.bytes.size, outputLimit: 0)
      job.passwords = some
      let answer = try holder.withReadOnlyDescriptor(failing: Failed.init) { (raw) throws(Failed) in
        do throws(WorkerFailure) { return try worker.askApart(job, for: task, input: raw) } catch {
          do throws(Fault) { try subject.bytes.verify() } catch { throw Failed(error) }
          throw Failed(error)
        }
      }
      // Why it failed is told by who has seen no password.
      guard case .done(_, let numbers) = answer else { return [] }
      return numbers.split(separator: ",").compactMap { Int($0) }.filter(some.indices.contains).map { some[$0] }
    }
    file.passwords = found
    return !found.isEmpty
  }

  /// What is worked on.
  struct InHand {
    let bytes: any ByteSource
    let revision: UInt64
    /// Those that open it; nil: none were sought.
    var passwords: [[UInt8]]?
    var isBundle = false
    /// The verb whose program knows which passwords open it.
    var opener = Conversion.pages.verb
  }

  /// Where a result may lie; the first that has room is taken.
  private var places: [(make: () throws(Fault) -> TemporaryFile, limit: Int64, isKept: Bool)] {
    let spools = spools
    var places: [(make: () throws(Fault) -> TemporaryFile, limit: Int64, isKept: Bool)] = []
    if let cache { places.append(({ () throws(Fault) in try cache.makeFile() }, Job.largestOutput, true)) }
    places.append(({ () throws(Fault) in try TemporaryFile(in: spools) }, Job.largestOutput, false))
    places.append(({ () throws(Fault) in try TemporaryFile.inMemory() }, Self.memoryLimit, false))
    return places
  }

  /// What a worker says, as one line that is not long: it may come from code that a hostile file took over.
  static func line(_ text: String) -> String {
    String(text.unicodeScalars.prefix(300).map { $0.properties.isPatternWhitespace ? " " : Character($0) })
  }

  struct Failed: Error {
    let fault: Fault
    /// What is wrong with the file, said of it.
    var reason: String
    var isLasting = true

    init(_ fault: Fault, isLasting: Bool) {
      self.init(fault)
      self.isLasting = isLasting
    }

    init(_ fault: Fault) {
      self.fault = fault
      reason = fault.reason.hasPrefix("it ") ? String(fault.reason.dropFirst(3)) : fault.reason
      // What the system refused now it may grant later.
      if case .system = fault.kind { isLasting = false }
    }

    init(_ breakdown: WorkerFailure) {
      self.init(breakdown.fault, isLasting: breakdown.isLasting)
      reason = "cannot be read (\(fault.reason))"
    }

    init(_ failure: JobAnswer.Failure, _ reason: String) {
      let reason = ConversionService.line(reason)
      self.reason = reason
      switch failure {
      case .damaged: fault = Fault(.damaged, reason)
      case .unsupported: fault = Fault(.unsupported, reason)
      case .locked: fault = Fault(.locked, reason)
      case .limit: fault = Fault(.limit, reason)
      case .absent: fault = Fault(.system(ENOENT), reason)
      case .system, .memory, .noSpace, .unprotected:
        let codes: [JobAnswer.Failure: Int32] = [.memory: ENOMEM, .noSpace: ENOSPC, .unprotected: EPERM]
        fault = Fault(.system(codes[failure] ?? EIO), reason)
        isLasting = false
      }
    }
  }

  func attempt(_ body: () throws(Failed) -> Outcome) -> Outcome {
    do throws(Failed) { return try body() } catch {
      // Cut short, or made of what is no more: no word on the file.
      if error.fault.isDelay || error.fault.kind == .changed || error.fault == WorkerFailure.cancelled.fault {
        return .dropped
      }
      return .failed(error.fault, isLasting: error.isLasting)
    }
  }

  /// Has a worker do something with a file's bytes, which are the same before and after.
  func perform(
    _ work: Job.Work, _ subject: InHand, _ task: ConversionTask, _ worker: Worker, output: Int32?, limit: Int64,
    watch: (Int64) -> Void = { _ in }
  ) throws(Failed) -> JobAnswer.Outcome {
    let bytes = subject.bytes
    guard bytes.size > 0 else { throw Failed(Fault(.damaged, "it is empty")) }
    let document = task.document
    let (holder, start) = try input(bytes, task)
    var job = Job(
      number: 0, work: work, start: start, size: bytes.size, document: document, outputLimit: limit)
    job.passwords = subject.passwords ?? []
    let answer = try holder.withReadOnlyDescriptor(failing: Failed.init) { (raw) throws(Failed) in
      do throws(WorkerFailure) {
        return try worker.perform(job, for: task, input: raw, output: output, watch: watch)
      } catch {
        // A mapped file that is cut off kills the worker (SIGBUS), which is then no word on the bytes.
        do throws(Fault) { try bytes.verify() } catch { throw Failed(error) }
        throw Failed(error)
      }
    }
    do throws(Fault) { try bytes.verify() } catch { throw Failed(error) }
    return answer
  }

  /// A descriptor for a file's bytes, and where they start in it.
  private func input(
    _ bytes: any ByteSource, _ task: ConversionTask
  ) throws(Failed) -> (any DescriptorHolder, start: Int64) {
    do throws(Fault) {
      if let extent = bytes.extent(at: 0, count: Int(bytes.size)), extent.count == bytes.size {
        try bytes.willMove(at: 0, count: extent.count, .blocking)
        return (extent.holder, extent.offset)
      }
      if task.document != 0, let copy = inputs[task.document] { return (copy, 0) }
      guard bytes.size <= Self.inputLimit else {
        throw Fault(.limit, "it is larger than \(Self.inputLimit >> 30) GiB, too large to be copied for the converter")
      }
      let copy = try TemporaryFile(in: spools)
      try bytes.copy(to: copy)
      // Of these each holds a descriptor, too.
      if task.document != 0 { inputs.insert(copy, for: task.document, cost: max(16 << 20, Int(bytes.size))) }
      return (copy, 0)
    } catch { throw Failed(error) }
  }
}
