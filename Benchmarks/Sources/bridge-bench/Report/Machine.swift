// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the figures were measured on.
struct Machine: Sendable, Encodable {
  let cpu: String
  let cores: Int
  let kernel: String
  let swift: String
  let load: String

  init() {
    cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    let fields = Self.read("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
    cpu = fields?.split(separator: ":").last.map { String($0.drop { $0 == " " }) } ?? "unknown"
    kernel = Self.read("/proc/sys/kernel/osrelease").split(separator: "\n").first.map(String.init) ?? "unknown"
    load = Self.read("/proc/loadavg").split(separator: " ").first.map(String.init) ?? "unknown"
    #if compiler(>=6.4)
      swift = "6.4 or newer"
    #elseif compiler(>=6.3.1)
      swift = "6.3.1 or newer"
    #elseif compiler(>=6.3)
      swift = "6.3"
    #else
      swift = "6.2"
    #endif
  }

  /// A warning when others keep the machine busy; nil when it is quiet.
  var warning: String? {
    guard let load = Double(load), load > 0.5 * Double(cores) else { return nil }
    return "This machine is busy (load \(self.load) on \(cores) cores): the ratios are unsure, those of streams most."
  }

  var text: String { "\(cpu), \(cores) cores, Linux \(kernel), Swift \(swift), load \(load)" }

  /// The text of a file of /proc; empty when there is none.
  static func read(_ path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
