// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

/// `bridge` by frames: many clients ask, by all ways at once, and each gets the replies to its own requests.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct FrameSharingTests {
  @Test(arguments: AskingClient.Kind.allCases)
  func bridgesGiveEachClientItsOwnReplies(kind: AskingClient.Kind) async throws {
    let (wrong, asked) = try await FrameSharingLoad.run(kind, clients: 10, requests: 50)
    #expect(wrong == 0 && asked == 500)
  }

  @Test func whatIsNoFrameDoesNotReachTheAccessory() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "./acc")
      let line = try await SharedLine(box, "./acc", [.tcp, .unix], ["--driver", "framed"])
      let stranger = try await line.connect(.unix)
      _ = stranger.output.offer(Array("AT\r\n".utf8))
      try await line.said("are not a frame of the accessory's protocol", times: 1)
      let battery = try await box.run("battery", "tcp:127.0.0.1:\(line.port)", "--driver", "framed", "--json")
      #expect(battery.status == 0)
      await stranger.close()
      try await line.end()
      try await simulator.stop()
    }
  }

  @Test func bytesMayBeSharedAllTheSame() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "./acc")
      let line = try await SharedLine(box, "./acc", [.tcp], ["--driver", "framed", "--by", "bytes"])
      let listener = try await line.connect(.tcp)
      let battery = try await box.run("battery", "tcp:127.0.0.1:\(line.port)", "--driver", "framed")
      #expect(battery.status == 0)
      // All get everything.
      let reader = InputReader(listener.input)
      #expect(try await reader.read(2) == [0x0F, 0xF0])
      await listener.close()
      try await line.end()
      try await simulator.stop()
      // Nothing says which protocol this speaks.
      let refused = try await box.run("bridge", "unix:./nobody", "--tcp", "0", "--by", "frames")
      #expect(
        refused.status == EX_CONFIG && refused.errorText.contains("use --by bytes, or name the protocol with --driver"))
      let useless = try await box.run("bridge", "./acc", "--tcp", "0", "--by", "frames", "--writers", "none")
      #expect(useless.status == EX_USAGE)
    }
  }

  @Test func readsOfADangerousAccessoryNeedNoPermission() async throws {
    try await Sandbox.with { box in
      let board = try await box.simulate(kind: "--profile", "jbd", "--serial", "BMS1", "--link", "./bms")
      // JBD's description marks writes, or not: what it doesn't have may be one.
      let line = try await SharedLine(box, "./bms", [.tcp], ["--driver", "jbd"])
      let battery = try await box.run("battery", "tcp:127.0.0.1:\(line.port)", "--driver", "jbd", "--json")
      #expect(battery.status == 0, "\(battery.errorText)")
      try await line.end()
      try await board.stop()
    }
  }
}

/// Clients that ask all at once, by one bridge.
enum FrameSharingLoad {
  /// Has `clients` make `requests` each. Returns how many replies were wrong, and how many requests were made.
  static func run(_ kind: AskingClient.Kind, clients: Int, requests: Int) async throws -> (wrong: Int, asked: Int) {
    var result = (wrong: 0, asked: 0)
    try await Sandbox.with { box in
      let (name, arguments) = kind.simulation
      let simulator = try box.start(
        ["simulate", name] + arguments + ["--link", "./acc"], limit: .seconds(3_000))
      try await simulator.line(containing: " is plugged in at ")
      let line = try await SharedLine(box, "./acc", [.tcp, .unix, .pty, .rfc2217], ["--driver", kind.driver])
      let before = (line.descriptorCount, line.threadCount)
      let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<clients {
          // One at the terminal, which has one other end; the others by all other ways.
          let way: SharedLine.Way = number == 0 ? .pty : [.tcp, .unix, .rfc2217][number % 3]
          group.addTask {
            let transport = try await line.connect(way)
            return try await AskingClient(kind: kind, number: number).ask(requests, over: transport)
          }
        }
        return try await group.reduce(0, +)
      }
      try await line.settled(descriptors: before.0)
      // The pool of threads grows while it works, by a few and not by clients.
      #expect(line.threadCount <= before.1 + 8)
      result = (wrong, clients * requests)
      try await line.end()
      simulator.signal(SIGINT)
      _ = try await simulator.end()
    }
    return result
  }
}
