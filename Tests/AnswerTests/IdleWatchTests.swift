import Testing

@testable import FuseLink

@Suite struct IdleWatchTests {
  /// Looks as often as it says, at a mount whose requests come at `times`; returns when it is due, in seconds.
  private func due(after limit: Duration, requestsAt times: [Double]) -> [Double] {
    let start = ContinuousClock.now
    var watch = IdleWatch(time: limit, requests: 7, now: start)
    var now = start
    var due: [Double] = []
    while now - start < .seconds(2000) {
      now += watch.pause(now: now)
      let passed = (now - start) / .seconds(1)
      if watch.isDue(requests: 7 + times.count { $0 <= passed }, now: now) { due.append(passed) }
    }
    return due
  }

  @Test(arguments: [1, 10, 600]) func idleTimeoutIsExactToTenPercent(_ seconds: Int) throws {
    let limit = Double(seconds)
    #expect(try #require(due(after: .seconds(seconds), requestsAt: []).first) == limit)
    // The last request comes at any moment between two looks.
    for part in 0...20 {
      let last = limit / 20 * Double(part)
      let first = try #require(due(after: .seconds(seconds), requestsAt: [last / 2, last]).first)
      #expect(first >= last + limit && first <= last + limit * 1.1001, "\(first) after \(last)")
    }
  }

  @Test func unmountOfBusyMountIsRetriedPeriodically() {
    #expect(due(after: .seconds(600), requestsAt: [30]).prefix(3).map { Int($0) } == [660, 1260, 1860])
  }
}
