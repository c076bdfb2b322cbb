// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryBluetooth

/// Serial ports that bluetoothd connects, against a bus that hands over what a test says.
@Suite struct SerialPortProfileTests {
  private static let device = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF"
  private static let address = BluetoothAddress("AA:BB:CC:DD:EE:FF")!

  /// An adapter that is on, and a device that is paired or in reach.
  private static func bus(
    isPaired: Bool = true, _ answer: @escaping @Sendable (FakeBus.Call) -> FakeBus.Answer?
  ) throws -> FakeBus {
    @Sendable func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
      .entry(.path(path), .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))]))
    }
    return try FakeBus { call in
      if let answer = answer(call) { return answer }
      guard call.member == "GetManagedObjects" else { return nil }
      return .values([
        .array(
          "{oa{sa{sv}}}",
          [
            object("/org/bluez/hci0", "org.bluez.Adapter1", [("Powered", .boolean(true))]),
            object(
              device, "org.bluez.Device1",
              [
                ("Address", .text("AA:BB:CC:DD:EE:FF")), ("Paired", .boolean(isPaired)), ("RSSI", .int16(-40)),
                ("Adapter", .path("/org/bluez/hci0")),
              ]),
          ])
      ])
    }
  }

  private static func pair() throws -> (ours: FileDescriptor, theirs: FileDescriptor) {
    var numbers: [CInt] = [0, 0]
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &numbers) == 0 else {
      throw Errno(rawValue: errno)
    }
    return (FileDescriptor(rawValue: numbers[0]), FileDescriptor(rawValue: numbers[1]))
  }

  private static func handOver(_ bus: FakeBus, _ descriptor: FileDescriptor, sender: String = FakeBus.owner) {
    bus.call(
      "/org/accessorybridge/serialport", "org.bluez.Profile1", "NewConnection",
      [.path(device), .descriptor(0), .properties([])], descriptors: [descriptor], sender: sender)
  }

  private static func connect(_ profile: SerialPortProfile) async throws -> DescriptorTransport {
    try #require(
      await profile.connect(to: address, label: "rfcomm:x", search: .seconds(20), limit: .seconds(20)))
  }

  /// The attempt to connect is the only conversation: it also finds out that there is nobody to speak with.
  @Test(arguments: [
    ("org.freedesktop.DBus.Error.NameHasNoOwner", "GetNameOwner"),
    ("org.freedesktop.DBus.Error.AccessDenied", "GetManagedObjects"),
  ]) func withoutBluetoothdTheKernelConnects(error: String, method: String) async throws {
    let bus = try Self.bus { call in call.member == method ? .error(error, "no") : nil }
    let profile = SerialPortProfile(bus.address, io: .shared)
    for _ in 0..<2 {
      let transport = try await profile.connect(
        to: Self.address, label: "rfcomm:x", search: .seconds(20), limit: .seconds(20))
      #expect(transport == nil)
    }
    #expect(!bus.calls.contains { $0.member == "RegisterProfile" })
  }

  @Test func theDescriptorIsTheTransports() async throws {
    let (ours, theirs) = try Self.pair()
    let bus = try Self.bus { _ in nil }
    let profile = SerialPortProfile(bus.address, io: .shared)
    let opening = Task { try await Self.connect(profile) }
    try await eventually("it is asked to connect") { bus.calls.contains { $0.member == "ConnectProfile" } }
    Self.handOver(bus, theirs)
    let transport = try await opening.value
    #expect(bus.calls.map(\.member) == ["GetManagedObjects", "RegisterProfile", "ConnectProfile"])
    let reader = InputReader(transport.input)
    _ = try Socket.send([1, 2, 3], to: ours)
    #expect(try await reader.read(3) == [1, 2, 3])
    // bluetoothd wants the connection to end.
    bus.call(
      "/org/accessorybridge/serialport", "org.bluez.Profile1", "RequestDisconnection", [.path(Self.device)])
    #expect(try await reader.readToEnd().error?.kind == .disconnected)
    await transport.close()
    Socket.close(ours)
  }

  /// What a stranger or nobody asked for is refused, and its descriptor closed.
  @Test(arguments: [FakeBus.owner, ":1.66"]) func aConnectionThatNobodyWaitsFor(sender: String) async throws {
    let (ours, theirs) = try Self.pair()
    let (foreign, strange) = try Self.pair()
    let bus = try Self.bus { _ in nil }
    let profile = SerialPortProfile(bus.address, io: .shared)
    let opening = Task { try await Self.connect(profile) }
    try await eventually("it is asked to connect") { bus.calls.contains { $0.member == "ConnectProfile" } }
    if sender == FakeBus.owner {
      Self.handOver(bus, theirs)
      _ = try await opening.value
      Self.handOver(bus, strange)
    } else {
      Self.handOver(bus, strange, sender: sender)
      try await eventually("an answer") { bus.answers.count == 1 }
      Self.handOver(bus, theirs)
    }
    try await eventually("both are answered") { bus.answers.count == 2 }
    #expect(Set(bus.answers.map(\.error)).count == 2, "one is refused")
    let end = try await blocking {
      var byte: UInt8 = 0
      var wait = pollfd(fd: foreign.rawValue, events: Int16(POLLIN), revents: 0)
      guard poll(&wait, 1, 20_000) == 1 else { return -1 }
      return read(foreign.rawValue, &byte, 1)
    }
    #expect(end == 0, "the descriptor is closed")
    await (try await opening.value).close()
    for descriptor in [ours, foreign] { Socket.close(descriptor) }
  }

  @Test(arguments: [
    ("org.bluez.Error.NotAvailable", AccessoryError.Kind.unsupported), ("org.bluez.Error.InProgress", .busy),
    ("org.bluez.Error.AuthenticationFailed", .permissionDenied),
  ]) func connectingFails(name: String, kind: AccessoryError.Kind) async throws {
    let bus = try Self.bus { call in call.member == "ConnectProfile" ? .error(name, "no") : nil }
    let profile = SerialPortProfile(bus.address, io: .shared)
    let error = await #expect(throws: AccessoryError.self) { try await Self.connect(profile) }
    #expect(error?.kind == kind)
  }

  /// bluetoothd doesn't say why the device refuses. One that isn't paired wants to be.
  @Test(arguments: [
    ("br-connection-refused", false, AccessoryError.Kind.permissionDenied),
    ("Connection refused (111)", false, .permissionDenied), ("br-connection-key-missing", true, .disconnected),
    ("br-connection-refused", true, .disconnected),
  ]) func aDeviceThatWantsToBePairedIsToldSo(text: String, isPaired: Bool, kind: AccessoryError.Kind) async throws {
    let bus = try Self.bus(isPaired: isPaired) { call in
      call.member == "ConnectProfile" ? .error("org.bluez.Error.Failed", text) : nil
    }
    let profile = SerialPortProfile(bus.address, io: .shared)
    let error = await #expect(throws: AccessoryError.self) { try await Self.connect(profile) }
    #expect(error?.kind == kind)
    #expect(
      error?.message.contains(
        isPaired ? "bluetooth unpair" : "must be paired first: bridge-cli bluetooth pair rfcomm:AA:BB:CC:DD:EE:FF")
        == true,
      "\(error?.message ?? "")")
  }

  @Test func bluetoothdEndsMeanwhile() async throws {
    let bus = try Self.bus { call in call.member == "ConnectProfile" ? .nothing : nil }
    let profile = SerialPortProfile(bus.address, io: .shared)
    let opening = Task { try await Self.connect(profile) }
    try await eventually("it is asked to connect") { bus.calls.contains { $0.member == "ConnectProfile" } }
    bus.hangUp()
    let error = await #expect(throws: AccessoryError.self) { try await opening.value }
    #expect(error?.kind == .disconnected)
  }
}
