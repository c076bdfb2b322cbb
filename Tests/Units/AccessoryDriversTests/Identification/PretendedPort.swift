// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import AccessoryTesting
import TestSupport

@testable import AccessoryDrivers

/// A port with an accessory that answers only at its own rate, and only to its own request.
final class PretendedPort: Sendable {
  /// What was written, with the rate and the modem lines at that time.
  struct Written: Sendable, Hashable {
    var rate: UInt32
    var lines: ModemLines?
    var bytes: [UInt8]
  }

  let line: MemoryLine?
  let clock: JumpingClock
  let session: AccessorySession
  let transport: MemoryTransport
  private let record: Watched<[Written]>

  var written: [Written] { record.value }

  /// `answer` is what the accessory says to bytes at a rate (0 where there is no line); nil: it keeps silent.
  init(
    modemLines: ModemLines? = [.dtr, .rts], hasLine: Bool = true, lateness: Duration = .zero,
    answer: @escaping @Sendable (_ rate: UInt32, _ bytes: [UInt8]) -> [UInt8]? = { _, _ in nil }
  ) {
    let line = hasLine ? MemoryLine(LineStatus(baudRate: 300, modemLines: modemLines)) : nil
    let record = Watched<[Written]>([])
    (self.line, self.record, clock) = (line, record, JumpingClock(lateness: lateness))
    transport = MemoryTransport(line: line) { transport, bytes in
      let facts = line?.state.value.status
      let rate = facts?.baudRate ?? 0
      record.update { $0.append(Written(rate: rate, lines: facts?.modemLines, bytes: bytes)) }
      if let answer = answer(rate, bytes) { transport.receive(answer) }
    }
    session = AccessorySession(transport)
  }

  func identify(_ plan: IdentificationPlan) async throws(AccessoryError) -> IdentificationOutcome {
    try await Identifier.run(plan, over: session, clock: clock)
  }
}

extension IdentificationPlan {
  /// All built-in kinds, or these, at a line unless said otherwise.
  static func test(_ kinds: [String]? = nil, port: PortKind = .line) -> IdentificationPlan {
    IdentificationPlan(.builtIn, port: port) { kinds?.contains($0) ?? true }
  }

  /// All that it may send, in its order: a row for each sending.
  var announced: [PretendedPort.Written] {
    steps.flatMap { step in
      (0..<step.times).flatMap { _ in
        step.sends.map { PretendedPort.Written(rate: step.line?.baudRate ?? 0, lines: nil, bytes: $0.bytes) }
      }
    }
  }
}
