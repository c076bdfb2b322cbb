// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessorySimulator

/// The kernel's side of what is plugged in.
enum Kernel {
  /// Loads the module that takes simulated devices, once.
  static let isReady: Bool = {
    let result = try? Process.run(["/sbin/modprobe", "vhci_hcd"])
    return result == 0
  }()

  /// The I/O thread of the pretended devices. Not the hosts': the kernel lets whoever ends a transfer wait until the
  /// device has said that it is ended, so no thread can be both.
  static let deviceThread: IOThread = {
    do throws(Errno) { return IOThread(queue: try EpollQueue()) } catch { fatalError("\(error)") }
  }()

  /// The node of the device at `path` in sysfs, when the kernel has made it and udev has seen it.
  static func node(_ path: String) async throws -> String {
    var found = ""
    try await eventually("a terminal at \(path)", within: .seconds(60)) {
      guard let (name, number) = terminal(path), exists("/run/udev/data/c\(number)"), exists("/dev/\(name)") else {
        return false
      }
      found = "/dev/\(name)"
      return true
    }
    return found
  }

  /// Waits until the node is gone and udev has seen that.
  static func waitForNo(_ node: String) async throws {
    try await eventually("\(node) to go", within: .seconds(60)) { !exists(node) }
  }

  /// "ttyACM0" and "166:0" below a device.
  private static func terminal(_ path: String) -> (String, String)? {
    let device = path.split(separator: "/").last.map(String.init) ?? ""
    for interface in Directory.names(in: path) where interface.hasPrefix(device + ":") {
      let below = Directory.names(in: "\(path)/\(interface)")
      // cdc_acm's terminals are right below the interface, those of USB adapters below a port there.
      let places = ["tty"] + below.filter { $0.hasPrefix("ttyUSB") }.map { "\($0)/tty" }
      for place in places {
        for name in Directory.names(in: "\(path)/\(interface)/\(place)") {
          guard let number = try? SmallFile.read("\(path)/\(interface)/\(place)/\(name)/dev", limit: 32) else {
            continue
          }
          return (name, String(decoding: number.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
        }
      }
    }
    return nil
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}

/// A program that is run to its end.
enum Process {
  static func run(_ words: [String]) throws -> CInt {
    var pid: pid_t = 0
    var argv = words.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    guard posix_spawn(&pid, words[0], nil, nil, &argv, environ) == 0 else { return -1 }
    var status: CInt = 0
    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    return status
  }
}

/// A simulated accessory on a serial line of this kernel's.
struct PluggedIn: Sendable {
  let simulator: FramedSimulator
  /// What happened to it so far.
  let events: Watched<[FramedSimulator.Event]>
  let path: String
  let node: String

  init(
    _ kind: SimulatedUSBIdentity.Kind, _ change: (inout FramedSimulator.Configuration) -> Void = { _ in }
  ) async throws {
    try #require(Kernel.isReady, "no vhci_hcd: these tests are for the guest of 'make lab'")
    var configuration = FramedSimulator.Configuration(seed: 1)
    configuration.connection = .usb(SimulatedUSBIdentity(kind))
    change(&configuration)
    let simulator = FramedSimulator(configuration, io: Kernel.deviceThread)
    let events = Watched<[FramedSimulator.Event]>([])
    Task { for await event in simulator.events { events.update { $0.append(event) } } }
    path = try await simulator.plugIn()
    node = try await Kernel.node(path)
    (self.simulator, self.events) = (simulator, events)
  }

  /// The line as the host set it last.
  var line: LineState? { Self.line(events.value) }

  func waitForLine(_ condition: @escaping @Sendable (LineState) -> Bool) async throws {
    try await events.wait { Self.line($0).map(condition) ?? false }
  }

  private static func line(_ events: [FramedSimulator.Event]) -> LineState? {
    for event in events.reversed() { if case .line(let line) = event { return line } }
    return nil
  }

  func open(_ change: (inout TerminalConfiguration) -> Void = { _ in }) async throws -> DescriptorTransport {
    var configuration = TerminalConfiguration(path: node)
    change(&configuration)
    return try await DescriptorTransport.open(configuration)
  }

  func accessory() async throws -> FramedAccessory {
    try await FramedAccessory.open(AccessorySession(try await open()))
  }

  /// Pulls the cable for good and waits until the kernel has noticed.
  func stop() async throws {
    await simulator.stop()
    try await Kernel.waitForNo(node)
  }
}
