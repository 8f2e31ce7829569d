internal import Bytes
internal import Catalogue
internal import Files
internal import Glibc
internal import Threads

/// Jobs that make whole files, as executed on a worker's thread.
extension ConversionService {
  /// The maximum size of a result in memory, in bytes.
  private static let memoryLimit: Int64 = 64 << 20
  /// The maximum size of a source that is copied because it is not a contiguous range of a file, in bytes.
  private static let inputLimit: Int64 = 4 << 30

  /// Makes a result. `growing` is called with the output file and the number of readable bytes before the result is
  /// complete. Blocks.
  func make(
    _ recipe: Recipe, of bytes: any ByteSource, inState revision: UInt64, _ task: ConversionTask, _ worker: Worker,
    turn: BuildLockRequest? = nil, growing: (TemporaryFile, Int64) -> Void = { _, _ in }
  ) -> Outcome {
    var subject = JobSource(bytes: bytes, revision: revision, passwords: passwords.found(for: revision))
    let conversion = pool.conversion(recipe)
    subject.isBundle = conversion.map { $0.naming == .folder || $0.pageVerb != nil } ?? false
    subject.opener = conversion?.opener ?? subject.opener
    // Results that are read while they are made do not wait for other processes, and neither do unrequested results.
    let name = isWhole(recipe) && !task.isAhead ? name(recipe, of: bytes, inState: revision) : nil
    if let name, let turn, let cache, !turn.isGranted(name, in: cache) { return .waits(turn) }
    // Releases the lock for other processes, also after a failure.
    defer { turn?.end() }
    if name != nil, let kept = (try? kept(recipe, of: bytes, inState: revision, .blocking)) ?? nil {
      return .made(kept.size, kept, remark: "", isKept: true)
    }
    return attempt { [subject] () throws(Failed) in
      do throws(Failed) { return try make(recipe, subject, task, worker, growing) } catch {
        // A file in which nothing can be left out is its own result.
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
    _ recipe: Recipe, _ subject: JobSource, _ task: ConversionTask, _ worker: Worker,
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
        // An unusable directory is treated as a full one.
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
        // The name in the cache depends on the passwords, which are known now.
        let found = try? kept(recipe, of: subject.bytes, inState: subject.revision, .blocking)
        if let found { return .made(found.size, found, remark: "", isKept: true) }
        continue
      // Another disk may have space, or work.
      case .failed(let failure, let why) where (failure == .noSpace || failure == .system) && !isRead:
        refusal = Failed(failure, why).fault
      case .failed(.limit, _) where place.limit < mostBytes && !isRead: break
      case .failed(let failure, let reason): throw Failed(failure, reason)
      }
      places.removeFirst()
    }
    throw Failed(refusal, isLasting: false)
  }

  /// Returns whether a result can be read only when it is complete.
  private func isWhole(_ recipe: Recipe) -> Bool { (pool.conversion(recipe)?.making ?? .whole) == .whole }

  private func made(
    _ recipe: Recipe, _ subject: JobSource, _ output: TemporaryFile, size: Int64, remark: String, isKept: Bool
  ) -> Outcome {
    let name = isKept ? name(recipe, of: subject.bytes, inState: subject.revision) : nil
    let identity = subject.bytes.identity?.converted(by: recipe)
    switch name.flatMap({ cache?.keep(output, size: size, $0.fileName) }) ?? .failed {
    case .kept(let state):
      return .made(
        size, ConversionResult(output, size: size, identity: identity, kept: state), remark: remark, isKept: true)
    case .known(let file, let state, let size) where isWhole(recipe):
      return .made(
        size, ConversionResult(file, size: size, identity: identity, kept: state), remark: remark, isKept: true)
    case .known, .failed:
      return .made(
        size, ConversionResult(output, size: size, identity: identity, kept: nil), remark: remark, isKept: false)
    }
  }

  /// Copies a file that cannot be converted. The copy is the result.
  private func copy(
    _ subject: JobSource, _ recipe: Recipe, because failed: Failed, _ task: ConversionTask
  ) throws(Failed) -> Outcome {
    // With another password or limit, the result would be different.
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

  /// Searches for a file's passwords, unless that has been done before. Returns whether any were found. Blocks.
  func unlock(_ file: inout JobSource, _ task: ConversionTask, _ worker: Worker) throws(Failed) -> Bool {
    if passwords.areNone || file.passwords != nil || pool.conversion(file.opener) == nil { return false }
    let subject = file
    let (holder, start, isOnDemand) = try input(subject.bytes, for: subject.opener, task)
    let found = try passwords.find(for: subject.revision, wantsOne: !subject.isBundle) { (some) throws(Failed) in
      var job = Job(
        number: 0, work: .findPasswords(isBundle: subject.isBundle, verb: subject.opener), start: start,
        size: subject.bytes.size, outputLimit: 0)
      job.passwords = some
      job.isOnDemand = isOnDemand
      let answer = try holder.withReadOnlyDescriptor(failing: Failed.init) { (raw) throws(Failed) in
        do throws(WorkerFailure) {
          return try worker.askApart(job, for: task, input: raw, supply: supply(of: subject.bytes))
        } catch {
          do throws(Fault) { try subject.bytes.verify() } catch { throw Failed(error) }
          throw Failed(error)
        }
      }
      // The reason for a failure is reported by a process that has not seen any password.
      guard case .done(_, let numbers) = answer else { return [] }
      return numbers.split(separator: ",").compactMap { Int($0) }.filter(some.indices.contains).map { some[$0] }
    }
    file.passwords = found
    return !found.isEmpty
  }

  /// The source of a job, and the passwords that open it.
  struct JobSource {
    let bytes: any ByteSource
    let revision: UInt64
    /// The passwords that open the source. `nil` if they have not been searched for.
    var passwords: [[UInt8]]?
    var isBundle = false
    /// The verb of the conversion whose program tests passwords.
    var opener = Conversion.pages.verb
  }

  /// The possible locations of a result. The first one with enough space is used.
  private var places: [(make: () throws(Fault) -> TemporaryFile, limit: Int64, isKept: Bool)] {
    let spools = spools
    var places: [(make: () throws(Fault) -> TemporaryFile, limit: Int64, isKept: Bool)] = []
    if let cache { places.append(({ () throws(Fault) in try cache.makeFile() }, Job.largestOutput, true)) }
    places.append(({ () throws(Fault) in try TemporaryFile(in: spools) }, Job.largestOutput, false))
    places.append(({ () throws(Fault) in try TemporaryFile.inMemory() }, Self.memoryLimit, false))
    return places
  }

  /// Limits a worker's text to a short line. The text may come from code that a hostile file took over.
  static func line(_ text: String) -> String {
    String(text.unicodeScalars.prefix(300).map { $0.properties.isPatternWhitespace ? " " : Character($0) })
  }

  /// The failure of a job, and its reason for reports.
  struct Failed: Error {
    let fault: Fault
    /// The problem, as the end of a sentence that starts with the file's name.
    var reason: String
    var isLasting = true

    init(_ fault: Fault, isLasting: Bool) {
      self.init(fault)
      self.isLasting = isLasting
    }

    init(_ fault: Fault) {
      self.fault = fault
      reason = fault.reason.hasPrefix("it ") ? String(fault.reason.dropFirst(3)) : fault.reason
      // A later attempt may succeed after an error of the system.
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
      // A cancellation or a change of the source is not a result about the file.
      if error.fault.isDelay || error.fault.kind == .changed || error.fault == WorkerFailure.cancelled.fault {
        return .dropped
      }
      return .failed(error.fault, isLasting: error.isLasting)
    }
  }

  /// Runs a job on a file's bytes, and verifies afterwards that these have not changed. Blocks.
  func perform(
    _ work: Job.Work, _ subject: JobSource, _ task: ConversionTask, _ worker: Worker, output: Int32?, limit: Int64,
    watch: (Int64) -> Void = { _ in }
  ) throws(Failed) -> JobAnswer.Outcome {
    let bytes = subject.bytes
    guard bytes.size > 0 else { throw Failed(Fault(.damaged, "it is empty")) }
    let document = task.document
    let (holder, start, isOnDemand) = try input(bytes, for: work.verb, task)
    var job = Job(
      number: 0, work: work, start: start, size: bytes.size, document: document, outputLimit: limit)
    job.passwords = subject.passwords ?? []
    job.isOnDemand = isOnDemand
    let answer = try holder.withReadOnlyDescriptor(failing: Failed.init) { (raw) throws(Failed) in
      do throws(WorkerFailure) {
        return try worker.perform(
          job, for: task, input: raw, output: output, supply: supply(of: bytes), watch: watch)
      } catch {
        // Truncating a mapped file kills the worker (SIGBUS). The failure is then not due to the bytes.
        do throws(Fault) { try bytes.verify() } catch { throw Failed(error) }
        throw Failed(error)
      }
    }
    do throws(Fault) { try bytes.verify() } catch { throw Failed(error) }
    return answer
  }

  /// Returns the function that reads the bytes for a worker that requests them.
  private func supply(of bytes: any ByteSource) -> ConverterProcess.Supply {
    { [pool] request throws(WorkerFailure) in
      do throws(Fault) {
        while true {
          do throws(Fault) { return try bytes.bytes(at: request.offset, count: request.count, .blocking) } catch {
            if error.kind == .later { continue }
            guard let operation = error.pending else { throw error }
            try pool.wait(for: operation)
          }
        }
      } catch { throw error.kind == .interrupted ? .cancelled : .input(error) }
    }
  }

  /// Returns a descriptor of a file that contains the bytes, and their offset in it. If the verb's handler requests
  /// bytes that are not in a file, the descriptor is of an empty file.
  private func input(
    _ bytes: any ByteSource, for verb: String, _ task: ConversionTask
  ) throws(Failed) -> (any DescriptorHolder, start: Int64, isOnDemand: Bool) {
    do throws(Fault) {
      if let extent = bytes.extent(at: 0, count: Int(bytes.size)), extent.count == bytes.size {
        try bytes.willMove(at: 0, count: extent.count, .blocking)
        return (extent.holder, extent.offset, false)
      }
      if pool.conversion(verb)?.readsOnDemand ?? false { return (try TemporaryFile.inMemory(), 0, true) }
      if task.document != 0, let copy = inputs[task.document] { return (copy, 0, false) }
      guard bytes.size <= Self.inputLimit else {
        throw Fault(.limit, "it is larger than \(Self.inputLimit >> 30) GiB, too large to be copied for the converter")
      }
      let copy = try TemporaryFile(in: spools)
      try bytes.copy(to: copy)
      // The minimum cost accounts for the descriptor of each copy.
      if task.document != 0 { inputs.insert(copy, for: task.document, cost: max(16 << 20, Int(bytes.size))) }
      return (copy, 0, false)
    } catch { throw Failed(error) }
  }
}
