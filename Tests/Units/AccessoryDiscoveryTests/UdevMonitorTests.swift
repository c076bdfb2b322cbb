// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Dispatch
import Glibc
import TestSupport
import Testing

@testable import AccessoryDiscovery

/// The monitor on a real socket, with messages as udev's daemon sends them. Sending to all takes root.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct UdevMonitorTests {
  /// A monitor's messages about devices of one test.
  private final class Ear: Sendable {
    let heard = Watched<[UdevMessage]>([])
    let monitor: UdevMonitor

    init(bufferSize: CInt = 1 << 20, io: IOThread = .shared) throws {
      monitor = try UdevMonitor(io: io, group: .udev, bufferSize: bufferSize) { [heard] messages in
        precondition(io.isCurrent)
        heard.update { $0 += messages }
      }
      try monitor.start()
    }

    deinit { monitor.stop() }

    /// Waits until something is told of this device.
    func wait(for name: String) async throws {
      try await heard.wait {
        $0.contains { if case .hint(let hint) = $0 { hint.devpath.hasSuffix(name) } else { false } }
      }
    }

    func hints(_ name: String) -> [UdevHint] {
      heard.value.compactMap { if case .hint(let hint) = $0, hint.devpath.hasSuffix(name) { hint } else { nil } }
    }
  }

  /// Lets another process send a message; returns what it says.
  private func send(_ message: [UInt8], times: Int = 1, as prefix: [String] = []) async throws -> String {
    let digits = message.map { Hexadecimal.string($0) }.joined()
    let program = "/" + (linkTarget("/proc/self/exe") ?? "").split(separator: "/").dropLast().joined(separator: "/")
    let words = prefix + [program + "/TestChild", "send-uevent", digits, "\(times)"]
    let child = try ChildProcess(path: words[0], arguments: Array(words.dropFirst()))
    return try await child.readLine()
  }

  /// Any user but root, with the right to send.
  private static let nobody = [
    "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+net_admin",
    "--ambient-caps=+net_admin",
  ]

  /// Whoever listens hears all tests' messages, those of other runs too; so every test has devices of its own.
  private let run = "\(UInt64.random(in: 0 ... .max))"

  @Test func whatUdevSaysIsTold() async throws {
    let ear = try Ear()
    let message = UdevPacket.message([
      "ACTION=add", "DEVPATH=/devices/told\(run)", "SUBSYSTEM=usb", "DEVTYPE=usb_device", "DEVNUM=007", "SEQNUM=1",
      "ID_VENDOR_ENC=A\\x20b", "UNUSED=1", "DEVLINKS=/dev/lamp /dev/serial/by-id/x",
    ])
    #expect(try await send(message) == "sent 1 as 0")
    try await ear.wait(for: "/told\(run)")
    let hint = try #require(ear.hints("/told\(run)").first)
    #expect(hint.action == .changed)
    #expect(hint.address == 7)
    #expect(hint.properties?.links == ["/dev/lamp", "/dev/serial/by-id/x"])
    #expect(hint.properties?.decoded("ID_VENDOR_ENC") == "A b")
    #expect(hint.properties?["UNUSED"] == nil)
  }

  /// libudev up to systemd 252 hands names over as they are; 257 puts those without a folder below /dev.
  @Test func onlyLinksBelowDevAreTaken() {
    var properties = UdevProperties()
    properties["DEVLINKS"] = "/dev/serial/by-id/x elsewhere /tmp/lamp /dev/lamp"
    #expect(properties.links == ["/dev/lamp", "/dev/serial/by-id/x"])
  }

  /// The same message, from somebody who may send and isn't root.
  @Test func whatOthersSayIsIgnored() async throws {
    let ear = try Ear()
    let forged = UdevPacket.message(["ACTION=remove", "DEVPATH=/devices/forged\(run)", "SUBSYSTEM=usb", "SEQNUM=1"])
    let genuine = UdevPacket.message(["ACTION=remove", "DEVPATH=/devices/genuine\(run)", "SUBSYSTEM=usb", "SEQNUM=2"])
    #expect(try await send(forged, times: 100, as: Self.nobody) == "sent 100 as 65534")
    #expect(try await send(genuine) == "sent 1 as 0")
    try await ear.wait(for: "/genuine\(run)")
    #expect(ear.hints("/genuine\(run)").map(\.action) == [.removed])
    #expect(ear.hints("/forged\(run)") == [])
  }

  @Test func whatMakesNoSenseIsPassedOver() async throws {
    let ear = try Ear()
    let whole = UdevPacket.message(["ACTION=change", "DEVPATH=/devices/x\(run)", "SUBSYSTEM=tty", "SEQNUM=1"])
    var damaged: [[UInt8]] = [[], [0], Array("libudev".utf8), [UInt8](repeating: 0xFF, count: 64)]
    damaged += [Array(whole.dropLast(20)), whole.prefix(40) + [0xFF, 0xFE, 0], whole + whole]
    damaged.append(UdevPacket.message(["ACTION=add", "SUBSYSTEM=tty"]))
    damaged.append(UdevPacket.message(["ACTION=explode", "DEVPATH=/devices/x\(run)", "SUBSYSTEM=tty", "SEQNUM=1"]))
    damaged.append(UdevPacket.message(["ACTION=add", "DEVPATH=../../etc", "SUBSYSTEM=tty", "SEQNUM=1"]))
    for message in damaged { _ = try await send(message) }
    let last = UdevPacket.message([
      "ACTION=move", "DEVPATH=/devices/last\(run)", "SUBSYSTEM=tty", "SEQNUM=2",
      "DEVPATH_OLD=/devices/first",
    ])
    _ = try await send(last)
    try await ear.wait(for: "/last\(run)")
    #expect(ear.hints("/last\(run)").map(\.action) == [.moved(from: "/devices/first")])
    #expect(ear.hints("/etc") == [])
  }

  /// Other subsystems' messages don't even wake anybody.
  @Test func messagesOfOtherSubsystemsAreFiltered() async throws {
    let ear = try Ear()
    _ = try await send(UdevPacket.message(["ACTION=add", "DEVPATH=/devices/n\(run)", "SUBSYSTEM=net", "SEQNUM=1"]))
    _ = try await send(UdevPacket.message(["ACTION=add", "DEVPATH=/devices/t\(run)", "SUBSYSTEM=tty", "SEQNUM=2"]))
    try await ear.wait(for: "/t\(run)")
    #expect(ear.hints("/t\(run)").count == 1)
    #expect(ear.hints("/n\(run)") == [])
  }

  /// More than the socket holds while nobody reads: said, and what comes afterwards is heard again.
  @Test func anOverflowOfMessagesIsTold() async throws {
    let io = IOThread(queue: try EpollQueue())
    let ear = try Ear(bufferSize: 4_096, io: io)
    let isHeld = DispatchSemaphore(value: 0)
    io.post { isHeld.wait() }
    let message = UdevPacket.message(["ACTION=add", "DEVPATH=/devices/many\(run)", "SUBSYSTEM=usb", "SEQNUM=1"])
    _ = try await send(message, times: 1_000)
    isHeld.signal()
    try await ear.heard.wait { $0.contains(.overflow) }
    #expect(ear.hints("/many\(run)").count < 1_000)
    _ = try await send(UdevPacket.message(["ACTION=add", "DEVPATH=/devices/after\(run)", "SUBSYSTEM=usb", "SEQNUM=2"]))
    try await ear.wait(for: "/after\(run)")
    ear.monitor.stop()
    io.stop()
  }
}

/// Messages in the form of udev's daemon (systemd, device-monitor.c): a header, then properties with zeros between.
enum UdevPacket {
  static func message(_ properties: [String]) -> [UInt8] {
    let body: [UInt8] = properties.flatMap { [UInt8]($0.utf8) + [0 as UInt8] }
    func value(_ name: String) -> String? {
      properties.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    var message = Array("libudev\0".utf8) + bytes(0xFEED_CAFE)
    // Lengths in the machine's order, what filters look at in the network's.
    for length in [40, 40, UInt32(body.count)] { message += bytes(length).reversed() }
    let hashes: [UInt32] = ["SUBSYSTEM", "DEVTYPE"].map { value($0).map(hash) ?? 0 } + [0, 0]
    for hash in hashes { message += bytes(hash) }
    return message + body
  }

  /// In network order.
  private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

  /// MurmurHash2 with seed 0, by which the kernel filters messages for us.
  private static func hash(_ text: String) -> UInt32 {
    let (m, r): (UInt32, UInt32) = (0x5BD1_E995, 24)
    var rest = Array(text.utf8)[...]
    var h = UInt32(rest.count)
    while rest.count >= 4 {
      var k = rest.prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      k = k &* m
      k ^= k >> r
      h = (h &* m) ^ (k &* m)
      rest = rest.dropFirst(4)
    }
    if !rest.isEmpty { h = (h ^ rest.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }) &* m }
    h ^= h >> 13
    h = h &* m
    return h ^ (h >> 15)
  }
}
