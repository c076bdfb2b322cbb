// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import FamilyAF1
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// `bridge` beside the kernel: a pair of USB endpoints has no terminal, and gets one.
  @Suite struct BridgeTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func start(_ words: [String]) throws -> Program {
      try Program(
        words, environment: ["XDG_RUNTIME_DIR": directory.path, "PATH": "/usr/bin:/bin"], directory: directory.path)
    }

    /// picocom, which knows only terminals, uses a USB device with bulk endpoints: what is typed goes to the accessory, and its
    /// reply comes out. An unplug hangs the terminal up.
    @Test(arguments: ["bytes", "frames"]) func picocomTalksThroughABridge(unit: String) async throws {
      let plugged = try await PluggedIn(.bulk) { $0.device.identity.serialNumber = "BULK7" }
      #expect(plugged.node.hasPrefix("/dev/bus/usb/"), "the kernel makes no terminal of it")
      let bridge = try start([
        Program.bridgeCLI, "bridge", "BULK7", "--driver", "framed", "--by", unit, "--pty", "./tty",
      ])
      try await bridge.transcript.wait { $0.errorText.contains(" is open") || $0.status != nil }
      // Since the shell opens the FIFO for both directions, picocom's input doesn't end.
      let picocom = try start([
        "sh", "-c", "mkfifo typed && exec picocom --quiet --no-escape --baud 115200 ./tty <>typed",
      ])
      try await eventually("picocom's fifo", within: .seconds(60)) { access("\(directory.path)/typed", F_OK) == 0 }
      let codec = AF1Codec(maximumPayload: 300)
      let (header, echoed) = (AF1Header.request(.echo, number: 7), [UInt8](0...255))
      var (request, expected): ([UInt8], [UInt8]) = ([], [])
      try codec.encode(header, payload: echoed, into: &request)
      try codec.encode(.reply(to: header), payload: echoed, into: &expected)
      // By frames the bridge sends its own HELLO first; by bytes it sends nothing of its own.
      let typed = open("\(directory.path)/typed", O_WRONLY | O_CLOEXEC)
      #expect(write(typed, request, request.count) == request.count)
      close(typed)
      try await picocom.transcript.wait { [expected] in $0.output == expected || $0.status != nil }
      await plugged.simulator.unplug()
      let end = try await picocom.end()
      #expect(end.output == expected, "\(end.errorText)\(bridge.transcript.value.errorText)")
      #expect(end.status == 1, "the terminal hung up")
      bridge.signal(SIGINT)
      #expect(try await bridge.end().status == 0)
      try await plugged.stop()
    }
  }
}
