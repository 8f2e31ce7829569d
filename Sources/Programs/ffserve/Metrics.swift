import NIOHTTP1
import Synchronization
import Tree

/// What is counted, as Prometheus reads it.
final class Metrics: Sendable {
  private let answers = Mutex<[UInt: Int]>([:])
  private let bytes = Atomic<Int>(0)

  func note(_ status: HTTPResponseStatus) { answers.withLock { $0[status.code, default: 0] += 1 } }

  func note(sent count: Int) { bytes.add(count, ordering: .relaxed) }

  /// In the text format, version 0.0.4.
  func response(_ site: Site) -> Response {
    let answers = answers.withLock { $0 }.sorted { $0.key < $1.key }
    var lines = ["# TYPE ffserve_answers_total counter"]
    lines += answers.map { "ffserve_answers_total{status=\"\($0.key)\"} \($0.value)" }
    lines += [
      "# TYPE ffserve_sent_bytes_total counter", "ffserve_sent_bytes_total \(bytes.load(ordering: .relaxed))",
      "# TYPE ffserve_connections gauge", "ffserve_connections \(site.connections.count)",
      "# TYPE ffserve_nodes gauge", "ffserve_nodes \(site.tree.nodeCount)",
    ]
    return Response(
      .ok, headers: [("Content-Type", "text/plain; version=0.0.4"), ("Cache-Control", "no-store")],
      .bytes(Array((lines.joined(separator: "\n") + "\n").utf8)))
  }
}
