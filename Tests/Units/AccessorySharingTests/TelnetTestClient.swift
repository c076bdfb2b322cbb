// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import AccessoryTesting
import Testing

@testable import AccessorySharing

/// The test's end of a client of RFC 2217.
final class TelnetTestClient {
  let transport: MemoryTransport
  let id: Int
  private var decoder = TelnetDecoder()
  private var events: [TelnetDecoder.Event] = []

  init(_ hub: SharingHub, name: String = "client") async {
    transport = MemoryTransport(label: name)
    id = await hub.join(transport, name: name, kind: .rfc2217)
  }

  func ask(_ messages: COMPortMessage...) {
    transport.receive(messages.flatMap { $0.bytes(fromServer: false) })
  }

  func send(_ bytes: [UInt8]) { transport.receive(bytes) }

  /// The next thing that is said about the port, in order; options are passed over.
  func message() async throws -> COMPortMessage {
    while true {
      while !events.isEmpty {
        let event = events.removeFirst()
        if case .subnegotiation(44, let payload) = event {
          return try #require(COMPortMessage(payload, fromServer: true))
        }
      }
      decoder.decode(try await transport.nextWritten(1), into: &events)
    }
  }

  func data(_ count: Int) async throws -> [UInt8] {
    var data: [UInt8] = []
    while data.count < count {
      while !events.isEmpty { if case .data(let more) = events.removeFirst() { data += more } }
      if data.count < count { decoder.decode(try await transport.nextWritten(1), into: &events) }
    }
    return data
  }

  func agree() async throws {
    send(Telnet.optionCommand(.will, 44))
    guard case .modemState = try await message() else {
      return #expect(Bool(false), "the first thing is how the modem lines are")
    }
  }
}

/// A hub whose device is a line of memory, by a clock that the test moves.
struct LineHub {
  let hub: SharingHub
  let line: MemoryLine
  let device: MemoryTransport
  let clock = ManualClock()

  init(modemLines: ModemLines? = [.dtr, .rts], _ change: (inout SharingRules) -> Void = { _ in }) {
    var rules = SharingRules()
    change(&rules)
    line = MemoryLine(LineStatus(baudRate: 115_200, modemLines: modemLines), clock: clock)
    device = MemoryTransport(label: "board", line: line)
    hub = SharingHub(rules, io: .shared, clock: clock)
  }

  func attach(resets: [LineReset] = []) async {
    var shared = SharedDevice(device)
    shared.resets = resets
    await hub.attach(shared) { _ in }
  }

  /// Returns when the I/O thread has done what was posted until now, and what followed from that.
  func settle() async {
    for _ in 0..<8 { await withCheckedContinuation { c in IOThread.shared.post { c.resume() } } }
  }

  /// Moves the clock to the next moment for which something is scheduled: the `count`th thing, when others wait for later.
  func advanceToNext(of count: Int = 1) async throws {
    try await clock.waitForPending(count)
    clock.advanceToNext()
  }

  /// Lets all scripts run to their ends. Nothing else may be scheduled before the steps of a script.
  func finishScripts() async {
    while await hub.scriptCount > 0 {
      await settle()
      clock.advanceToNext()
    }
  }
}

extension SharingHub {
  /// What the parts of the hub know of the line.
  var lineState: LineStateWatch { parts.line.lineState }
  func urgent(_ id: HubClient.ID) { parts.telnet.urgent(id) }
  var scriptCount: Int { parts.resets.scriptCount }
  var detector: LineResetDetector? { parts.resets.detector }
}
