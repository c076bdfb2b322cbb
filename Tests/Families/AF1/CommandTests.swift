// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import Testing

@testable import FamilyAF1

/// Commands, refusals and header bits.
@Suite struct CommandTests {
  @Test func nineCommandsAreIdempotent() {
    let idempotent = (UInt8.min...UInt8.max).filter { AF1Command(rawValue: $0).isIdempotent }
    #expect(idempotent == [0x00, 0x01, 0x02, 0x03, 0x10, 0x11, 0x12, 0x13, 0x7E])
  }

  @Test func everyAF1CommandHasANameOfItsOwn() {
    #expect(AF1Command.hello.name == "HELLO")
    #expect(AF1Command.transferAbort.name == "TRANSFER_ABORT")
    #expect(AF1Command(rawValue: 0x0A).name == "0A")
    #expect(AF1Command(rawValue: 0x55).name == "55")
    let named = (UInt8.min...UInt8.max).map { AF1Command(rawValue: $0).name }
    #expect(Set(named).count == 256)
    #expect(AF1Command.accessoryRange.contains(0x55))
    #expect(!AF1Command.accessoryRange.contains(AF1Command.echo.rawValue))
  }

  @Test func reasonsOfRefusalsHaveTheirNumbersAndTexts() {
    let retryable = (UInt8.min...UInt8.max).filter { AF1RefusalReason(rawValue: $0).isRetryable }
    #expect(retryable == [2, 5])
    let reasons: [AF1RefusalReason] = [
      .payloadDamaged, .unknownCommand, .tooLong, .busy, .badArgument, .unsupportedVersion,
    ]
    #expect(reasons.map(\.rawValue) == [2, 3, 4, 5, 6, 7])
    #expect(AF1RefusalReason(rawValue: 1).description == "reason 1")
    #expect(Set(reasons.map(\.description)).count == 6)
    #expect(AF1RefusalReason(.whole) == nil)
    #expect(AF1RefusalReason(.payloadDamaged) == .payloadDamaged)
    #expect(AF1RefusalReason(.tooLong) == .tooLong)
    #expect(AF1RefusalReason(.otherVersion) == .unsupportedVersion)
    #expect(AF1RefusalReason(.malformed) == .payloadDamaged)
  }

  @Test func flagsHaveTheBitsOfTheProtocol() {
    #expect(AF1Header.Flags.replyWanted.rawValue == 1)
    #expect(AF1Header.Flags.reply.rawValue == 2)
    #expect(AF1Header.Flags.refused.rawValue == 4)
    #expect(AF1Header.Flags.event.rawValue == 8)
    #expect(AF1Header.Flags(rawValue: 0xFF).rawValue == 0x0F)
  }

  @Test func everyHeaderRoundTrips() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<500 {
      let header = AF1Header(
        flags: .init(rawValue: UInt8.random(in: 0...15, using: &random)),
        command: .init(rawValue: UInt8.random(in: 0...255, using: &random)),
        number: UInt16.random(in: 0...UInt16.max, using: &random), payloadLength: 3)
      let wire = frame(header.number, [1, 2, 3], command: header.command, flags: header.flags)
      #expect(decode(wire).frames.map(\.header) == [header])
    }
  }
}
