// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import FamilyAF1

/// How a transfer ends whose pieces the accessory doesn't answer.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct TransferFlightTests {
  enum End: CaseIterable, Sendable {
    case closed, unplugged, taskCancelled

    var kind: AccessoryError.Kind { self == .unplugged ? .disconnected : .cancelled }
  }

  /// Nobody may wait for pieces that the link has given up.
  @Test(arguments: End.allCases, [1, 4] as [UInt8])
  func anEndFailsATransferBetweenPieces(end: End, window: UInt8) async throws {
    let beginning = try AF1TransferBeginReply(chunkSize: 10, resumeOffset: 0).encoded()
    let scripted = ScriptedAccessory { request in
      switch request.command {
      case .hello: .reply([1, 0xEE, 0xFF, 0xC0, 0, 0x10, window, 0])
      case .transferBegin: .reply(beginning)
      case .transferAbort: .reply([])
      default: .silence
      }
    }
    let transport = scripted.inMemory(label: "gadget")
    let accessory = try await AF1Accessory.open(AccessorySession(transport), clock: ManualClock())
    let failure = Watched<AccessoryError.Kind?>(nil)
    let task = Task {
      var transfer = AF1Transfer(MemoryFile([UInt8](repeating: 7, count: 100)), name: "new.bin")
      do throws(AccessoryError) { try await transfer.run(on: accessory) } catch {
        failure.update { $0 = error.kind }
      }
    }
    try await scripted.requests.wait { $0.count { $0.command == .transferData } == Int(window) }
    switch end {
    case .closed: await accessory.close()
    case .unplugged: transport.unplug()
    case .taskCancelled: task.cancel()
    }
    try await failure.wait { $0 == end.kind }
    await accessory.close()
  }
}
