import TestSupport
import Testing

/// `ffmount serve`, for the programs and machines that ask it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ServeClientTests {
  private static let program = MountProcess.program("ffserve")
  private static let hasNetworks = ["unshare", "nsenter", "ip", "dbus-daemon", "avahi-daemon", "avahi-browse"]
    .allSatisfy(MountScratch.has)

  /// Between two machines, which are namespaces, each with an Avahi daemon of its own.
  @Test(.enabled(if: MountScratch.isRoot && hasNetworks, "needs root, unshare, ip, dbus-daemon and avahi-daemon"))
  func serversAreDiscoveredOnTheLocalNetwork() async throws {
    try await withScratch { scratch in
      let result = try await script(
        "serve_discovery.py", MountProcess.binary, Self.program, scratch.path, limit: 150)
      if let reason = result.lines.first, reason.hasPrefix("skipped") { try Test.cancel("\(skipped(reason))") }
      #expect(result.lines == ["done"])
    }
  }

  @Test func tokenIsReadFromFilePipeOrEnvironmentAndHidden() async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      let result = try await shell(
        """
        secret=from-a-place-of-its-own
        # Starts a server with the other arguments, asks it with and without the token, and looks for that in its command line.
        try() {
          "$program" "$folder" --port 0 "$@" <&0 > "$scratch/out" & server=$!
          for round in $(seq 600); do grep -q Stop "$scratch/out" && break; sleep .05; done
          url=$(grep -o 'http.*/dav/' "$scratch/out")
          url=${url%dav/}
          echo "$(curl -s -o /dev/null -w '%{http_code}' "$url")" \\
            "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $secret" "$url")" \\
            "$(tr '\\0' ' ' < /proc/$server/cmdline | grep -c "$secret")"
          kill $server; wait $server
        }
        program=$1 folder=$2 scratch=$3
        printf '%s\\r\\nmore\\n' $secret > "$scratch/token"
        chmod 600 "$scratch/token"
        try --token-file "$scratch/token"
        try --token $secret
        try --token=$secret
        try --token-file - <<< $secret
        try --token-file <(echo $secret)
        FFMOUNT_TOKEN=$secret try
        FFMOUNT_TOKEN=$secret try --no-token
        for mode in 640 620 610 604 602 601; do
          chmod $mode "$scratch/token"
          timeout 5 "$program" "$folder" --port 0 --token-file "$scratch/token" 2>&1 | grep -o 'chmod 600'
        done
        "$program" "$folder" --port 0 --token-file "$scratch/none" 2>&1
        "$program" "$folder" --port 0 --token-file - <<< short 2>&1
        "$program" "$folder" --port 0 --token-file - --token $secret 2>&1
        FFMOUNT_TOKEN='a blank in it' "$program" "$folder" --port 0 2>&1
        """, Self.program, scratch.source, scratch.path)
      #expect(
        result.lines.prefix(7) == [
          "401 200 0", "401 200 0", "401 200 0", "401 200 0", "401 200 0", "401 200 0", "200 200 0",
        ])
      #expect(result.lines.count { $0 == "chmod 600" } == 6, "\(result.text)")
      let refusals = result.lines.dropFirst(7).joined(separator: "\n")
      for word in ["chmod 600", "No such file", "8 or more", "exclude each other", "FFMOUNT_TOKEN: expected"] {
        #expect(refusals.contains(word), "\(refusals)")
      }
    }
  }

  /// A client that knows no more than the page Serve and openapi.json say, and finds everything as they say.
  @Test func phoneResponsesMatchTheAPIDescription() async throws {
    try await expectDone("serve_phone.py", Self.program, limit: 60)
  }

  /// Byte for byte, with names that are hard on them.
  @Test(arguments: ["curl", "wget", "rclone", "cadaver"])
  func clientsDownloadCompleteTrees(_ client: String) async throws {
    let check = MountScratch.package + "/scripts/checks/clients"
    let result = try await run(check, "--ffserve", Self.program, "--only", client)
    if result.text.contains(": skipped: ") { try Test.cancel("\(skipped(result.text))") }
    #expect(result.status == 0 && result.lines.count == 1, "\(result.text)")
  }

  /// What root may do and others not is no part of an answer.
  @Test(.enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"))
  func ordinaryUserCanServe() async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      let result = try await shell(
        """
        chmod -R a+rX "$2" "$3"
        setpriv --reuid=65534 --regid=65534 --clear-groups "$1" "$2" --port 0 > "$3/out" 2>&1 & server=$!
        for round in $(seq 600); do grep -q Stop "$3/out" && break; sleep .05; done
        url=$(grep -o 'http.*/dav/' "$3/out")
        curl -s "${url}a.txt"; echo; cat "$3/out"; kill $server; wait $server
        """, Self.program, scratch.source, scratch.path)
      #expect(result.lines.first == "a", "\(result.text)")
    }
  }
}
