internal import Catalogue
internal import WorkerKit

/// A destination of new objects of a PDF.
protocol ObjectSink: AnyObject {
  /// Returns a number for an object that must be written before the end.
  func reserve() -> Int
  func write(_ number: Int, _ text: [UInt8]) throws(JobFailure)
  /// - Parameter dictionary: without its `/Length`.
  func write(_ number: Int, dictionary: [UInt8], stream: RawSpan) throws(JobFailure)
}

extension PDFWriter: ObjectSink {}
