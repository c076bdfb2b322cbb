// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// The service as `make install` has put it into the guest.
enum InstalledService {
  static let unit = "accessory-bridge.service"
  static let socket = "/run/accessory-bridge/bridge.socket"
  static let readingsSocket = "/run/accessory-bridge/readings.socket"
  static let command = "/usr/local/bin/bridge-cli"

  /// The sources, from which `make install` runs.
  private static let root = ProjectFolder.path

  /// Where the tests of this process have what they need for installing.
  private static let folder: TemporaryDirectory = {
    do {
      let folder = try TemporaryDirectory()
      // In place of the manual, which would take minutes to make here.
      for page in ["bridge-cli.1", "bridge-cli-list.1"] {
        try folder.write(Array(".TH BRIDGE-CLI 1\n".utf8), to: page, mode: 0o644)
      }
      return folder
    } catch { fatalError("no folder: \(error)") }
  }()

  // MARK: - Programs

  static func run(_ words: [String], limit: Duration = .seconds(90)) async throws -> Program.Transcript {
    try await Program(
      words,
      environment: ["PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LC_ALL": "C.UTF-8"],
      directory: folder.path, limit: limit
    ).end()
  }

  static func run(_ words: String...) async throws -> Program.Transcript { try await run(words) }

  /// The words of the installed command, run by a user: 65534 is nobody, who is in no group but `group`.
  static func ask(_ words: String..., asUser user: Int? = nil, group: Int? = nil) async throws -> Program.Transcript {
    try await ask(words, asUser: user, group: group)
  }

  static func ask(_ words: [String], asUser user: Int? = nil, group: Int? = nil) async throws -> Program.Transcript {
    var prefix: [String] = []
    if let user {
      prefix = ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--inh-caps=-all"]
      prefix += [group.map { "--groups=\($0)" } ?? "--clear-groups"]
    }
    return try await run(prefix + [command] + words)
  }

  /// `make install` or `make uninstall`, as root.
  static func make(_ target: String) async throws -> Program.Transcript {
    try await run(
      ["make", "-C", root, target, "BRIDGE_CLI=\(root)/.build/lab/programs/bridge-cli", "MANUAL=\(folder.path)"],
      limit: .seconds(240))
  }

  /// Installs unless that is done; the service is gone when this returns, and leaves after `idle` without work.
  static func prepare(idle: String = "3s") async throws {
    try #require(Kernel.isReady)
    if !Kernel.exists(command) { #expect(try await make("install").status == 0) }
    try await dropIn("idle", "[Service]\nExecStart=\nExecStart=\(command) serve --exit-idle \(idle)\n")
    _ = try await run("systemctl", "stop", unit)
    _ = try await run("systemctl", "reset-failed", unit)
    try #require(await property("ActiveState") == "inactive")
  }

  /// Writes a configuration file that every user may read.
  static func write(_ text: String, to path: String) async throws {
    try folder.write(Array(text.utf8), to: "configuration", mode: 0o644)
    #expect(try await run("install", "-m", "644", "configuration", path).status == 0)
  }

  /// Changes the unit; without a text, no more.
  static func dropIn(_ name: String, _ text: String?) async throws {
    let place = "/etc/systemd/system/\(unit).d"
    #expect(try await run("mkdir", "-p", place).status == 0)
    if let text {
      try folder.write(Array(text.utf8), to: name, mode: 0o644)
      #expect(try await run("cp", name, "\(place)/\(name).conf").status == 0)
    } else {
      #expect(try await run("rm", "-f", "\(place)/\(name).conf").status == 0)
    }
    #expect(try await run("systemctl", "daemon-reload").status == 0)
  }

  // MARK: - The unit

  static func property(_ name: String, of unit: String = unit) async throws -> String {
    try await run("systemctl", "show", "--property", name, "--value", unit).lines.first ?? ""
  }

  static func process(of unit: String = unit) async throws -> Int { Int(try await property("MainPID", of: unit)) ?? 0 }

  /// Waits for a state of the unit. Nobody asks the service: that would start it.
  static func waitForState(
    _ wanted: String, of unit: String = unit, within limit: Duration = .seconds(60)
  ) async throws {
    let end = MonotonicTime.now + limit.patient
    var state = ""
    repeat {
      state = try await property("ActiveState", of: unit)
      if state == wanted { return }
      await IOThread.shared.sleep(for: .milliseconds(200))
    } while MonotonicTime.now < end
    let journal = try await run("systemctl", "status", "--no-pager", "--full", unit).outputText
    throw Hang("\(unit) to be \(wanted); it is \(state)\n\(journal)")
  }

  /// The last lines of its log.
  static func log(of unit: String = unit) async throws -> String {
    try await run("journalctl", "--no-pager", "--output=cat", "--unit", unit, "--lines=40").outputText
  }

  /// Stops the unit, and expects that it ends by itself, with exit status 0, and isn't started again.
  static func stop(_ unit: String = unit) async throws {
    // A udev event that is still queued may make systemd start the service again.
    #expect(try await run("udevadm", "settle").status == 0)
    #expect(try await run("systemctl", "log-level", "debug").status == 0)
    #expect(try await run("systemctl", "stop", unit).status == 0)
    let ending = [
      try await property("ActiveState", of: unit), try await property("Result", of: unit),
      try await property("ExecMainStatus", of: unit),
    ]
    #expect(try await run("systemctl", "log-level", "info").status == 0)
    guard ending != ["inactive", "success", "0"] else { return }
    let log = try await run("journalctl", "--no-pager", "--output=short-monotonic", "--lines=200").outputText
    Issue.record("\(unit) is \(ending): \(log)")
  }

  /// The exposure of a loaded unit in the opinion of systemd; 0 is safest, 10 worst.
  static func exposure(of unit: String = unit) async throws -> Double {
    let judged = try await run("systemd-analyze", "security", "--no-pager", unit)
    let line = judged.lines.last { $0.contains("Overall exposure level") } ?? ""
    let figure = line.split(separator: " ").lazy.compactMap { Double($0) }.first
    print("lab: \(unit):\(line)")
    return try #require(figure, "\(judged.outputText)\(judged.errorText)")
  }

  /// The fields of /proc/PID/status of the unit's process.
  static func processFacts(of unit: String = unit) async throws -> [String: String] {
    let path = "/proc/\(try await process(of: unit))/status"
    let lines = String(decoding: try SmallFile.read(path, limit: 1 << 16), as: UTF8.self).split(separator: "\n")
    return Dictionary(
      lines.map { line in
        let parts = line.split(separator: ":", maxSplits: 1).map { $0.split(separator: "\t").joined(separator: " ") }
        return (parts[0], parts.count > 1 ? parts[1] : "")
      }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: - Asking it

  /// What it has, for people.
  static func description() async -> String {
    guard let all = try? await accessories() else { return "it does not answer" }
    return all.map { "\($0.device.serialNumber ?? $0.device.path) \($0.state) \($0.problem?.message ?? "")" }
      .description
  }

  static func accessories(at socket: String = socket) async throws -> [Bridge.Accessory] {
    let client = try await ControlClient.connect(to: socket, timeout: .seconds(30))
    do throws(ControlError) {
      return try await client.call(Bridge.List(), timeout: .seconds(30)).accessories
    } catch { throw error }
  }

  /// The serial numbers of what is attached.
  static func attached() async throws -> Set<String> {
    Set(try await accessories().filter { $0.state == .attached }.compactMap(\.device.serialNumber))
  }

  /// Waits until just these are attached, and nothing else is known.
  static func waitForAttached(_ serials: Set<String>, within limit: Duration = .seconds(90)) async throws {
    let end = MonotonicTime.now + limit.patient
    var seen: [Bridge.Accessory] = []
    repeat {
      // Who comes while it is leaving is sent away; the socket starts it again for the next.
      seen = (try? await accessories()) ?? seen
      if seen.allSatisfy({ $0.state == .attached }), Set(seen.compactMap(\.device.serialNumber)) == serials { return }
      await IOThread.shared.sleep(for: .milliseconds(100))
    } while MonotonicTime.now < end
    let states = seen.map { "\($0.device.serialNumber ?? $0.device.path) \($0.state) \($0.problem?.message ?? "")" }
    throw Hang("\(serials.sorted()) to be attached; there are \(states)\n\(try await log())")
  }
}
