import Bytes
import Files
import Glibc
import Locks
import NIOHTTP1
import Synchronization
import Threads
import Tree

/// The counters, in the format of Prometheus.
final class Metrics: Sendable {
  private let answers = UnfairLock<[UInt: Int]>([:])
  private let bytes = Atomic<Int>(0)
  private let received = Atomic<Int>(0)
  private let start = Timestamp.now.seconds

  func note(_ status: HTTPResponseStatus) { answers.withLock { $0[status.code, default: 0] += 1 } }

  func note(sent count: Int) { bytes.add(count, ordering: .relaxed) }

  func note(received count: Int) { received.add(count, ordering: .relaxed) }

  /// Returns the metrics in the text format, version 0.0.4.
  func response(_ site: Site) -> Response {
    let work = site.tree.work
    let converting = Self.conversions(among: work.activities)
    var text = MetricsText()
    text.add(
      "ffserve_answers_total", .counter, "Answers by status.",
      answers.withLock { $0 }.sorted { $0.key < $1.key }.map { ("{status=\"\($0.key)\"}", Double($0.value)) })
    text.add("ffserve_sent_bytes_total", .counter, "Sent bytes, without headers.", bytes.load(ordering: .relaxed))
    text.add(
      "ffserve_received_bytes_total", .counter, "Bytes of uploaded files.", received.load(ordering: .relaxed))
    text.add("ffserve_wrong_tokens_total", .counter, "Wrong tokens received.", site.access.wrongTokens)
    text.add("ffserve_connections", .gauge, "Open connections.", site.connections.count)
    text.add("ffserve_nodes", .gauge, "Files and folders of the tree that have an inode number.", site.tree.nodeCount)
    text.add("ffserve_conversions_running", .gauge, "Conversions in progress.", converting)
    text.add("ffserve_conversions_waiting", .gauge, "Conversions waiting for a worker.", work.waiting)
    text.add("ffserve_conversions_made_total", .counter, "Converted files.", work.made)
    text.add("ffserve_conversions_failed", .gauge, "Conversions whose last attempt failed.", work.failures.count)
    let own = Self.process
    text.add("process_cpu_seconds_total", .counter, "Processor time, without workers.", [("", own.seconds)])
    text.add("process_resident_memory_bytes", .gauge, "Resident memory, without workers.", own.memory)
    text.add("process_start_time_seconds", .gauge, "Start time of the server, in seconds since 1970.", Int(start))
    return Response(
      .ok, headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Cache-Control", "no-store")],
      .bytes(text.bytes))
  }

  /// Returns the number of conversions in progress.
  static func conversions(among activities: [WorkReport.Activity]) -> Int {
    activities.count { $0.kind == .converting }
  }

  private static var process: (seconds: Double, memory: Int) {
    let seconds = Double(processorNanoseconds()) / 1e9
    return (seconds, OwnMemory.now?.resident ?? 0)
  }
}

/// Metrics in Prometheus's text format: their meaning, their kind, their values.
private struct MetricsText {
  enum Kind: String {
    case counter
    case gauge
  }

  private var text = ""

  var bytes: [UInt8] { Array(text.utf8) }

  mutating func add(_ name: String, _ kind: Kind, _ meaning: String, _ value: Int) {
    add(name, kind, meaning, [("", Double(value))])
  }

  mutating func add(_ name: String, _ kind: Kind, _ meaning: String, _ values: [(labels: String, Double)]) {
    text += "# HELP \(name) \(meaning)\n# TYPE \(name) \(kind.rawValue)\n"
    for (labels, value) in values {
      let number = value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
      text += "\(name)\(labels) \(number)\n"
    }
  }
}
