// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CFloor

/// A pair of bulk endpoints beside a plain libusb program with as many transfers at a time, on a device that the kernel's
/// vhci_hcd takes for real. Wants root and that module, so it is left out unless it is named.
enum USBBenchmark {
  private static let payload = [UInt8](0..<16)

  static func run(_ options: Options) async throws -> [Row] {
    try await receive(options) + send(options) + echo(options)
  }

  private static func rounds(_ options: Options) -> Int { options.isQuick ? 3 : 7 }
  private static func total(_ options: Options) -> Int { (options.isQuick ? 8 : 32) << 20 }

  private static func receive(_ options: Options) async throws -> [Row] {
    let total = total(options)
    let device = try USBDevice(CFLOOR_USB_SOURCE)
    var starvations = 0
    let floor = Contender("C") {
      try device.asCProgram { host in
        let start = cfloor_now()
        try Failure.check(cfloor_usb_receive(host, total), "receiving in C")
        return [rate(of: total, since: start)]
      }
    }
    let session = Contender("bulk IN: session.input") {
      try await device.withTransport { transport in
        let session = AccessorySession(transport)
        let start = cfloor_now()
        var left = total
        for try await piece in session.input {
          left -= piece.count
          if left <= 0 { break }
        }
        let result = [rate(of: total, since: start)]
        starvations += transport.counters.starvations
        return result
      }
    }
    let figures = try await Rounds.run(rounds(options), [floor, session])
    return [
      Row(
        "usb", session.name, unit: "MB/s", ours: figures[1].map { $0[0] }, theirs: figures[0].map { $0[0] },
        requirement: .ratioAtLeast(0.9)),
      Row(
        "usb", "bulk IN: times without a transfer", unit: "", ours: [Double(starvations)], requirement: .atMost(0)),
    ]
  }

  private static func send(_ options: Options) async throws -> [Row] {
    let total = total(options)
    let device = try USBDevice(CFLOOR_USB_SINK, total: total)
    let floor = Contender("C") {
      try device.asCProgram { host in
        let start = cfloor_now()
        try Failure.check(cfloor_usb_send(host, total), "sending in C")
        return [rate(of: total, since: start)]
      }
    }
    let session = Contender("bulk OUT: session.write of 16 KiB") {
      try await device.withTransport { transport in
        let session = AccessorySession(transport)
        let bytes = [UInt8](repeating: 0x55, count: 16_384)
        let start = cfloor_now()
        for _ in 0..<(total / bytes.count) { try await session.write(bytes) }
        for try await _ in session.input { break }
        return [rate(of: total, since: start)]
      }
    }
    let figures = try await Rounds.run(rounds(options), [floor, session])
    return [
      Row(
        "usb", session.name, unit: "MB/s", ours: figures[1].map { $0[0] }, theirs: figures[0].map { $0[0] },
        requirement: .ratioAtLeast(0.9))
    ]
  }

  private static func echo(_ options: Options) async throws -> [Row] {
    let count = options.isQuick ? 300 : 1_000
    let device = try USBDevice(CFLOOR_USB_ECHO)
    let floor = Contender("C") {
      var times = [Int64](repeating: 0, count: count)
      try device.asCProgram { host in
        _ = try Failure.check(cfloor_usb_echo(host, payload.count, count, &times), "ECHO in C")
      }
      return summary(times)
    }
    let link = Contender("bulk: FramedAccessory.echo") {
      try await device.withTransport { transport in
        let accessory = try await FramedAccessory.open(AccessorySession(transport))
        var times: [Int64] = []
        for _ in 0..<count {
          let start = cfloor_now()
          _ = try await accessory.echo(payload)
          times.append(cfloor_now() - start)
        }
        await accessory.close()
        return summary(times)
      }
    }
    let figures = try await Rounds.run(rounds(options), [floor, link])
    return [("median", 0, Requirement.ratioAtMost(2)), ("p99", 1, nil)].map { name, part, requirement in
      Row(
        "usb", "\(link.name): \(name)", unit: "µs", ours: figures[1].map { $0[part] },
        theirs: figures[0].map { $0[part] }, requirement: requirement)
    }
  }

  private static func rate(of total: Int, since start: Int64) -> Double {
    Double(total) * 1_000 / Double(cfloor_now() - start)
  }

  private static func summary(_ nanoseconds: [Int64]) -> [Double] {
    let microseconds = nanoseconds.map { Double($0) / 1_000 }
    return [microseconds.median, microseconds.quantile(0.99)]
  }
}

/// A device, which is a C process, on the kernel's virtual USB bus.
private final class USBDevice {
  private var device = cfloor_usb_device()
  private let node: String

  init(_ role: cfloor_usb_role, total: Int = 0) throws(Failure) {
    try Failure.check(cfloor_usb_plug(role, total, &device), "plugging a USB device in (root, modprobe vhci-hcd)")
    node = withUnsafeBytes(of: device.node) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  deinit { cfloor_usb_unplug(&device) }

  func asCProgram<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
    guard let host = cfloor_usb_open(node) else { throw Failure("opening \(node) in C failed") }
    defer { cfloor_usb_close(host) }
    return try body(host)
  }

  func withTransport<Result>(_ body: (USBTransport) async throws -> Result) async throws -> Result {
    var configuration = USBConfiguration(path: node)
    configuration.transfersInFlight = Int(cfloor_usb_flight)
    let transport = try await USBTransport.open(configuration)
    do {
      let result = try await body(transport)
      await transport.close()
      return result
    } catch {
      await transport.close()
      throw error
    }
  }
}
