// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryDrivers

/// Text in HID reports, with a socket in the place of hidraw's node: one packet is one report.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct HIDTextTransportTests {
  /// The chip's end: it collects what the host writes, and answers whole lines.
  final class Chip: Sendable {
    let transport: DescriptorTransport
    private let file: FileDescriptor
    /// The reports that have arrived, each with its number.
    let reports = Watched<[[UInt8]]>([])
    private let line = Locked<[UInt8]>([])
    private let answering: @Sendable (String) -> [[UInt8]]

    init(_ file: FileDescriptor, answering: @escaping @Sendable (String) -> [[UInt8]]) {
      (self.file, self.answering) = (file, answering)
      transport = DescriptorTransport(descriptor: file, label: "the chip", timing: .instant) { try? file.close() }
      transport.input.onReadable { [self] in
        var bytes: [UInt8] = []
        while transport.input.take(into: &bytes) == .bytes { take(bytes) }
      }
    }

    private func take(_ bytes: [UInt8]) {
      for start in stride(from: 0, to: bytes.count, by: 9) {
        let report = Array(bytes[start..<min(bytes.count, start + 9)])
        reports.update { $0.append(report) }
        let asked = line.withLock { line -> String? in
          line += report.dropFirst().prefix(HIDText.textCount(in: Array(report.dropFirst())))
          guard line.last == 0x0D else { return nil }
          defer { line = [] }
          return String(decoding: line, as: UTF8.self)
        }
        for answer in asked.map(answering) ?? [] { send(answer) }
      }
    }

    /// Returns false when the host takes no more for now.
    @discardableResult
    func send(_ report: [UInt8]) -> Bool { (try? file.writeAll(report)) != nil }
  }

  private func withText(
    answering: @escaping @Sendable (String) -> [[UInt8]] = { _ in [] },
    _ body: (HIDTextTransport, Chip) async throws -> Void
  ) async throws {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    let chip = Chip(FileDescriptor(rawValue: ends[1]), answering: answering)
    let transport = HIDTextTransport(FileDescriptor(rawValue: ends[0]), label: "the UPS", io: .shared)
    try await body(transport, chip)
    await transport.close()
    await chip.transport.close()
  }

  private static func reports(_ text: String) -> [[UInt8]] { HIDText.reports(of: Array(text.utf8)) }

  private func accessory(_ name: String, over transport: HIDTextTransport) async throws -> any Accessory {
    let device = Device(.hidText("/dev/hidraw0"), source: .named, driver: name)
    return try await DeviceOpener(device, drivers: .builtIn).contact(over: AccessorySession(transport))
  }

  /// The description is the one of the serial line, as it is.
  @Test func aMegatecUPSAnswersInReports() async throws {
    let answers = [
      "Q1\r": "(226.0 195.0 226.0 014 49.0 27.5 30.0 00001000\r", "F\r": "#220.0 000 024.0 50.0\r",
      "I\r": "#-------------   ------     VT12046Q  \r",
    ]
    try await withText(answering: { Self.reports(answers[$0] ?? "NAK\r") }) { transport, chip in
      let ups = try await accessory("megatec", over: transport)
      #expect(try await ups.battery().millivolts == 27_500)
      let values = try await ups.values()
      #expect(values.first { $0.name == "input_voltage" }?.number == 226)
      #expect(chip.reports.value.contains([0, 0x51, 0x31, 0x0D, 0, 0, 0, 0, 0]))
      #expect(chip.reports.value.allSatisfy { $0.count == 9 && $0[0] == 0 })
      await ups.close()
    }
  }

  /// The protocol's vectors: commands and replies of several reports, with their checksums.
  @Test func aVoltronicInverterAnswersInReports() async throws {
    let status =
      "(000.0 00.0 230.0 49.9 0161 0119 003 460 57.50 012 100 0069 0014 103.8 57.45 00000 00110110 00 00 00856 010"
    let answers: [(String, [UInt8])] = [
      ("QPIGS", Array(status.utf8) + [0x24, 0x8C]),
      ("QPIRI", Array("(NAKss".utf8)), ("QPIWS", Array("(NAKss".utf8)),
      ("QPI", Array("(PI30".utf8) + [0x9A, 0x0B]), ("QMOD", Array("(S".utf8) + [0xE5, 0xD9]),
    ]
    let answer: @Sendable (String) -> [[UInt8]] = { line in
      answers.first { line.hasPrefix($0.0) }.map { HIDText.reports(of: $0.1 + [0x0D]) } ?? []
    }
    try await withText(answering: answer) { transport, chip in
      let inverter = try await accessory("pi30", over: transport)
      let battery = try await inverter.battery()
      #expect(battery.percent == 100 && battery.millivolts == 57_500)
      #expect(chip.reports.value.contains([0, 0x51, 0x50, 0x49, 0x47, 0x53, 0xB7, 0xA9, 0x0D]))
      await inverter.close()
    }
  }

  /// Nothing is sent by opening it.
  @Test func aSessionSendsNothing() async throws {
    try await withText { transport, chip in
      let session = AccessorySession(transport)
      try await session.write(Array("0123456789\r".utf8))
      _ = try await chip.reports.wait { $0.count == 2 }
      #expect(chip.reports.value == [[0] + Array("01234567".utf8), [0, 0x38, 0x39, 0x0D, 0, 0, 0, 0, 0]])
      await session.close()
    }
  }

  /// Reports of any size, empty lines, zeros: only the text passes.
  @Test func reportsOfAnySizeAreTaken() async throws {
    try await withText { transport, chip in
      let zeros = [UInt8](repeating: 0, count: 8)
      for report in [zeros, [0x41], Array("BC\r\0\0".utf8), [UInt8](repeating: 0x44, count: 64)] { chip.send(report) }
      var (got, buffer) = ([UInt8](), [UInt8]())
      try await eventually("the text") {
        if transport.input.take(into: &buffer) == .bytes { got += buffer }
        return got.count == 68
      }
      #expect(got == Array("ABC\r".utf8) + [UInt8](repeating: 0x44, count: 64))
    }
  }

  /// A device that never ends its line costs no more than the queue has room for.
  @Test func textWithoutEndIsBounded() async throws {
    try await withText { transport, chip in
      let report = [UInt8](repeating: 0x41, count: 4_096)
      try await eventually("the device to be held up") {
        while chip.send(report) {}
        return transport.input.count >= 65_536
      }
      // One report more than the queue holds, at most: it is read no more.
      #expect(transport.input.count <= 65_536 + report.count)
    }
  }

  @Test func anUnplugEndsIt() async throws {
    try await withText { transport, chip in
      let session = AccessorySession(transport)
      chip.send(Array("AB\r\0\0\0\0\0".utf8))
      await chip.transport.close()
      var text = session.input.makeAsyncIterator()
      let first = try await text.next()
      #expect(first == Array("AB\r".utf8))
      let error = await #expect(throws: AccessoryError.self) { _ = try await text.next() }
      #expect(error?.kind == .disconnected)
    }
  }

  /// What isn't hidraw's is said to be so; a device whose reports carry text is never tried.
  @Test func onlyANodeOfHidrawIsOpened() async throws {
    let error = await #expect(throws: AccessoryError.self) { try await HIDTextTransport.open(path: "/dev/null") }
    #expect(error?.kind == .unsupported)
    #expect(IdentificationPlan.PortKind(.hidText("/dev/hidraw0")) == nil)
  }
}
