internal import Bytes
internal import Catalogue
internal import Files

/// Jobs that do not make a whole file, as executed on a worker's thread.
extension ConversionService {
  /// The maximum number of pages in a directory.
  static let pageLimit: Int64 = 1_000_000

  func count(
    _ verb: String, in bytes: any ByteSource, inState revision: UInt64, _ task: ConversionTask, _ worker: Worker
  ) -> Outcome {
    attempt { () throws(Failed) in
      var subject = JobSource(bytes: bytes, revision: revision, passwords: passwords.found(for: revision))
      subject.opener = pool.conversion(verb)?.opener ?? subject.opener
      var answer = try perform(.count(verb: verb), subject, task, worker, output: nil, limit: 0)
      if case .failed(.locked, _) = answer, try unlock(&subject, task, worker) {
        answer = try perform(.count(verb: verb), subject, task, worker, output: nil, limit: 0)
      }
      switch answer {
      case .underWay: throw Failed(WorkerFailure.malformedReply)
      case .failed(let failure, let reason): throw Failed(failure, reason)
      case .done(let count, let remark):
        guard count <= Self.pageLimit else {
          throw Failed(Fault(.limit, "it claims to have \(count) pages, more than \(Self.pageLimit)"))
        }
        return .made(count, nil, remark: Self.line(remark), isKept: false)
      }
    }
  }

  func measure(
    _ recipe: Recipe, of bytes: any ByteSource, inState revision: UInt64, _ task: ConversionTask, _ worker: Worker
  ) -> Outcome {
    attempt { () throws(Failed) in
      switch try perform(
        .measure(recipe), JobSource(bytes: bytes, revision: revision), task, worker, output: nil, limit: 0)
      {
      case .done(let size, let remark):
        return .made(size, nil, remark: remark == JobAnswer.inOrder ? remark : "", isKept: false)
      case .failed(let failure, let reason): throw Failed(failure, reason)
      case .underWay: throw Failed(WorkerFailure.malformedReply)
      }
    }
  }

  /// Makes a range of a result's bytes.
  func makePart(
    _ recipe: Recipe, _ range: Range<Int64>, of bytes: any ByteSource, inState revision: UInt64, _ task: ConversionTask,
    _ worker: Worker
  ) -> Outcome {
    attempt { () throws(Failed) in
      let output: TemporaryFile
      do throws(Fault) { output = try TemporaryFile.inMemory() } catch { throw Failed(error) }
      let answer = try output.withDescriptor(failing: Failed.init) { (raw) throws(Failed) in
        try perform(
          .part(recipe, range), JobSource(bytes: bytes, revision: revision), task, worker, output: raw,
          limit: Int64(range.count))
      }
      if case .failed(let failure, let reason) = answer { throw Failed(failure, reason) }
      guard (try? output.withDescriptor { (raw) throws(Fault) in try FileStatus(of: raw).size }) == Int64(range.count)
      else {
        worker.end()
        throw Failed(WorkerFailure.malformedReply)
      }
      var part = [UInt8](repeating: 0, count: range.count)
      do throws(Fault) { try output.read(&part) } catch { throw Failed(error) }
      var remark = ""
      if case .done(_, let said) = answer { remark = Self.line(said) }
      return .made(Int64(part.count), ConversionResult(part: part), remark: remark, isKept: true)
    }
  }
}

extension ConversionService {
  /// Makes the first results of a series, as many as the worker makes quickly. Returns none after a failure, whose reason
  /// is found when the result is made by itself.
  func makeSeries(
    _ recipes: [Recipe], of bytes: any ByteSource, inState revision: UInt64, _ task: ConversionTask, _ worker: Worker
  ) -> [ConversionResult] {
    let subject = JobSource(bytes: bytes, revision: revision, passwords: passwords.found(for: revision))
    guard let output = try? TemporaryFile.inMemory(),
      let answer = try? output.withDescriptor(
        failing: Failed.init,
        { (raw) throws(Failed) in
          try perform(
            .series(recipes[0], count: recipes.count), subject, task, worker, output: raw, limit: Job.largestSeries)
        }),
      case .done(let total, let list) = answer
    else { return [] }
    let sizes = list.split(separator: " ").map { Int64($0) ?? -1 }
    var all = [UInt8](repeating: 0, count: Int(min(total, Job.largestSeries)))
    guard (1...recipes.count).contains(sizes.count), sizes.allSatisfy({ (0...Job.largestSeries).contains($0) }),
      sizes.reduce(0, +) == total, total == all.count, (try? output.read(&all)) != nil
    else {
      worker.end()
      return []
    }
    var start = 0
    return zip(recipes, sizes).map { recipe, size in
      defer { start += Int(size) }
      return ConversionResult(
        part: Array(all[start..<start + Int(size)]), identity: bytes.identity?.converted(by: recipe))
    }
  }
}

extension TemporaryFile {
  /// Fills `bytes` from the start of the file.
  fileprivate func read(_ bytes: inout [UInt8]) throws(Fault) {
    var fault: Fault?
    unsafe bytes.withUnsafeMutableBytes { buffer in
      do throws(Fault) { unsafe try read(into: buffer, at: 0) } catch { fault = error }
    }
    if let fault { throw fault }
  }
}
