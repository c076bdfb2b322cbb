// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

@Suite struct TelnetTests {
  private func decode(_ pieces: [[UInt8]]) -> [TelnetDecoder.Event] {
    var decoder = TelnetDecoder()
    var events: [TelnetDecoder.Event] = []
    for piece in pieces { decoder.decode(piece, into: &events) }
    // Data may come in any pieces.
    return events.reduce(into: []) { joined, event in
      if case .data(let old)? = joined.last, case .data(let new) = event {
        joined[joined.count - 1] = .data(old + new)
      } else {
        joined.append(event)
      }
    }
  }

  /// All that there is in one stream.
  private let stream: [UInt8] =
    [1, 0xFF, 0xFF, 2] + [0xFF, 0xFB, 0x2C, 0xFF, 0xFD, 0x00] + [0xFF, 0xFA, 0x2C, 0x01, 0, 1, 0xC2, 0, 0xFF, 0xF0]
    + [0xFF, 0xFA, 0x2C, 0x0B, 0xFF, 0xFF, 0xFF, 0xF0] + [3, 0xFF, 0xF3, 0x0D, 0x0A, 0x00] + [
      0xFF, 0xF6, 0xFF, 0xF9, 4,
    ]

  private let events: [TelnetDecoder.Event] = [
    .data([1, 0xFF, 2]), .option(.will, 44), .option(.do, 0), .subnegotiation(44, [1, 0, 1, 0xC2, 0]),
    .subnegotiation(44, [11, 255]), .data([3]), .command(.lineBreak), .data([0x0D, 0x0A, 0]), .command(.areYouThere),
    .data([4]),
  ]

  @Test func telnetIsReadTheSameHoweverItIsCut() {
    #expect(decode([stream]) == events)
    #expect(decode(stream.map { [$0] }) == events)
    for index in stream.indices {
      #expect(decode([Array(stream[..<index]), Array(stream[index...])]) == events, "split at \(index)")
    }
  }

  @Test func allBytesPassThroughTelnet() {
    let all = (0...255).map { UInt8($0) }
    #expect(decode([Telnet.escaped(all)]) == [.data(all)])
    #expect(decode([Telnet.subnegotiation(.comPort, all.suffix(100))]) == [.subnegotiation(44, all.suffix(100))])
  }

  @Test func whatDoesNotEndIsBounded() {
    var decoder = TelnetDecoder()
    var events: [TelnetDecoder.Event] = []
    decoder.decode([0xFF, 0xFA, 0x2C], into: &events)
    for _ in 0..<1_000 { decoder.decode([UInt8](repeating: 7, count: 1_000), into: &events) }
    #expect(events.isEmpty && decoder.pendingCount <= TelnetDecoder.longestSubnegotiation)
    // It is passed over, and what follows is heard.
    decoder.decode([0xFF, 0xF0, 5], into: &events)
    #expect(events == [.data([5])])
    decoder.decode([0xFF, 0xFA, 0x2C, 8, 0xFF, 0xF0], into: &events)
    #expect(events.last == .subnegotiation(44, [8]))
  }

  @Test func aTelnetSubnegotiationWithoutEndIsLeft() {
    #expect(decode([[0xFF, 0xFA, 0x2C, 1, 0xFF, 0xFB, 0x2C, 9]]) == [.option(.will, 44), .data([9])])
    #expect(decode([[0xFF, 0xFA, 0xFF, 0xF0, 9]]) == [.data([9])])
  }

  @Test func optionsAreAgreedOnce() {
    var options = TelnetOptions(ours: [.binary], theirs: [.comPort])
    #expect(options.offer(.binary) == [0xFF, 0xFB, 0])
    #expect(options.offer(.binary) == [])
    #expect(options.receive(.do, 0) == [] && options.isOurs(.binary))
    #expect(options.receive(.do, 0) == [])
    #expect(options.receive(.will, 44) == [0xFF, 0xFD, 44] && options.isTheirs(.comPort))
    #expect(options.receive(.will, 44) == [])
    #expect(options.receive(.wont, 44) == [0xFF, 0xFE, 44] && !options.isTheirs(.comPort))
    #expect(options.receive(.wont, 44) == [])
    // What isn't known is refused.
    #expect(options.receive(.do, 31) == [0xFF, 0xFC, 31] && options.receive(.will, 31) == [0xFF, 0xFE, 31])
    #expect(options.receive(.dont, 31) == [] && options.receive(.wont, 31) == [])
    // Two ends that both ask agree at once.
    var asking = TelnetOptions(ours: [], theirs: [.comPort])
    #expect(asking.ask(.comPort) == [0xFF, 0xFD, 44])
    #expect(asking.receive(.will, 44) == [] && asking.isTheirs(.comPort))
  }

  @Test func comPortMessagesAreEncodedAndReadBack() {
    let vectors: [(COMPortMessage, ask: [UInt8], answer: [UInt8])] = [
      (
        .baudRate(115_200), [0xFF, 0xFA, 0x2C, 1, 0, 1, 0xC2, 0, 0xFF, 0xF0],
        [0xFF, 0xFA, 0x2C, 0x65, 0, 1, 0xC2, 0, 0xFF, 0xF0]
      ),
      (.dataSize(8), [0xFF, 0xFA, 0x2C, 2, 8, 0xFF, 0xF0], [0xFF, 0xFA, 0x2C, 0x66, 8, 0xFF, 0xF0]),
      (.control(8), [0xFF, 0xFA, 0x2C, 5, 8, 0xFF, 0xF0], [0xFF, 0xFA, 0x2C, 0x69, 8, 0xFF, 0xF0]),
      (.purge(3), [0xFF, 0xFA, 0x2C, 0x0C, 3, 0xFF, 0xF0], [0xFF, 0xFA, 0x2C, 0x70, 3, 0xFF, 0xF0]),
      (
        .modemStateMask(255), [0xFF, 0xFA, 0x2C, 0x0B, 0xFF, 0xFF, 0xFF, 0xF0],
        [0xFF, 0xFA, 0x2C, 0x6F, 0xFF, 0xFF, 0xFF, 0xF0]
      ),
      (.modemState(0x33), [0xFF, 0xFA, 0x2C, 7, 0x33, 0xFF, 0xF0], [0xFF, 0xFA, 0x2C, 0x6B, 0x33, 0xFF, 0xF0]),
      (.suspend, [0xFF, 0xFA, 0x2C, 8, 0xFF, 0xF0], [0xFF, 0xFA, 0x2C, 0x6C, 0xFF, 0xF0]),
    ]
    for (message, ask, answer) in vectors {
      #expect(message.bytes(fromServer: false) == ask && message.bytes(fromServer: true) == answer)
      #expect(COMPortMessage(message.payload(fromServer: false), fromServer: false) == message)
      #expect(COMPortMessage(message.payload(fromServer: true), fromServer: true) == message)
    }
    #expect(COMPortMessage([1, 8], fromServer: false) == .baudCode(8))
    #expect(COMPortMessage([7], fromServer: false) == .modemState(0))
    for nonsense: [UInt8] in [[], [1], [2], [13, 1], [99], [200, 1]] {
      #expect(COMPortMessage(nonsense, fromServer: false) == nil, "\(nonsense)")
    }
    #expect(COMPortMessage([5, 8], fromServer: true) == nil)
  }

  @Test func changesOfModemLinesHaveTheirBits() {
    let before: COMPortModemState = [.cts, .ring]
    #expect(COMPortModemState([.cts, .dsr]).changed(since: before) == [.cts, .dsr, .dsrChanged, .ringEnded])
    #expect(before.changed(since: before) == before)
    #expect(COMPortModemState([.cts, .dsr]).changed(since: []).rawValue == 0x33)
  }
}
