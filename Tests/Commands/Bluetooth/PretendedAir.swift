// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Dispatch
import Glibc
import SystemPackage
import TestSupport

/// A pretended bluetoothd with two adapters and a paired device whose serial port leads to a terminal, or sends back what it gets.
/// Like the real one it lets one program have the device's bytes.
final class PretendedAir: Sendable {
  static let address = "C4:BE:84:12:34:56"
  static let path = "/org/bluez/hci0/dev_C4_BE_84_12_34_56"
  /// A name with an escape sequence and a character that reorders its neighbours.
  static let name = "HM\u{1B}[31mSoft\u{202E}"

  /// For commands that are to use it.
  let environment: [String: String]
  let bus: FakeBus
  private let device: Device

  /// `early` is called with each call before it is answered. `advertised` are a company's data that the device sends to everybody
  /// while somebody searches. With a `number` it isn't paired, and wants that to be compared.
  init(
    line: String? = nil, isPowered: Bool = true, advertised: (company: UInt16, data: [UInt8])? = nil,
    number: UInt32? = nil,
    early: @escaping @Sendable (FakeBus.Call) -> Void = { _ in }
  ) throws {
    let device = Device(isPowered: isPowered, line: try line.map(Self.open), advertised: advertised, number: number)
    bus = try FakeBus(clients: .max) { call in
      early(call)
      return device.answer(call)
    }
    self.device = device
    device.bus.withLock { [bus] in $0 = bus }
    environment = ["ACCESSORY_BRIDGE_SOURCES": "bluetooth", "DBUS_SYSTEM_BUS_ADDRESS": bus.address]
  }

  /// Takes no more clients, and ends the device.
  func close() {
    bus.close()
    device.bus.withLock { $0 = nil }
    device.disconnect()
  }

  /// The device goes out of reach.
  func vanish() { device.disconnect() }

  /// The device sends what it advertises once more.
  func advertise() { device.advertise() }

  private static func open(_ line: String) throws -> FileDescriptor {
    let descriptor = FileDescriptor(rawValue: Glibc.open(line, O_RDWR | O_NOCTTY | O_CLOEXEC))
    guard descriptor.rawValue >= 0 else { throw Errno(rawValue: errno) }
    var settings = termios()
    tcgetattr(descriptor.rawValue, &settings)
    cfmakeraw(&settings)
    tcsetattr(descriptor.rawValue, TCSANOW, &settings)
    return descriptor
  }

  /// The device, as bluetoothd has it.
  private final class Device: Sendable {
    let bus = Locked<FakeBus?>(nil)
    private let isPowered: Bool
    private let line: FileDescriptor?
    private let advertised: (company: UInt16, data: [UInt8])?
    private let number: UInt32?
    private let state = Locked(State())

    private struct State {
      var isConnected = false
      var notifications: FileDescriptor?
      var writes: FileDescriptor?
    }

    init(isPowered: Bool, line: FileDescriptor?, advertised: (company: UInt16, data: [UInt8])?, number: UInt32?) {
      (self.isPowered, self.line, self.advertised, self.number) = (isPowered, line, advertised, number)
      guard let line else { return }
      DispatchQueue(label: "test.air.line").async { [self] in
        var buffer = [UInt8](repeating: 0, count: 20)
        while true {
          let count = read(line.rawValue, &buffer, buffer.count)
          guard count > 0 else { return FileEnd.close(line) }
          notify(buffer[..<count])
        }
      }
    }

    private func notify(_ bytes: ArraySlice<UInt8>) {
      state.withLock { state in
        guard let descriptor = state.notifications else { return }
        _ = Array(bytes).withUnsafeBytes { send(descriptor.rawValue, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      }
    }

    // MARK: - Calls

    func answer(_ call: FakeBus.Call) -> FakeBus.Answer? {
      switch call.member {
      case "GetManagedObjects": return .values([objects])
      case "Connect":
        state.withLock { $0.isConnected = true }
        tell([("Connected", .boolean(true)), ("ServicesResolved", .boolean(true))])
      case "Disconnect": disconnect()
      case "Pair":
        guard let number else { return nil }
        bus.withLock { $0 }?.call(
          "/org/accessorybridge/agent", "org.bluez.Agent1", "RequestConfirmation",
          [.path(PretendedAir.path), .uint32(number)])
        return .nothing
      case "StartDiscovery": advertise()
      case "AcquireNotify": return acquire(\.notifications)
      case "AcquireWrite": return acquire(\.writes)
      default: break
      }
      return nil
    }

    func advertise() { tell([("RSSI", .int16(-48))] + manufacturerData) }

    private var manufacturerData: [(String, WireValue)] {
      advertised.map { company, data in
        let bytes = WireValue.array("y", data.map { .byte($0) })
        return [("ManufacturerData", .array("{qv}", [.entry(.uint16(company), .variant(bytes))]))]
      } ?? []
    }

    private func tell(_ properties: [(String, WireValue)]) {
      bus.withLock { $0 }?.changed(PretendedAir.path, "org.bluez.Device1", properties)
    }

    func disconnect() {
      let was = state.withLock { state in
        for descriptor in [state.notifications, state.writes].compactMap({ $0 }) {
          shutdown(descriptor.rawValue, CInt(SHUT_RDWR))
        }
        defer { state.isConnected = false }
        return state.isConnected
      }
      if was { tell([("Connected", .boolean(false)), ("ServicesResolved", .boolean(false))]) }
    }

    private func acquire(_ place: WritableKeyPath<State, FileDescriptor?> & Sendable) -> FakeBus.Answer {
      var numbers: [CInt] = [0, 0]
      guard socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &numbers) == 0 else {
        return .error("org.bluez.Error.Failed", "no sockets")
      }
      let (ours, theirs) = (FileDescriptor(rawValue: numbers[0]), FileDescriptor(rawValue: numbers[1]))
      let isFree = state.withLock { state in
        guard state[keyPath: place] == nil else { return false }
        state[keyPath: place] = ours
        return true
      }
      guard isFree else {
        for descriptor in [ours, theirs] { FileEnd.close(descriptor) }
        return .error("org.bluez.Error.NotPermitted", "Notify acquired")
      }
      serve(ours, place)
      return .values([.descriptor(0), .uint16(247)], descriptors: [theirs])
    }

    /// Takes packets until the program closes its end.
    private func serve(_ descriptor: FileDescriptor, _ place: WritableKeyPath<State, FileDescriptor?> & Sendable) {
      DispatchQueue(label: "test.air.socket").async { [self] in
        var buffer = [UInt8](repeating: 0, count: 600)
        while true {
          let count = read(descriptor.rawValue, &buffer, buffer.count)
          guard count > 0 else { break }
          if let line { _ = write(line.rawValue, buffer, count) } else { notify(buffer[..<count]) }
        }
        state.withLock { $0[keyPath: place] = nil }
        FileEnd.close(descriptor)
      }
    }

    // MARK: - Objects

    private var objects: WireValue {
      func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
        .entry(.path(path), .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))]))
      }
      func uuid(_ short: String) -> WireValue { .text("0000\(short)-0000-1000-8000-00805f9b34fb") }
      let isConnected = state.withLock { $0.isConnected }
      let service = PretendedAir.path + "/service0001"
      return .array(
        "{oa{sa{sv}}}",
        ["hci0", "hci1"].map { name in
          object(
            "/org/bluez/\(name)", "org.bluez.Adapter1",
            [("Address", .text("00:1A:7D:DA:71:1\(name.last!)")), ("Powered", .boolean(isPowered))])
        } + [
          object(
            PretendedAir.path, "org.bluez.Device1",
            [
              ("Address", .text(PretendedAir.address)), ("Name", .text(PretendedAir.name)),
              ("Paired", .boolean(number == nil)),
              ("Connected", .boolean(isConnected)), ("ServicesResolved", .boolean(isConnected)),
              ("UUIDs", .array("s", [uuid("ffe0")])), ("Adapter", .path("/org/bluez/hci0")),
            ] + manufacturerData),
          object(service, "org.bluez.GattService1", [("UUID", uuid("ffe0")), ("Device", .path(PretendedAir.path))]),
          object(
            service + "/char0002", "org.bluez.GattCharacteristic1",
            [
              ("UUID", uuid("ffe1")), ("Service", .path(service)),
              ("Flags", .texts(["read", "notify", "write-without-response"])),
            ]),
        ])
    }
  }

  private enum FileEnd {
    static func close(_ descriptor: FileDescriptor) { _ = Glibc.close(descriptor.rawValue) }
  }
}
