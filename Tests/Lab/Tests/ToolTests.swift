// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// The simulated devices in the hands of programs that know nothing of them.
  @Suite struct ToolTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func start(_ words: [String]) throws -> Program {
      try Program(words, environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"], directory: directory.path)
    }

    private func configuration(_ kind: SimulatedUSBIdentity.Kind) -> AF1Simulator.Configuration {
      var identity = SimulatedUSBIdentity(kind)
      (identity.manufacturer, identity.product, identity.serialNumber) = ("Maker", "Thing é", "S42")
      if kind != .ftdi { (identity.vendorID, identity.productID) = (0x1209, 0x0007) }
      var configuration = AF1Simulator.Configuration(seed: 1)
      configuration.connection = .usb(identity)
      return configuration
    }

    /// Waits until the kernel has chosen the device's configuration.
    private func configured(_ path: String) async throws {
      try await eventually("\(path) to be configured", within: .seconds(60)) {
        (try? SmallFile.read("\(path)/bConfigurationValue", limit: 8))?.first == UInt8(ascii: "1")
      }
    }

    @Test(arguments: SimulatedUSBIdentity.Kind.allCases)
    func lsusbReadsTheDescriptors(kind: SimulatedUSBIdentity.Kind) async throws {
      try #require(Kernel.isReady)
      let simulator = AF1Simulator(configuration(kind), io: Kernel.devices)
      let path = try await simulator.plugIn()
      try await configured(path)
      let result = try await start(["lsusb", "-v", "-d", kind == .ftdi ? "0403:6001" : "1209:0007"]).end()
      #expect(result.status == 0)
      #expect(result.errorText == "")
      for text in [
        "iManufacturer           1 Maker", "iProduct                2 Thing é", "iSerial                 3 S42",
      ] {
        #expect(result.outputText.contains(text))
      }
      for complaint in ["UNRECOGNIZED", "Warning", "junk", "can't", "Couldn't"] {
        #expect(!result.outputText.contains(complaint), "\(complaint): \(result.outputText)")
      }
      let words = ["bulk": "Bulk", "modem": "Communications", "ftdi": "Bulk", "reports": "Human Interface Device"]
      #expect(result.outputText.contains(words[kind.rawValue] ?? "?"))
      await simulator.stop()
      try await eventually("\(path) to go", within: .seconds(60)) { !Kernel.exists(path) }
    }

    /// What the accessory says comes out of `cat`, which ends when the cable is pulled.
    @Test(arguments: [SimulatedUSBIdentity.Kind.modem, .ftdi])
    func catPrintsWhatTheAccessorySays(kind: SimulatedUSBIdentity.Kind) async throws {
      let plugged = try await PluggedIn(kind)
      // Held open: the last close would put the settings back, and drop what is on its way.
      let reader = try start(["sh", "-c", "exec 3<>$0; stty -F $0 raw -echo; echo ready >&2; cat <&3", plugged.node])
      try await reader.transcript.wait { $0.errorText == "ready\n" || $0.status != nil }
      let status = AF1StatusReply(state: .fault, faultCode: 0x0D0A)
      var payload: [UInt8] = []
      status.encode(into: &payload)
      var expected: [UInt8] = []
      try AF1Codec(maximumPayload: 100).encode(.event(.status, number: 0), payload: payload, into: &expected)
      await plugged.simulator.setStatus(status)
      try await reader.transcript.wait { [expected] in $0.output == expected || $0.status != nil }
      #expect(reader.transcript.value.output == expected)
      await plugged.simulator.unplug()
      let end = try await reader.end()
      #expect(end.output == expected)
      try await plugged.stop()
    }

    /// The program that people talk to serial ports with: what is typed goes to the accessory, and its reply comes out.
    @Test(arguments: [SimulatedUSBIdentity.Kind.modem, .ftdi])
    func picocomTalksToTheAccessory(kind: SimulatedUSBIdentity.Kind)
      async throws
    {
      let plugged = try await PluggedIn(kind)
      // Open for both, what is typed never ends.
      let program = try start([
        "sh", "-c", "mkfifo typed && exec picocom --quiet --no-escape --baud 115200 $0 <>typed", plugged.node,
      ])
      try await plugged.waitForLine { $0.dtr && abs(Double($0.baudRate) / 115_200 - 1) < 0.03 }
      let codec = AF1Codec(maximumPayload: 300)
      let (header, echoed) = (AF1Header.request(.echo, number: 7), [UInt8](0...255))
      var (request, expected): ([UInt8], [UInt8]) = ([], [])
      try codec.encode(header, payload: echoed, into: &request)
      try codec.encode(.reply(to: header), payload: echoed, into: &expected)
      let typed = open("\(directory.path)/typed", O_WRONLY | O_CLOEXEC)
      #expect(write(typed, request, request.count) == request.count)
      close(typed)
      try await program.transcript.wait { [expected] in $0.output == expected || $0.status != nil }
      await plugged.simulator.unplug()
      let end = try await program.end()
      #expect(end.output == expected, "\(end.errorText)")
      #expect(end.status == 1, "the port is gone")
      try await plugged.stop()
    }

    /// The kernel's own HID driver takes the reports: a frame over two of them, there and back.
    @Test func hidrawPassesReportsBothWays() async throws {
      try #require(Kernel.isReady)
      let simulator = AF1Simulator(configuration(.reports), io: Kernel.devices)
      let path = try await simulator.plugIn()
      var node = ""
      try await eventually("a hidraw node", within: .seconds(60)) {
        let interface = "\(path)/\(path.split(separator: "/").last ?? "")" + ":1.0"
        for name in Directory.names(in: interface) {
          if let found = Directory.names(in: "\(interface)/\(name)/hidraw").first { node = "/dev/\(found)" }
        }
        return !node.isEmpty && Kernel.exists(node)
      }
      let echoed = (0..<1_500).map { UInt8(truncatingIfNeeded: $0 &* 3) }
      var frame: [UInt8] = []
      try AF1Codec(maximumPayload: 4_096).encode(.request(.echo, number: 7), payload: echoed, into: &frame)
      frame += [UInt8](repeating: 0, count: 2_048 - frame.count)
      let answer = try await blocking { [node, frame] in
        let descriptor = open(node, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Hang("opening \(node): errno \(errno)") }
        defer { close(descriptor) }
        for start in [0, 1_024] {
          // In front of each, the number of the report: there are no numbers, so 0.
          let report = [0] + frame[start..<(start + 1_024)]
          guard write(descriptor, report, report.count) == 1_025 else { throw Hang("writing: errno \(errno)") }
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 2_048)
        for _ in 0..<2 {
          let count = read(descriptor, &buffer, buffer.count)
          guard count == 1_024 else { throw Hang("a report of 1024 bytes, which had \(count)") }
          answer += buffer.prefix(count)
        }
        return answer
      }
      var codec = AF1Codec(maximumPayload: 4_096)
      var batch = FrameBatch<AF1Header>()
      codec.decode(answer.span.bytes, into: &batch)
      #expect(batch.count == 1)
      #expect(batch.payloadBytes(at: 0) == echoed)
      #expect(codec.counters.skippedBytes == 2_048 - 1_514)
      await simulator.stop()
      try await eventually("\(node) to go", within: .seconds(60)) { !Kernel.exists(node) }
    }
  }
}
