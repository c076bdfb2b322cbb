// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Dispatch
import Glibc
import SystemPackage
import TestSupport

/// A pretended bluetoothd with several batteries near one adapter, which holds only some connections at a time. Each answers what it is
/// asked from a table.
final class PretendedPacks: Sendable {
  let bus: FakeBus
  let environment: [String: String]
  /// The number of requests that each battery has answered with `counted`.
  let answered: Watched<[Int]>
  /// The most connections at a time, and the connections that were refused because there were as many as possible.
  let connections: Watched<Connections>
  private let answers: [[UInt8]: [UInt8]]
  private let counted: [UInt8]
  private let name: String
  private let services: (service: String, write: String, notify: String)
  private let count: Int
  private let limit: Int
  private let packs: Locked<[Pack]>
  private let place: Locked<FakeBus?>
  /// How it answers; until it is closed.
  private let replies = Replies()

  private final class Replies: Sendable {
    /// In a structure: a closure by itself in a generic value is wrapped once more at each access.
    struct Answering: Sendable { var answer: (@Sendable (FakeBus.Call) -> FakeBus.Answer?)? }
    let state = Locked(Answering())
  }

  struct Connections: Sendable {
    var now = 0
    var most = 0
    var made = 0
    var refused = 0
  }

  private struct Pack {
    var isConnected = false
    var notifications: FileDescriptor?
    var writes: FileDescriptor?
  }

  /// `answers` are what a battery sends for what it gets, a packet each. `counted` is the request that is counted.
  init(
    _ count: Int, limit: Int, name: String, services: (service: String, write: String, notify: String),
    answers: [[UInt8]: [UInt8]], counted: [UInt8]
  ) throws {
    (self.count, self.limit, self.name, self.services) = (count, limit, name, services)
    (self.answers, self.counted) = (answers, counted)
    answered = Watched(Array(repeating: 0, count: count))
    connections = Watched(Connections())
    packs = Locked(Array(repeating: Pack(), count: count))
    place = Locked(nil)
    let replies = replies
    bus = try FakeBus(clients: .max) { call in replies.state.withLock { $0.answer }?(call) }
    environment = ["ACCESSORY_BRIDGE_SOURCES": "bluetooth", "DBUS_SYSTEM_BUS_ADDRESS": bus.address]
    place.withLock { [bus] in $0 = bus }
    let answer: @Sendable (FakeBus.Call) -> FakeBus.Answer? = { [self] in self.answer($0) }
    replies.state.withLock { $0.answer = answer }
  }

  func close() {
    bus.close()
    place.withLock { $0 = nil }
    replies.state.withLock { $0.answer = nil }
    for pack in 0..<count { disconnect(pack) }
  }

  static func address(_ pack: Int) -> String { "C8:47:8C:00:00:\(pack < 10 ? "0" : "")\(pack)" }
  private static func path(_ pack: Int) -> String {
    "/org/bluez/hci0/dev_" + String(address(pack).map { $0 == ":" ? "_" : $0 })
  }

  // MARK: - Calls

  private func answer(_ call: FakeBus.Call) -> FakeBus.Answer? {
    if call.member == "GetManagedObjects" { return .values([objects]) }
    guard let pack = (0..<count).first(where: { call.path.hasPrefix(Self.path($0)) }) else { return nil }
    switch call.member {
    case "Connect":
      guard connect(pack) else { return .error("org.bluez.Error.Failed", "le-connection-abort-by-local") }
      tell(pack, [("Connected", .boolean(true)), ("ServicesResolved", .boolean(true))])
    case "Disconnect": disconnect(pack)
    case "AcquireNotify": return acquire(pack, \.notifications)
    case "AcquireWrite": return acquire(pack, \.writes)
    default: break
    }
    return nil
  }

  private func tell(_ pack: Int, _ properties: [(String, WireValue)]) {
    place.withLock { $0 }?.changed(Self.path(pack), "org.bluez.Device1", properties)
  }

  private func connect(_ pack: Int) -> Bool {
    packs.withLock { packs in
      guard !packs[pack].isConnected else { return true }
      let now = packs.count(where: \.isConnected)
      connections.update { [limit] all in
        if now < limit { (all.now, all.most, all.made) = (now + 1, max(all.most, now + 1), all.made + 1) }
        if now >= limit { all.refused += 1 }
      }
      packs[pack].isConnected = now < limit
      return now < limit
    }
  }

  private func disconnect(_ pack: Int) {
    let was = packs.withLock { packs in
      for descriptor in [packs[pack].notifications, packs[pack].writes].compactMap({ $0 }) {
        shutdown(descriptor.rawValue, CInt(SHUT_RDWR))
      }
      defer { packs[pack].isConnected = false }
      return packs[pack].isConnected
    }
    guard was else { return }
    connections.update { $0.now -= 1 }
    tell(pack, [("Connected", .boolean(false)), ("ServicesResolved", .boolean(false))])
  }

  private func acquire(
    _ pack: Int, _ end: WritableKeyPath<Pack, FileDescriptor?> & Sendable
  ) -> FakeBus.Answer {
    var numbers: [CInt] = [0, 0]
    guard socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &numbers) == 0 else {
      return .error("org.bluez.Error.Failed", "no sockets")
    }
    let (ours, theirs) = (FileDescriptor(rawValue: numbers[0]), FileDescriptor(rawValue: numbers[1]))
    packs.withLock { $0[pack][keyPath: end] = ours }
    DispatchQueue(label: "test.packs.socket").async { [self] in
      var buffer = [UInt8](repeating: 0, count: 600)
      while true {
        let count = read(ours.rawValue, &buffer, buffer.count)
        guard count > 0 else { break }
        take(Array(buffer[..<count]), pack)
      }
      packs.withLock { packs in
        if packs[pack][keyPath: end]?.rawValue == ours.rawValue { packs[pack][keyPath: end] = nil }
      }
      _ = Glibc.close(ours.rawValue)
    }
    return .values([.descriptor(0), .uint16(247)], descriptors: [theirs])
  }

  private func take(_ request: [UInt8], _ pack: Int) {
    guard let answer = answers[request] else { return }
    packs.withLock { packs in
      guard let descriptor = packs[pack].notifications else { return }
      _ = answer.withUnsafeBytes { send(descriptor.rawValue, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
    }
    if request == counted { answered.update { $0[pack] += 1 } }
  }

  // MARK: - Objects

  private var objects: WireValue {
    func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
      .entry(.path(path), .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))]))
    }
    func uuid(_ short: String) -> WireValue { .text("0000\(short)-0000-1000-8000-00805f9b34fb") }
    let isConnected = packs.withLock { $0.map(\.isConnected) }
    let adapter = object(
      "/org/bluez/hci0", "org.bluez.Adapter1",
      [("Address", .text("00:1A:7D:DA:71:10")), ("Powered", .boolean(true))])
    let devices = (0..<count).flatMap { pack -> [WireValue] in
      let (path, service) = (Self.path(pack), Self.path(pack) + "/service0001")
      func characteristic(_ number: Int, _ name: String, _ flags: [String]) -> WireValue {
        object(
          "\(service)/char000\(number)", "org.bluez.GattCharacteristic1",
          [("UUID", uuid(name)), ("Service", .path(service)), ("Flags", .texts(flags))])
      }
      return [
        object(
          path, "org.bluez.Device1",
          [
            ("Address", .text(Self.address(pack))), ("Name", .text("\(name)\(pack)")), ("RSSI", .int16(-60)),
            ("Connected", .boolean(isConnected[pack])), ("ServicesResolved", .boolean(isConnected[pack])),
            ("UUIDs", .array("s", [uuid(services.service)])), ("Adapter", .path("/org/bluez/hci0")),
          ]),
        object(service, "org.bluez.GattService1", [("UUID", uuid(services.service)), ("Device", .path(path))]),
        characteristic(2, services.notify, ["notify"]),
        characteristic(4, services.write, ["write-without-response"]),
      ]
    }
    return .array("{oa{sa{sv}}}", [adapter] + devices)
  }
}
