// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import FamilyHIDPower
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The driver over the transport, with a socket in the place of hidraw's node.
@Suite struct PowerDeviceTests {
  /// The feature reports of a pretended UPS.
  final class Features: HIDFeatures {
    let reports = Locked<[UInt8: [UInt8]]>([
      0x08: HIDSamples.bytes("08 64 27 09 2c 01"), 0x0B: HIDSamples.bytes("0b 11"),
      0x15: HIDSamples.bytes("15 ff ff"), 0x0C: HIDSamples.bytes("0c 02"),
    ])
    let errors = Locked<[UInt8: [Errno]]>([:])

    func get(_ number: UInt8, size: Int) throws(Errno) -> [UInt8] {
      let error = errors.withLock { errors in
        errors[number]?.isEmpty == false ? errors[number]?.removeFirst() : nil
      }
      if let error { throw error }
      guard let report = reports.withLock({ $0[number] }) else { throw .brokenPipe }
      return report
    }

    func set(_ report: [UInt8]) throws(Errno) {
      guard let number = report.first else { throw .invalidArgument }
      reports.withLock { $0[number] = report }
    }
  }

  /// The device's end of the socket. It is closed once.
  final class FarEnd: Sendable {
    private let descriptor: Locked<FileDescriptor?>

    init(_ descriptor: FileDescriptor) { self.descriptor = Locked(descriptor) }

    func send(_ report: [UInt8]) throws { _ = try descriptor.withLock { $0 }?.writeAll(report) }

    func close() {
      let open = descriptor.withLock { descriptor -> FileDescriptor? in
        defer { descriptor = nil }
        return descriptor
      }
      try? open?.close()
    }
  }

  /// Calls `body` with a device, its feature reports, and the end of the socket at which its input reports are sent.
  private func withDevice(
    _ features: Features = Features(), descriptor: [UInt8] = HIDSamples.cyberPower,
    clock: any TimerClock = IOThread.shared, _ body: (PowerDevice, Features, FarEnd) async throws -> Void
  ) async throws {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    let far = FarEnd(FileDescriptor(rawValue: ends[1]))
    let transport = HIDTransport(
      FileDescriptor(rawValue: ends[0]), HIDReportDescriptor(descriptor),
      HIDMaker(vendor: 0x0764, product: 0x0601, manufacturer: "CPS", name: "UPS", serialNumber: "1"), label: "the UPS",
      io: .shared, features: features)
    let device = try await PowerDevice.open(transport, clock: clock)
    try await body(device, features, far)
    await device.close()
    far.close()
  }

  @Test func aUPSAnswersWithItsBattery() async throws {
    try await withDevice { device, _, _ in
      let battery = try await device.battery()
      #expect(battery.percent == 100)
      #expect(battery.timeToEmpty == .seconds(2_343))
      let maker = try await device.identify().manufacturer
      #expect(maker == "CPS")
      // The other reports were refused, and that is said.
      #expect(device.unanswered?.hasPrefix("it refused the feature reports ") == true)
    }
  }

  @Test func aReportThatIsRefusedOnceIsAskedForAgain() async throws {
    let features = Features()
    features.errors.withLock { $0[0x08] = [.brokenPipe] }
    try await withDevice(features) { device, _, _ in
      let percent = try await device.battery().percent
      #expect(percent == 100)
    }
  }

  @Test func aSilentDeviceIsNotAskedForTheRest() async throws {
    let features = Features()
    features.errors.withLock { $0 = Dictionary(uniqueKeysWithValues: (0...255).map { ($0, [.timedOut]) }) }
    try await withDevice(features) { device, features, _ in
      let error = await #expect(throws: AccessoryError.self) { _ = try await device.battery() }
      #expect(error?.kind == .timedOut)
      #expect(features.errors.withLock { $0.values.count { $0.isEmpty } } == 1)
    }
  }

  /// That the power was cut is a value as well as a state of the battery: both are told at once.
  @Test func anInputReportIsNewsOnce() async throws {
    try await withDevice { device, _, far in
      _ = try await device.battery()
      _ = try await device.values()
      var news = device.news().makeAsyncIterator()
      let onBattery = HIDSamples.bytes("0b 04")
      for _ in 0..<3 { try far.send(onBattery) }
      try far.send(HIDSamples.bytes("08 32 10 00 2c 01"))
      guard case .values(let values)? = try await news.next() else { throw Hang("the values") }
      #expect(values.first { $0.role == Vocabulary.onBattery.role }?.content == .flag(true))
      guard case .battery(let first)? = try await news.next() else { throw Hang("the battery") }
      #expect(first.charge == .discharging)
      // The repeated ones told nothing new.
      guard case .battery(let second)? = try await news.next() else { throw Hang("the battery") }
      #expect(second.percent == 50)
    }
  }

  /// A device that sends 500 reports at once is worked on a few times, and what it sent last is told.
  @Test func aFloodOfReportsIsGathered() async throws {
    let clock = ManualClock()
    try await withDevice(clock: clock) { device, _, far in
      _ = try await device.battery()
      let told = Watched<[BatteryReading]>([])
      let news = device.news()
      let task = Task {
        for try await case .battery(let reading) in news { told.update { $0.append(reading) } }
      }
      for number in 0..<500 {
        let percent = number == 499 ? 42 : 50 + number % 2
        try await eventually("there is room") {
          (try? far.send(HIDSamples.bytes("08 \(Hexadecimal.string(UInt8(percent))) 10 00 2c 01"))) != nil
        }
      }
      try await clock.waitForPending()
      // Until the last one has come.
      try await eventually("the newest is told") {
        clock.advance(by: .milliseconds(100))
        return told.value.last?.percent == 42
      }
      #expect(told.value.count < 100, "\(told.value.count)")
      task.cancel()
    }
  }

  @Test func anUnplugEndsTheNewsAndEveryRequest() async throws {
    try await withDevice { device, _, far in
      var news = device.news().makeAsyncIterator()
      far.close()
      var end: AccessoryError?
      do throws(AccessoryError) { while try await news.next() != nil {} } catch { end = error }
      #expect(end?.kind == .disconnected)
      let error = await #expect(throws: AccessoryError.self) { _ = try await device.battery() }
      #expect(error?.kind == .disconnected)
    }
  }

  private func call(_ words: String...) throws -> CommandCall {
    try CommandCall.read(words, of: Driver.hidPower.commands)[0]
  }

  @Test func commandsNeedPermissionAndSetTheirField() async throws {
    try await withDevice { device, features, _ in
      let off = try call("load-off", "delay=61")
      let error = await #expect(throws: AccessoryError.self) { _ = try await device.perform([off], isAnswered: true) }
      #expect(error?.kind == .permissionDenied)
      _ = try await device.perform([off.permitted()], isAnswered: true)
      // It counts minutes.
      #expect(features.reports.withLock { $0[0x15] } == HIDSamples.bytes("15 02 00"))
      _ = try await device.perform([try call("cancel-load-off").permitted()], isAnswered: true)
      #expect(features.reports.withLock { $0[0x15] } == HIDSamples.bytes("15 ff ff"))
      _ = try await device.perform([try call("beeper", "state=mute").permitted()], isAnswered: true)
      #expect(features.reports.withLock { $0[0x0C] } == HIDSamples.bytes("0c 03"))
    }
  }

  /// Its outlets have delays of their own: no part of the output is switched off in the place of the whole.
  @Test func anOutletIsNotSwitchedOffInThePlaceOfTheOutput() async throws {
    let descriptor = HIDSamples.bytes(
      """
      05 84 09 04 a1 01 09 24 a1 00 85 01 75 08 95 01 15 00 25 64 05 85 09 66 b1 a2 c0
      05 84 09 18 a1 00 09 20 a1 81 85 15 16 ff ff 26 ff 7f 75 10 09 57 b1 a2 c0 09 20 a1 82 85 0c 09 57 b1 a2 c0 c0 c0
      """)
    try await withDevice(descriptor: descriptor) { device, features, _ in
      let before = features.reports.withLock { $0 }
      let off = try call("load-off", "delay=60").permitted()
      let error = await #expect(throws: AccessoryError.self) { _ = try await device.perform([off], isAnswered: true) }
      #expect(
        error?.message
          == "the UPS has a setting for load-off only in 2 fields of the feature reports 12, 21, for its outlets or for "
          + "another part of it: nothing was sent")
      #expect(features.reports.withLock { $0 } == before)
    }
  }

  @Test func nothingIsSwitchedOffWithoutADelay() throws {
    #expect(throws: (any Error).self) { try call("load-off") }
    #expect(throws: (any Error).self) { try call("load-off", "delay=0") }
  }
}
