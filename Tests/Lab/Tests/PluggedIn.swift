// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import FamilyAF1Simulator
import Glibc
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

  /// The thread that the simulated devices live on. It can't be the one of the code under test: usbfs lets a thread wait,
  /// with the device locked, until the device has answered.
  static let devices: IOThread = {
    do { return IOThread(queue: try EpollQueue()) } catch { fatalError("no second I/O thread: \(error)") }
  }()

  /// The node of the device at `path` in sysfs, its terminal's or that of usbfs, when the kernel has made it and udev
  /// has seen it. `serial` tells it from the one that was there before.
  static func node(
    _ path: String, _ kind: SimulatedUSBIdentity.Kind, serial: String = "SIM0001"
  ) async throws -> String {
    var found = ""
    try await eventually("\(kind.rawValue) \(serial) at \(path)", within: .seconds(60)) {
      guard text("\(path)/serial") == serial, text("\(path)/bConfigurationValue") == "1" else { return false }
      let isTerminal = kind == .modem || kind == .ftdi
      // A HID interface is its driver's before anybody else can take it.
      if kind == .reports, driver(path) != "usbhid" { return false }
      guard let (name, number) = isTerminal ? terminal(path) : endpoints(path), exists("/run/udev/data/c\(number)"),
        exists("/dev/\(name)")
      else { return false }
      found = "/dev/\(name)"
      return true
    }
    return found
  }

  /// The driver of a device's first interface.
  static func driver(_ path: String) -> String? {
    let device = path.split(separator: "/").last ?? ""
    return linkTarget("\(path)/\(device):1.0/driver")?.split(separator: "/").last.map(String.init)
  }

  static func text(_ path: String) -> String? {
    (try? SmallFile.read(path, limit: 256)).map {
      String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
  }

  /// "bus/usb/001/002" and "189:1" of a device.
  private static func endpoints(_ path: String) -> (String, String)? {
    guard let bus = text("\(path)/busnum"), let device = text("\(path)/devnum"), let number = text("\(path)/dev")
    else { return nil }
    let padded = { (text: String) in String(repeating: "0", count: max(0, 3 - text.count)) + text }
    return ("bus/usb/\(padded(bus))/\(padded(device))", number)
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
          if let number = text("\(path)/\(interface)/\(place)/\(name)/dev") { return (name, number) }
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

/// A simulated accessory in a USB port of this kernel's.
struct PluggedIn: Sendable {
  let kind: SimulatedUSBIdentity.Kind
  let simulator: AF1Simulator
  /// What happened to it so far.
  let events: Watched<[AF1Simulator.Event]>
  let path: String
  let node: String

  init(
    _ kind: SimulatedUSBIdentity.Kind, _ change: (inout AF1Simulator.Configuration) -> Void = { _ in },
    usb: (inout SimulatedUSBIdentity) -> Void = { _ in }
  ) async throws {
    try #require(Kernel.isReady, "no vhci_hcd: these tests are for the guest of 'make lab'")
    var configuration = AF1Simulator.Configuration(seed: 1)
    change(&configuration)
    var identity = SimulatedUSBIdentity(kind)
    identity.serialNumber = configuration.device.identity.serialNumber
    usb(&identity)
    configuration.connection = .usb(identity)
    let simulator = AF1Simulator(configuration, io: Kernel.devices)
    let events = Watched<[AF1Simulator.Event]>([])
    Task { for await event in simulator.events { events.update { $0.append(event) } } }
    path = try await simulator.plugIn()
    node = try await Kernel.node(path, kind, serial: identity.serialNumber)
    (self.kind, self.simulator, self.events) = (kind, simulator, events)
  }

  /// The line as the host set it last.
  var line: HostLineSettings? { Self.line(events.value) }

  func waitForLine(_ condition: @escaping @Sendable (HostLineSettings) -> Bool) async throws {
    try await events.wait { Self.line($0).map(condition) ?? false }
  }

  private static func line(_ events: [AF1Simulator.Event]) -> HostLineSettings? {
    for event in events.reversed() { if case .line(let line) = event { return line } }
    return nil
  }

  /// Opens its terminal.
  func openTerminal(_ change: (inout TerminalConfiguration) -> Void = { _ in }) async throws -> DescriptorTransport {
    var configuration = TerminalConfiguration(path: node)
    change(&configuration)
    return try await DescriptorTransport.open(configuration)
  }

  /// Opens it as what it is.
  func open() async throws -> any Transport { try await Self.open(node, kind) }

  static func open(_ node: String, _ kind: SimulatedUSBIdentity.Kind) async throws -> any Transport {
    if kind == .modem || kind == .ftdi { return try await DescriptorTransport.open(TerminalConfiguration(path: node)) }
    var configuration = USBTransportConfiguration(path: node)
    // Taken from the kernel's driver, so it must be named.
    if kind == .reports { configuration.interface = 0 }
    return try await USBTransport.open(configuration)
  }

  func accessory() async throws -> AF1Accessory {
    // The guest is slow, and slower where the machine is busy: a limit that nothing but a fault reaches.
    var options = AF1Exchange.Options()
    options.timeout = .seconds(20)
    return try await AF1Accessory.open(AccessorySession(try await open()), options: options)
  }

  /// Pulls the cable for good and waits until the kernel has noticed.
  func stop() async throws {
    await simulator.stop()
    try await Kernel.waitForNo(node)
    // The kernel removes the USB device last, after its interfaces and nodes.
    try await eventually("\(path) to go", within: .seconds(60)) { Kernel.text("\(path)/serial") == nil }
  }
}
