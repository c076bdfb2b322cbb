// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import AccessoryTesting
import Glibc
import TestSupport
import Testing

@testable import AccessoryDrivers

/// What is written for the system's service, below a folder in place of the root, with programs that only note what they are told.
struct SystemSetupTests {
  private let root: TemporaryDirectory
  private let told = Watched<[String]>([])

  init() throws { root = try TemporaryDirectory() }

  /// A machine on which the program that begins with these words fails.
  private func machine(failing failure: String? = nil) -> SystemSetup.Machine {
    var machine = SystemSetup.Machine()
    (machine.root, machine.user, machine.hasSystemd) = (root.path, 0, true)
    machine.run = { [told] words throws(AccessoryError) in
      let line = words.joined(separator: " ")
      told.update { $0.append(line) }
      if let failure, line.hasPrefix(failure) { throw AccessoryError(.ioFailure, "\(line) failed") }
    }
    return machine
  }

  private static let adapter = Device(
    .terminal("/dev/ttyUSB7"), source: .udev, serialNumber: "A50285BI",
    usb: USBIdentity(
      vendorID: 0x0403, productID: 0x6001, bus: 1, address: 7, node: "/dev/bus/usb/001/007", port: "1-1.1"))

  private func setup(on machine: SystemSetup.Machine) throws -> SystemSetup {
    let found = IdentificationFind(kind: "jbd", step: 1, line: nil, facts: [])
    let profile = try #require(IdentifiedProfile(found, at: Self.adapter, name: "cellar", drivers: .builtIn))
    return try SystemSetup(profile, drivers: .builtIn, on: machine)
  }

  private var files: [String] {
    ["profiles/cellar.yaml", "rules.d/71-accessory-bridge-cellar.rules"].filter { file in
      access("\(root.path)/etc/\(file.hasPrefix("p") ? "accessory-bridge" : "udev")/\(file)", F_OK) == 0
    }
  }

  @Test func aProfileAndARuleAreWrittenAndTold() throws {
    let setup = try setup(on: machine())
    try setup.write()
    #expect(files.count == 2 && setup.hasRule)
    for path in setup.paths {
      var file = stat()
      #expect(stat(path, &file) == 0 && file.st_mode & 0o777 == 0o644, "\(path)")
      let folder = path.split(separator: "/").dropLast().joined(separator: "/")
      #expect(stat("/" + folder, &file) == 0 && file.st_mode & 0o777 == 0o755, "\(folder)")
    }
    let rule = String(decoding: try SmallFile.read(setup.paths[1], limit: 1 << 16), as: UTF8.self)
    #expect(rule.contains("A50285BI") && rule.contains("accessory-bridge.service"))
    #expect(told.value.last == "systemctl reload-or-restart accessory-bridge.service")
    // A second time changes nothing.
    try setup.write()
    #expect(files.count == 2)
  }

  /// Whichever step fails, the tree of files is as before.
  @Test(arguments: ["udevadm control", "udevadm trigger", "systemctl"])
  func aStepThatFailsLeavesNothing(step: String) throws {
    let setup = try setup(on: machine(failing: step))
    let error = #expect(throws: AccessoryError.self) { try setup.write() }
    #expect(error?.message.contains("failed; what was written is removed again: ") == true, "\(error?.message ?? "")")
    #expect(files.isEmpty)
    #expect(told.value.last == "udevadm control --reload")
  }

  @Test func anInterruptedSetupLeavesNothing() async throws {
    let setup = try setup(on: machine())
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return Result { try setup.write() }
    }
    let result = await task.value
    #expect(throws: AccessoryError.self) { try result.get() }
    #expect(files.isEmpty && told.value.isEmpty)
  }

  @Test func whoMayNotIsToldBeforeAnythingIsDone() {
    var (stranger, container) = (machine(), machine())
    (stranger.user, container.hasSystemd) = (1_000, false)
    for (place, kind) in [(stranger, AccessoryError.Kind.permissionDenied), (container, .unsupported)] {
      #expect { try SystemSetup.check(Self.adapter, on: place) } throws: { ($0 as? AccessoryError)?.kind == kind }
    }
    #expect { try SystemSetup.check(Self.adapter, on: machine(failing: "systemctl cat")) } throws: {
      ($0 as? AccessoryError)?.message.contains("isn't installed here") == true
    }
    #expect(throws: Never.self) { try SystemSetup.check(Self.adapter, on: machine()) }
  }
}
