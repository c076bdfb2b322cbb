// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CFloor
import FamilyAF1

/// A pair of bulk endpoints beside a plain libusb program with as many transfers at a time: on a device that the kernel's
/// vhci_hcd takes for real, which wants root and that module, or on the faked usbfs of the tests, which wants nothing.
struct USBBenchmark {
  private static let payload = [UInt8](0..<16)

  private let options: Options
  private let bus: Bus

  /// Where the device is.
  enum Bus {
    /// On the kernel's virtual bus.
    case kernel
    /// On a faked one, where transfers end so many nanoseconds apart, or at once.
    case faked(interval: Int)

    var name: String {
      switch self {
      case .kernel: "bulk"
      case .faked(interval: 0): "faked, at once"
      case .faked(let interval): "faked, \(interval / 1_000) µs"
      }
    }

    func plug(_ role: cfloor_usb_role, total: Int = 0) throws(Failure) -> any PluggedDevice {
      switch self {
      case .kernel: try KernelDevice(role, total: total)
      case .faked(let interval): FakedDevice(role: role, total: total, interval: interval)
      }
    }
  }

  static func run(_ options: Options) async throws -> [Row] {
    guard options.isFaked || options.groups.isEmpty else {
      return try await Self(options: options, bus: .kernel).rows()
    }
    try Failure.check(cfloor_usb_fake_install(), "faking usbfs (libusb must be a shared library)")
    return try await Self(options: options, bus: .faked(interval: 0)).rows()
      + Self(options: options, bus: .faked(interval: 125_000)).rows()
  }

  private func rows() async throws -> [Row] { try await receive() + send() + echo() }

  private var rounds: Int { options.isQuick ? 3 : 7 }
  private var total: Int {
    switch bus {
    case .kernel: (options.isQuick ? 8 : 32) << 20
    case .faked: (options.isQuick ? 64 : 256) << 20
    }
  }

  private func receive() async throws -> [Row] {
    let total = total
    let device = try bus.plug(CFLOOR_USB_SOURCE)
    var starvations = 0
    let floor = Contender("C") {
      try device.asCProgram { host in
        let start = cfloor_now()
        try Failure.check(cfloor_usb_receive(host, total), "receiving in C")
        return [Self.rate(of: total, since: start)]
      }
    }
    let session = Contender("\(bus.name): IN: session.input") {
      try await device.withTransport { transport in
        let session = AccessorySession(transport)
        let start = cfloor_now()
        var left = total
        for try await piece in session.input {
          left -= piece.count
          if left <= 0 { break }
        }
        let result = [Self.rate(of: total, since: start)]
        starvations += transport.counters.starvations
        return result
      }
    }
    let figures = try await Rounds.run(rounds, [floor, session])
    var rows = [
      Row(
        "usb", session.name, unit: "MB/s", ours: figures[1].map { $0[0] }, theirs: figures[0].map { $0[0] },
        requirement: .ratioAtLeast(0.9))
    ]
    // A fake lets transfers end together, or in the call that submits them: that no other is under way says nothing.
    if case .kernel = bus {
      rows.append(
        Row(
          "usb", "\(bus.name): IN: times without a transfer", unit: "", ours: [Double(starvations)],
          requirement: .atMost(0)))
    }
    return rows
  }

  private func send() async throws -> [Row] {
    let total = total
    let device = try bus.plug(CFLOOR_USB_SINK, total: total)
    let floor = Contender("C") {
      try device.asCProgram { host in
        let start = cfloor_now()
        try Failure.check(cfloor_usb_send(host, total), "sending in C")
        return [Self.rate(of: total, since: start)]
      }
    }
    let session = Contender("\(bus.name): OUT: session.write of 16 KiB") {
      try await device.withTransport { transport in
        let session = AccessorySession(transport)
        let bytes = [UInt8](repeating: 0x55, count: 16_384)
        let start = cfloor_now()
        for _ in 0..<(total / bytes.count) { try await session.write(bytes) }
        for try await _ in session.input { break }
        return [Self.rate(of: total, since: start)]
      }
    }
    let figures = try await Rounds.run(rounds, [floor, session])
    return [
      Row(
        "usb", session.name, unit: "MB/s", ours: figures[1].map { $0[0] }, theirs: figures[0].map { $0[0] },
        requirement: .ratioAtLeast(0.9))
    ]
  }

  private func echo() async throws -> [Row] {
    let count = options.isQuick ? 300 : 1_000
    let device = try bus.plug(CFLOOR_USB_ECHO)
    let floor = Contender("C") {
      var times = [Int64](repeating: 0, count: count)
      try device.asCProgram { host in
        _ = try Failure.check(cfloor_usb_echo(host, Self.payload.count, count, &times), "ECHO in C")
      }
      return Self.summary(times)
    }
    let link = Contender("\(bus.name): AF1Accessory.echo") {
      try await device.withTransport { transport in
        let accessory = try await AF1Accessory.open(AccessorySession(transport))
        var times: [Int64] = []
        for _ in 0..<count {
          let start = cfloor_now()
          _ = try await accessory.echo(Self.payload)
          times.append(cfloor_now() - start)
        }
        await accessory.close()
        return Self.summary(times)
      }
    }
    let figures = try await Rounds.run(rounds, [floor, link])
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
