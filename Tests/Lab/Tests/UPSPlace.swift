// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// Where tests of UPSs run: a folder for what programs write, and a simulated UPS at a USB port of the kernel's.
struct UPSPlace {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  func start(_ arguments: [String]) throws -> Program {
    return try Program(
      [Program.bridgeCLI] + arguments,
      environment: [
        "XDG_RUNTIME_DIR": directory.path, "XDG_CONFIG_HOME": directory.path, "PATH": "/usr/bin:/bin",
      ],
      directory: directory.path, limit: .seconds(900))
  }

  /// Writes a profile of the user.
  func profile(_ text: String) throws {
    let folder = "\(directory.path)/accessory-bridge/profiles"
    mkdir("\(directory.path)/accessory-bridge", 0o700)
    mkdir(folder, 0o700)
    try directory.write(Array(text.utf8), to: "accessory-bridge/profiles/lab.yaml")
  }

  func json(_ arguments: String...) async throws -> String {
    let transcript = try await start(arguments + ["--json"]).end()
    #expect(transcript.status == 0, "\(arguments) \(transcript.outputText)\(transcript.errorText)")
    return transcript.outputText
  }

  /// Plugs a UPS in, and waits until udev has seen its node.
  func plugIn(_ options: String...) async throws -> Program {
    try #require(Kernel.isReady)
    let simulator = try start(["simulate", "ups", "--serial", "LABUPS"] + options)
    try await simulator.line(containing: "LABUPS is plugged in at")
    try await eventually("a node of hidraw", within: .seconds(60)) {
      exists("/dev/hidraw0") && exists("/sys/class/hidraw/hidraw0/device/report_descriptor")
    }
    return simulator
  }

  func unplug(_ simulator: Program) async throws {
    simulator.signal(SIGINT)
    _ = try await simulator.end()
    try await Kernel.waitForNo("/dev/hidraw0")
  }

  func end(_ programs: Program...) async throws {
    for program in programs {
      program.signal(SIGINT)
      _ = try await program.end()
    }
  }

  /// How often a text is in another.
  static func count(_ text: String, _ all: String) -> Int {
    all.split(separator: text, omittingEmptySubsequences: false).count - 1
  }
}
