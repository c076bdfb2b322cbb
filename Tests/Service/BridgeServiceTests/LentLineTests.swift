// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import TestSupport
import Testing

@testable import AccessoryControl
@testable import BridgeService

/// The line of an accessory that the service has lent.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct LentLineTests {
  private func borrow(_ harness: ServiceHarness) async throws -> (secret: String, transport: any Transport) {
    let (reply, transport) = try await harness.client().upgrade(Bridge.Open(device: "A1"))
    return (try #require(reply.loan), transport)
  }

  @Test func settingsOfALentLineArePutBack() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      for _ in 1...2 {
        let (reply, transport) = try await harness.client().upgrade(Bridge.Open(device: "A1"))
        // What the last borrower changed was put back.
        #expect(reply.line?.baud == 115_200 && reply.line?.stop_bits == 1 && reply.line?.modem_lines == nil)
        let secret = try #require(reply.loan)
        let client = try await harness.client()
        let changes = LineChanges(baudRate: 57_600, stopBits: 2, flowControl: .software)
        let changed = try await client.call(Bridge.ChangeLine(loan: secret, changes)).line
        #expect(changed.baud == 57_600 && changed.stop_bits == 2 && changed.flow_control == "software")
        #expect(try await client.call(Bridge.GetLineStatus(loan: secret)).line == changed)
        _ = try await client.call(Bridge.Purge(loan: secret, [.received, .unsent]))
        // A pseudo-terminal has no modem lines.
        for failing in [
          await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetModemLines(loan: secret)) },
          await errorName { () throws(ControlError) in
            _ = try await client.call(Bridge.SetModemLines(loan: secret, raising: .dtr, lowering: []))
          },
        ] { #expect(failing == "Unsupported") }
        await transport.close()
        try await eventually("the end of the loan") { try await harness.state("A1") == .attached }
      }
    }
  }

  @Test func modemLinesBreakAndBuffersAreLent() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let (secret, transport) = try await borrow(harness)
      let line = MemoryLine(LineStatus(baudRate: 9_600, modemLines: .dsr))
      await harness.service.putIntoLoan(of: "A1", line)
      let client = try await harness.client()
      _ = try await client.call(Bridge.SetModemLines(loan: secret, raising: .dtr, lowering: .rts))
      #expect(line.state.value.status.modemLines == [.dsr, .dtr])
      let told = try await client.call(Bridge.GetModemLines(loan: secret)).modem_lines
      #expect(told == ["dtr": true, "rts": false, "cts": false, "dsr": true, "cd": false, "ri": false])
      _ = try await client.call(Bridge.SetBreak(loan: secret, on: true))
      #expect(line.state.value.isBreaking)
      _ = try await client.call(Bridge.Purge(loan: secret, .unsent))
      #expect(line.state.value.purges == [.unsent])
      await transport.close()
    }
  }

  @Test func onlyItsBorrowerAndOnlyWhileItLasts() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let (secret, transport) = try await borrow(harness)
      #expect(secret.utf8.count == 32)
      let client = try await harness.client()
      func ask(_ secret: String) async -> String? {
        await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetLineStatus(loan: secret)) }
      }
      #expect(await ask(secret) == nil)
      for wrong in ["", "A1", String(secret.dropLast()), secret + "0", secret.uppercased() + " "] {
        #expect(await ask(wrong) == "NoSuchDevice", "\(wrong)")
      }
      // Another user, to whom somebody has told the secret.
      let stranger = Caller(peer: SocketPeer(process: 1, user: 65_534, groups: []))
      let refusal = await #expect(throws: CallError.self) {
        try await harness.service.onLine(Bridge.GetLineStatus(loan: secret), from: stranger)
      }
      #expect(refusal?.name.hasSuffix(".NoSuchDevice") == true)
      await transport.close()
      try await harness.said("A1 is given back")
      try await eventually("the end of the loan") { await ask(secret) == "NoSuchDevice" }
      // The next loan has another secret.
      try await eventually("A1 is attached again") { try await harness.state("A1") == .attached }
      let (other, second) = try await borrow(harness)
      #expect(other != secret)
      #expect(await ask(secret) == "NoSuchDevice")
      #expect(await ask(other) == nil)
      // Let go of by hand, that ends, too.
      _ = try await client.call(Bridge.Detach(device: "A1"))
      #expect(await ask(other) == "NoSuchDevice")
      await second.close()
    }
  }

  /// However many connections a borrower makes, few requests wait for the line.
  @Test func requestsHaveALimit() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let (secret, transport) = try await borrow(harness)
      let line = SlowLine()
      await harness.service.putIntoLoan(of: "A1", line)
      let waiting = (0..<Loan.requestLimit).map { _ in
        Task { try await harness.client().call(Bridge.GetModemLines(loan: secret)).modem_lines["dtr"] }
      }
      try await line.state.wait { $0.waiting == Loan.requestLimit }
      let client = try await harness.client()
      let refused = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.GetModemLines(loan: secret))
      }
      #expect(refused == "Busy")
      line.state.update { $0.isReleased = true }
      for task in waiting { #expect(try await task.value == true) }
      #expect(try await client.call(Bridge.GetModemLines(loan: secret)).modem_lines["dtr"] == true)
      await transport.close()
    }
  }
}

extension BridgeService {
  /// Takes `line` for that of what is lent.
  fileprivate func putIntoLoan(of id: String, _ line: any LineControl) {
    attachments.ordered.first { $0.device.id == id }?.lending.loans.first?.line = line
  }
}

/// A line that answers when it is released.
private final class SlowLine: LineControl {
  struct State: Sendable {
    var waiting = 0
    var isReleased = false
  }

  let state = Watched(State())
  let timing = LineTiming.instant

  func modemLines() async throws(AccessoryError) -> ModemLines {
    state.update { $0.waiting += 1 }
    do { try await state.wait { $0.isReleased } } catch { throw AccessoryError(.timedOut, "\(error)") }
    return .dtr
  }

  func status() async throws(AccessoryError) -> LineStatus { LineStatus(baudRate: 9_600) }
  func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus { try await status() }
  func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError) {}
  func setBreak(_ isOn: Bool) async throws(AccessoryError) {}
  func purge(_ buffers: LineBuffers) async throws(AccessoryError) {}
}
