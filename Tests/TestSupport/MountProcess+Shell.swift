extension MountProcess {
  /// The output of shell lines run in the mount, on both streams; `$P` is the daemon, `workers` prints its converters, `list` what ffmount lists of the mount,
  /// `$S` is the source, `$O` a folder for results, `$T` the one with the test's scripts.
  public func shell(_ lines: String, _ scratch: MountScratch, limit seconds: Double = 60) async throws -> String {
    let start = """
      workers() { for w in $(pgrep -P $P); do grep -qs ffmount-witness /proc/$w/cmdline || echo $w; done | grep .; }
      list() { "\(MountProcess.binary)" list | awk -v own="$PWD" '$0 ~ "^/"{ is = $0 == own } is'; }
      export LC_ALL=C.UTF-8 P=$3 S=$2/source O=$2/out T=$4; mkdir -p $O; cd "$1" && { \(lines)
      } 2>&1
      """
    let words = [mountpoint, scratch.path, "\(daemon.pid)", MountScratch.package + "/Tests/Scripts"]
    return try await MountChild(["/bin/bash", "-c", start, "bash"] + words).wait(atMost: seconds).text
  }
}

/// Mounts a scratch folder with the real converter, a cache of its own, and temporary files beside it.
@discardableResult
public func withConverter<Value>(
  _ scratch: MountScratch, _ options: String = "workers=2", prefix: [String] = [],
  environment: [String: String] = [:], isSupervised: Bool = false,
  _ body: (MountProcess) async throws -> Value
) async throws -> Value {
  let own = ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path]
  return try await withMount(
    scratch, options: ["-o", options], prefix: prefix, environment: own.merging(environment) { _, given in given },
    isSupervised: isSupervised, body)
}
