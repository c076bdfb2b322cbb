// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import AccessorySimulator
import Glibc
import TestSupport
import Testing

/// What is done to a service that runs: its files are taken away, nobody reads what it says, others crowd its socket.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ServiceTroubleTests {
  /// Waits until the service at the usual place answers; returns what it has.
  private func list(_ box: Sandbox) async throws -> [String] {
    let ids = Watched<[String]?>(nil)
    try await eventually("the service's answer", within: .seconds(60)) {
      guard let client = try? await ControlClient.connect(to: box.socket),
        let list = try? await client.call(Bridge.List())
      else { return false }
      ids.update { $0 = list.accessories.map(\.device.id).sorted() }
      return true
    }
    return ids.value ?? []
  }

  // MARK: - A standard error that nobody reads

  /// Starts a program whose standard error is a full pipe that nobody reads.
  private static let unread = [
    "sh", "-c", "exec 2<>unread; dd if=/dev/zero bs=4096 count=16 status=none >&2; exec \"$@\"", "sh",
  ]

  @Test func nobodyReadsStandardError() async throws {
    try await Sandbox.with { box in
      #expect(mkfifo(box.directory.path + "/unread", 0o600) == 0)
      _ = try await box.simulate()
      let service = try box.start(["serve", "--log-level", "debug"], prefix: Self.unread)
      try await eventually("the accessory", within: .seconds(60)) { try await self.list(box) == ["SIM0001"] }
      for _ in 0..<8 {
        #expect(try await box.run("detach", "SIM0001").status == 0)
        #expect(try await box.run("attach", "SIM0001").status == 0)
      }
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
      #expect(!exists(box.socket))
    }
  }

  // MARK: - Files that are taken away

  /// The socket, its lock, both: the service is found again, and a second one finds it.
  @Test(arguments: [["bridge.socket"], ["bridge.socket.lock"], ["bridge.socket", "bridge.socket.lock"]])
  func itsFilesAreDeleted(names: [String]) async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      let before = try await ControlClient.connect(to: box.socket)
      for _ in 0..<3 {
        for name in names { #expect(unlink(box.runtime.path + "/accessory-bridge/" + name) == 0) }
        for name in names {
          try await eventually(name) { exists(box.runtime.path + "/accessory-bridge/" + name) }
        }
        #expect(try await list(box) == [])
      }
      // Who was connected still is.
      _ = try await before.call(Bridge.List())
      let second = try await box.run("serve")
      #expect(second.status == 0)
      #expect(second.errorText.contains("a service is running already"))
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
      #expect(!exists(box.socket))
    }
  }

  /// What is done to the runtime directory.
  enum Fate: String, CaseIterable, Sendable {
    case renamed, removed, simulatedRemoved
  }

  private func befall(_ fate: Fate, _ box: Sandbox) async throws {
    let path = box.runtime.path + "/accessory-bridge"
    switch fate {
    case .renamed: #expect(rename(path, path + ".\(UInt64.random(in: 0 ... .max))") == 0)
    // The service makes it again meanwhile, so that it may not be empty in the end.
    case .removed: _ = try await run(["rm", "-rf", path], box)
    case .simulatedRemoved: _ = try await run(["rm", "-rf", path + "/simulated"], box)
    }
  }

  private func run(_ words: [String], _ box: Sandbox) async throws -> CInt? {
    try await Program(words, environment: ["PATH": "/usr/bin:/bin"], directory: box.directory.path).end().status
  }

  /// While a simulator lives, its file's directory does, too, and the kernel doesn't tell of the directory's end.
  @Test(arguments: Fate.allCases) func theRuntimeDirectoryGoesAway(fate: Fate) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial", "A1")
      let service = try await box.serve()
      try await service.errors(containing: "A1 is attached at")
      let watch = try box.start("watch")
      try await watch.line(containing: "A1")
      for serial in ["B1", "B2"] {
        try await befall(fate, box)
        try await eventually("the directory", within: .seconds(60)) {
          exists(box.runtime.path + "/accessory-bridge/simulated")
        }
        _ = try await box.simulate("--serial", serial)
        try await watch.line(containing: serial)
        try await service.errors(containing: "\(serial) is attached at")
        #expect(try await list(box).contains(serial))
      }
      watch.signal(SIGINT)
      #expect(try await watch.end().status == 0)
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
    }
  }

  // MARK: - Starting

  @Test func anUnknownSourceIsAUsageError() async throws {
    try await Sandbox.with { box in
      let service = try await box.run(["serve"], environment: ["ACCESSORY_BRIDGE_SOURCES": "nonsense"])
      #expect(service.status == EX_USAGE)
      #expect(service.errorText.contains("ACCESSORY_BRIDGE_SOURCES"))
      #expect(!exists(box.socket))
    }
  }

  /// Somebody else was first below the temporary directory. What is said can be done, and helps.
  @Test(.enabled(if: geteuid() == 0, "only root can give directories away"))
  func aRuntimeDirectoryOfSomebodyElseIsExplained()
    async throws
  {
    try await Sandbox.with { box in
      let foreign = box.directory.path + "/accessory-bridge-\(geteuid())"
      #expect(mkdir(foreign, 0o700) == 0 && chown(foreign, 65_534, 65_534) == 0)
      let environment = ["XDG_RUNTIME_DIR": "", "TMPDIR": box.directory.path, "HOME": box.directory.path]
      let failed = try await box.run(["serve"], environment: environment)
      #expect(failed.status == EX_CONFIG)
      let advice = try #require(failed.errorText.split(separator: ": ").last)
      let followed = "set -e; \(advice.split(separator: "\n")[0]); exec \"$@\" --exit-idle 100ms"
      let service = try await box.run(["serve"], environment: environment, prefix: ["sh", "-c", followed, "sh"])
      #expect(service.status == 0, "\(failed.errorText)\n\(service.errorText)")
      #expect(service.errorText.contains("answering on \(box.directory.path)"))
    }
  }

  // MARK: - Others

  /// A service that takes no more clients is there, and may have the accessory.
  @Test(arguments: [["battery"], ["battery", "SIM0001", "--json"], ["detach", "SIM0001"]])
  func aBusyServiceIsReported(command: [String]) async throws {
    try await Sandbox.with { box in
      let path = box.directory.path + "/control"
      var limits = ControlServer.Limits()
      (limits.clients, limits.reservedClients) = (0, 0)
      let server = try ControlServer(try ControlSocket.make(at: path), handler: SampleBridge(), limits: limits)
      let asked = try await box.run(command, environment: ["ACCESSORY_BRIDGE_SOCKET": path])
      #expect(asked.status == EX_UNAVAILABLE)
      #expect((asked.outputText + asked.errorText).contains("the service at \(path) is busy"))
      await server.close()
    }
  }

  /// A thousand announcements of terminals that aren't there: what is done for each doesn't grow with their number.
  @Test func aThousandAnnouncementsDoNotSlowTheServiceDown() async throws {
    try await Sandbox.with { box in
      let service = try box.start(["serve", "--log-level", "error"], limit: Sandbox.longLife)
      #expect(try await list(box) == [])
      let directory = box.runtime.path + "/accessory-bridge/simulated"
      try await eventually("the directory", within: .seconds(60)) { exists(directory) }
      var files: [CInt] = []
      defer { files.forEach { close($0) } }
      for number in 0..<1_000 {
        let text = #"{"path":"/dev/nowhere/\#(number)","driver":"framed","serial":"N\#(number)","instance":\#(number)}"#
        let file = open("\(directory)/.\(number)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(flock(file, LOCK_EX | LOCK_NB) == 0 && write(file, text, text.utf8.count) == text.utf8.count)
        try #require(rename("\(directory)/.\(number)", "\(directory)/\(number).json") == 0)
        files.append(file)
      }
      try await eventually("all of them", within: .seconds(60)) { try await self.list(box).count == 1_000 }
      let ticks = try await secondsOfProcessor(service)
      // Opening each fails at once, and is repeated for two seconds, then three times.
      try await eventually("the last try", within: .seconds(60)) {
        try await ControlClient.connect(to: box.socket).call(Bridge.List()).accessories.allSatisfy {
          $0.state == .failed
        }
      }
      let spent = try await secondsOfProcessor(service) - ticks
      print("a thousand announcements: \(ticks) s of processor until known, \(spent) s until given up")
      let end = ContinuousClock.now
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
      print("ended after \(ContinuousClock.now - end)")
    }
  }

  /// Processor time that a process has used.
  private func secondsOfProcessor(_ program: Program) async throws -> Double {
    let text = String(decoding: try SmallFile.read("/proc/\(program.pid)/stat", limit: 4_096), as: UTF8.self)
    let fields = text.split(separator: " ")
    return ((Double(fields[13]) ?? 0) + (Double(fields[14]) ?? 0)) / Double(sysconf(CInt(_SC_CLK_TCK)))
  }
}
