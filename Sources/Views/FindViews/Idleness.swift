internal import Bytes
internal import Files
internal import Glibc

/// Whether the machine has time and power for work that no user waits for.
package struct Idleness: Sendable {
  /// The reason why such work has to wait.
  package enum Obstacle: String, Sendable {
    case power = "waits for mains power"
    case processor = "waits for an idle processor"
  }

  private let supplies: String
  private let pressure: String
  private let load: String

  /// The share of the last ten seconds in which a thread waited for a processor, in percent. Work at the lowest priority
  /// waits itself if others compute.
  private static let mostPressure = 10.0
  /// The number of threads that compute, for each processor, where the system does not tell how long threads wait.
  private static let mostLoad = 0.5

  /// - Parameters:
  ///   - supplies: the directory of the power supplies.
  ///   - pressure: the file with the times for which threads wait for a processor.
  ///   - load: the file with the number of threads that compute.
  package init(
    supplies: String = "/sys/class/power_supply", pressure: String = "/proc/pressure/cpu",
    load: String = "/proc/loadavg"
  ) {
    (self.supplies, self.pressure, self.load) = (supplies, pressure, load)
  }

  /// Returns the reason to wait now. Returns `nil` if there is none.
  package func obstacle() -> Obstacle? { hasPower ? isProcessorIdle ? nil : .processor : .power }

  /// Whether the machine has mains power, or no battery.
  private var hasPower: Bool {
    var hasMains = false
    var isDischarging = false
    for name in fileNames(inFolder: supplies) where !name.hasPrefix(".") {
      let folder = "\(supplies)/\(name)"
      switch Self.text(of: folder + "/type") {
      case "Battery":
        // The battery of a mouse does not count.
        if Self.text(of: folder + "/scope") != "Device", Self.text(of: folder + "/status") == "Discharging" {
          isDischarging = true
        }
      case "Mains", "USB": if Self.text(of: folder + "/online") == "1" { hasMains = true }
      default: break
      }
    }
    return hasMains || !isDischarging
  }

  private var isProcessorIdle: Bool {
    // some avg10=0.12 avg60=0.08 avg300=0.02 total=123
    if let text = Self.text(of: pressure), text.hasPrefix("some avg10="),
      let share = Double(text.dropFirst("some avg10=".count).prefix { $0 != " " })
    {
      return share < Self.mostPressure
    }
    guard let text = Self.text(of: load), let threads = Double(text.prefix { $0 != " " }) else { return false }
    return threads < Self.mostLoad * Double(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }

  /// Returns the start of a small file, without white space at its end. Returns `nil` if it cannot be read.
  private static func text(of path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { return nil }
    let text = bytes.prefix(count)
    return String(decoding: text.prefix((text.lastIndex { $0 > 0x20 } ?? -1) + 1), as: UTF8.self)
  }
}
