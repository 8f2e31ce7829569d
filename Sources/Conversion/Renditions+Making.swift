internal import Bytes
internal import Files
internal import Glibc
internal import Threads

/// What happens on a worker's thread.
extension Renditions {
  /// Nor is one that has to lie in memory.
  private static let memoryLimit: Int64 = 64 << 20
  /// What lies in no file as it is and is larger is not copied to one, in bytes.
  private static let inputLimit: Int64 = 4 << 30
  /// More pages than that no folder shows.
  static let pageLimit: Int64 = 1_000_000

  func count(in bytes: any ByteSource, _ task: ConversionTask, _ worker: Worker) -> Outcome {
    attempt { () throws(Failed) in
      switch try perform(.countPages, bytes, task, worker, output: nil, limit: 0) {
      case .failed(let failure, let reason): throw Failed(failure, reason)
      case .done(let count, _):
        guard count <= Self.pageLimit else {
          throw Failed(Fault(.limit, "it claims to have \(count) pages, more than \(Self.pageLimit)"))
        }
        return .made(count, nil, remark: "", isKept: false)
      }
    }
  }

  func make(
    _ recipe: Recipe, of bytes: any ByteSource, _ name: RenditionName?, _ task: ConversionTask, _ worker: Worker
  ) -> Outcome {
    attempt { () throws(Failed) in
      var reason = "no room for the result"
      for place in places {
        guard let output = try? place.make() else { continue }
        let answer = try output.withDescriptor(failing: Failed.init) { (raw) throws(Failed) in
          try perform(.make(recipe), bytes, task, worker, output: raw, limit: place.limit)
        }
        switch answer {
        case .done(let size, let remark):
          guard (try? output.withDescriptor { (raw) throws(Fault) in try FileStatus(of: raw).size }) == size else {
            worker.end()
            throw Failed(Breakdown.senseless)
          }
          let kept = place.isKept ? name.flatMap { cache?.keep(output, size: size, $0.fileName) } : nil
          let made = Rendition(output, size: size, identity: bytes.identity?.converted(by: recipe), kept: kept)
          return .made(size, made, remark: Self.line(remark), isKept: kept != nil)
        case .failed(.system, let why): reason = why
        case .failed(.limit, _) where place.limit < Job.largestOutput: break
        case .failed(let failure, let reason): throw Failed(failure, reason)
        }
      }
      throw Failed(Fault(.system(ENOSPC), reason), isLasting: false)
    }
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
  private static func line(_ text: String) -> String {
    String(text.unicodeScalars.prefix(300).map { $0.properties.isPatternWhitespace ? " " : Character($0) })
  }

  private struct Failed: Error {
    let fault: Fault
    var isLasting = true

    init(_ fault: Fault, isLasting: Bool) { (self.fault, self.isLasting) = (fault, isLasting) }

    init(_ fault: Fault) {
      self.fault = fault
      // What the system refused now it may grant later.
      if case .system = fault.kind { isLasting = false }
    }

    init(_ breakdown: Breakdown) { (fault, isLasting) = (breakdown.fault, breakdown.isLasting) }

    init(_ failure: JobAnswer.Failure, _ reason: String) {
      let reason = Renditions.line(reason)
      switch failure {
      case .damaged: fault = Fault(.damaged, reason)
      case .unsupported: fault = Fault(.unsupported, reason)
      case .locked: fault = Fault(.locked, reason)
      case .limit: fault = Fault(.limit, reason)
      case .absent: fault = Fault(.system(ENOENT), reason)
      case .system, .memory, .unprotected:
        let codes: [JobAnswer.Failure: Int32] = [.memory: ENOMEM, .unprotected: EPERM]
        fault = Fault(.system(codes[failure] ?? EIO), reason)
        isLasting = false
      }
    }
  }

  private func attempt(_ body: () throws(Failed) -> Outcome) -> Outcome {
    do throws(Failed) { return try body() } catch {
      // Cut short, or made of what is no more: no word on the file.
      if error.fault.isDelay || error.fault.kind == .changed || error.fault == Breakdown.cancelled.fault {
        return .dropped
      }
      return .failed(error.fault, isLasting: error.isLasting)
    }
  }

  /// Has a worker do something with a file's bytes, which are the same before and after.
  private func perform(
    _ work: Job.Work, _ bytes: any ByteSource, _ task: ConversionTask, _ worker: Worker, output: Int32?, limit: Int64
  ) throws(Failed) -> JobAnswer.Outcome {
    guard bytes.size > 0 else { throw Failed(Fault(.damaged, "it is empty")) }
    let document = task.document
    let (holder, start) = try input(bytes, task)
    let job = Job(
      number: 0, work: work, start: start, size: bytes.size, document: document, outputLimit: limit)
    let answer = try holder.withReadOnlyDescriptor(failing: Failed.init) { (raw) throws(Failed) in
      do throws(Breakdown) { return try worker.perform(job, for: task, input: raw, output: output) } catch {
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
      try bytes.copy(to: copy) { task.isCancelled }
      // Of these each holds a descriptor, too.
      if task.document != 0 { inputs.insert(copy, for: task.document, cost: max(16 << 20, Int(bytes.size))) }
      return (copy, 0)
    } catch { throw Failed(error) }
  }
}

extension ByteSource {
  /// Writes all bytes to a file. Blocks.
  fileprivate func copy(to file: TemporaryFile, unless isCancelled: () -> Bool) throws(Fault) {
    var offset: Int64 = 0
    while offset < size {
      if isCancelled() { throw Breakdown.cancelled.fault }
      let piece = try bytes(at: offset, count: Int(min(1 << 20, size - offset)))
      var fault: Fault?
      unsafe piece.withUnsafeBytes { bytes in
        do throws(Fault) { unsafe try file.write(bytes, at: offset) } catch { fault = error }
      }
      if let fault { throw fault }
      offset += Int64(piece.count)
    }
  }
}

extension DescriptorHolder {
  /// The same with a descriptor that cannot be written by, whatever this one is for.
  fileprivate func withReadOnlyDescriptor<Result, Failure: Error>(
    failing: (Fault) -> Failure, _ body: (Int32) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withDescriptor(failing: failing) { (raw) throws(Failure) in
      if fcntl(raw, F_GETFL) & O_ACCMODE == O_RDONLY { return try body(raw) }
      let other: Descriptor
      do throws(Fault) { other = try Descriptor.open(path: "/proc/self/fd/\(raw)", for: .reading) } catch {
        throw failing(error)
      }
      return try body(other.raw)
    }
  }

  /// The same with failures of another type; `failing` makes one of a fault.
  fileprivate func withDescriptor<Result, Failure: Error>(
    failing: (Fault) -> Failure, _ body: (Int32) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var outcome: Swift.Result<Result, Failure>?
    do throws(Fault) {
      try withDescriptor { (raw) throws(Fault) in
        do throws(Failure) { outcome = .success(try body(raw)) } catch { outcome = .failure(error) }
      }
    } catch { throw failing(error) }
    guard let outcome else { throw failing(Fault(.system(EBADF))) }
    return try outcome.get()
  }
}
