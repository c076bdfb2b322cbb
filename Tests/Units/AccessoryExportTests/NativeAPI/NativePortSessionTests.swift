// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ESPHomeAPI
import TestSupport
import Testing

@testable import AccessoryExport

/// What clients of the native API ask of serial ports, as values.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct NativePortSessionTests {
  private static let stick = NativePort(
    name: "Stick",
    usb: .init(
      manufacturer: "Example", product: "USB serial adapter", serial: "SN0001", vendorID: 0x1A86, productID: 0x7523,
      version: 0x0264, interface: 0, interfaceClass: 255, portNumber: 0))
  private static let cable = NativePort(name: "Cable", kind: .rs232, hasModemLines: false)

  private var table = NativePortTable([stick, cable])
  private var session = NativeSession(NativeLine(psk: nil, name: "box", mac: ""), connection: 1)
  private var other = NativeSession(NativeLine(psk: nil, name: "box", mac: ""), connection: 2)

  init() {
    _ = session.take(NativeFrames.frame(1), NativeFrames.box, &table)
    _ = other.take(NativeFrames.frame(1), NativeFrames.box, &table)
  }

  private typealias Answer = (id: Int, fields: ProtobufFields)

  private mutating func ask(_ id: Int, _ numbers: Int...) -> (answers: [Answer], calls: [NativePortCall]) {
    ask(
      NativeFrames.frame(id) { writer in for (index, number) in numbers.enumerated() { writer.put(index + 1, number) } }
    )
  }

  private mutating func ask(_ frame: [UInt8]) -> (answers: [Answer], calls: [NativePortCall]) {
    let outcome = session.take(frame, NativeFrames.box, &table)
    #expect(outcome.end == nil && outcome.commands.isEmpty)
    return (NativeFrames.messages(outcome.bytes), outcome.calls)
  }

  private func write(_ port: Int, _ bytes: [UInt8]) -> [UInt8] {
    NativeFrames.frame(140) {
      $0.put(1, port)
      $0.put(2, bytes)
    }
  }

  private func expect(
    _ result: (answers: [Answer], calls: [NativePortCall]), _ topic: Int, _ status: NativePortStatus,
    at place: SourceLocation = #_sourceLocation
  ) {
    #expect(result.answers.map(\.id) == [147] && result.calls.isEmpty, sourceLocation: place)
    let fields = result.answers.first?.fields
    #expect(fields?.number(2) == UInt32(topic), sourceLocation: place)
    #expect(fields?.number(3) == UInt32(status.rawValue), sourceLocation: place)
  }

  // MARK: - What there is

  @Test mutating func portsAreListed() throws {
    for (id, reply, field) in [(9, 10, 25), (149, 150, 4)] {
      let outcome = session.take(NativeFrames.frame(id), NativeFrames.box, &table)
      #expect(NativeFrames.messages(outcome.bytes).map(\.id) == [reply])
      // Repeated fields: the last one is the cable, without lines that can be set.
      let last = try #require(ProtobufFields(NativeFrames.messages(outcome.bytes)[0].fields.bytes(field)))
      #expect(last.text(1) == "Cable" && last.number(2) == 1 && last.number(3) == 0)
      var writer = ProtobufWriter()
      NativeMessage.put([Self.stick], field, in: &writer)
      #expect(outcome.bytes.contains(writer.bytes))
    }
    var writer = ProtobufWriter()
    NativeMessage.put([Self.stick], 4, in: &writer)
    let outer = try #require(ProtobufFields(writer.bytes[...]))
    let fields = try #require(ProtobufFields(outer.bytes(4)))
    #expect(fields.text(1) == "Stick" && fields.number(2) == 3 && fields.number(3) == 3)
    // Other facts: the client must come again. Another state: it needn't.
    table.ports[0].absence = "it isn't connected"
    #expect(!session.isOutdated(NativeFrames.box, table))
    table.ports[0].hasModemLines = false
    #expect(session.isOutdated(NativeFrames.box, table))
  }

  @Test mutating func identitiesAreThoseOfUSB() throws {
    // Nobody has asked for them.
    #expect(session.identity(Self.stick, of: 0).isEmpty)
    let answers = ask(154).answers
    #expect(answers.map(\.id) == [155, 155])
    let (stick, cable) = (answers[0].fields, answers[1].fields)
    #expect(stick.number(1) == 0 && stick.number(2) == 2 && stick.number(3) == 1)
    #expect(stick.text(4) == "Example" && stick.text(5) == "USB serial adapter" && stick.text(6) == "SN0001")
    let usb = try #require(ProtobufFields(stick.bytes(7)))
    #expect((1...6).map { usb.number($0) } == [0x1A86, 0x7523, 0x0264, 0, 255, 0])
    #expect(cable.number(1) == 1 && cable.number(2) == 1 && cable.number(3) == 1)
    var pulled = Self.stick
    pulled.absence = "it isn't connected"
    let gone = NativeFrames.messages(session.identity(pulled, of: 0))[0].fields
    #expect(gone.number(2) == 2 && gone.number(3) == 0 && gone.text(6) == "" && gone.bytes(7).isEmpty)
  }

  // MARK: - Who has a port

  @Test mutating func oneClientHasAPort() {
    #expect(ask(144, 0, 0).calls == [.init(port: 0, wish: .subscribe)])
    // Again by the same.
    #expect(ask(144, 0, 0).calls == [.init(port: 0, wish: .subscribe)])
    let refused = other.take(NativeFrames.frame(144, 0, 0), NativeFrames.box, &table)
    #expect(refused.calls.isEmpty)
    expect((NativeFrames.messages(refused.bytes), []), 0, .inUse)
    // The other's port is its own.
    #expect(other.take(NativeFrames.frame(144, 1, 0), NativeFrames.box, &table).calls.map(\.port) == [1])
    #expect(table.ports(of: 1) == [0] && table.ports(of: 2) == [1])
    // Whoever hasn't it gives back nothing.
    let given = other.take(NativeFrames.frame(144, 0, 1), NativeFrames.box, &table)
    expect((NativeFrames.messages(given.bytes), given.calls), 1, .ok)
    #expect(table.owner(of: 0) == 1)
    #expect(ask(144, 0, 1).calls == [.init(port: 0, wish: .unsubscribe)])
    #expect(other.take(NativeFrames.frame(144, 0, 0), NativeFrames.box, &table).calls.count == 1)
  }

  @Test mutating func nothingIsDoneWithoutThePort() {
    expect(ask(138, 0, 9_600, 0, 0, 1, 8), 3, .inUse)
    expect(ask(141, 0, 1), 4, .inUse)
    expect(ask(152, 0, 0), 5, .inUse)
    expect(ask(144, 0, 2), 2, .inUse)
    let written = ask(write(0, [1, 2]))
    #expect(written.answers.isEmpty && written.calls.isEmpty)
    // The lines may be looked at.
    #expect(ask(142, 0).calls == [.init(port: 0, wish: .getLines)])
  }

  @Test mutating func anUnknownPortIsInvalid() {
    for index in [2, 4_000_000_000] {
      for (id, topic) in [(138, 3), (141, 4), (152, 5)] { expect(ask(id, index, 1), topic, .invalid) }
      for kind in 0...7 { expect(ask(144, index, kind), kind, .invalid) }
      let written = ask(write(index, [1]))
      #expect(written.answers.isEmpty && written.calls.isEmpty)
      // A client of an older version than answers gets none.
      #expect(ask(142, index).answers.isEmpty)
    }
    _ = ask(1, 0, 1, 18)
    let answer = ask(142, 2).answers
    #expect(answer.map(\.id) == [143] && answer[0].fields.number(3) == UInt32(NativePortStatus.invalid.rawValue))
  }

  @Test mutating func onlySomeRequestsAreRequests() {
    for kind in 3...5 { expect(ask(144, 0, kind), kind, .invalid) }
    for kind in [6, 99] { expect(ask(144, 0, kind), kind, .notSupported) }
  }

  @Test mutating func anAbsentPortTellsWhy() {
    table.ports[0].absence = "Stick isn't connected"
    let result = ask(144, 0, 0)
    expect(result, 0, .error)
    #expect(result.answers[0].fields.text(4) == "Stick isn't connected" && table.owner(of: 0) == nil)
  }

  // MARK: - Settings

  @Test mutating func settingsAreCheckedBeforeAnyIsMade() {
    _ = ask(144, 0, 0)
    for bad in [
      [0, 0, 0, 1, 8], [9_600, 0, 0, 0, 8], [9_600, 0, 0, 3, 8], [9_600, 0, 0, 1, 4], [9_600, 0, 0, 1, 9],
      [9_600, 0, 3, 1, 8],
    ] {
      expect(ask(138, 0, bad[0], bad[1], bad[2], bad[3], bad[4]), 3, .invalid)
    }
    let good = ask(138, 0, 57_600, 1, 2, 2, 7)
    #expect(
      good.calls == [
        .init(
          port: 0,
          wish: .configure(
            LineChanges(baudRate: 57_600, dataBits: 7, parity: .odd, stopBits: 2, flowControl: .hardware)))
      ])
    #expect(
      ask(138, 0, 9_600, 0, 1, 1, 8).calls.map(\.wish) == [
        .configure(
          LineChanges(baudRate: 9_600, dataBits: 8, parity: .even, stopBits: 1, flowControl: LineFlowControl.none))
      ])
  }

  @Test mutating func onlyLinesThatAreThereAreRaised() {
    _ = ask(144, 0, 0)
    _ = ask(144, 1, 0)
    #expect(ask(141, 0, 1).calls.map(\.wish) == [.setLines(.rts)])
    #expect(ask(141, 0, 2).calls.map(\.wish) == [.setLines(.dtr)])
    #expect(ask(141, 0, 3).calls.map(\.wish) == [.setLines([.rts, .dtr])])
    expect(ask(141, 0, 4), 4, .notSupported)
    expect(ask(141, 1, 1), 4, .notSupported)
    #expect(ask(141, 1, 0).calls.map(\.wish) == [.setLines([])])
  }

  @Test mutating func onlyRawBytesPass() {
    _ = ask(144, 0, 0)
    expect(ask(152, 0, 0), 5, .ok)
    expect(ask(152, 0, 1), 5, .notSupported)
    expect(ask(152, 0, 2), 5, .invalid)
  }

  @Test mutating func whatComesTogetherStaysInOrder() {
    let frames =
      NativeFrames.frame(144, 0, 0) + write(0, [1, 2]) + NativeFrames.frame(144, 0, 2) + write(0, [3])
      + NativeFrames.frame(144, 0, 1) + write(0, [4])
    #expect(
      ask(frames).calls.map(\.wish) == [.subscribe, .write([1, 2]), .flush, .write([3]), .unsubscribe])
  }

  /// Frames as ESPHome's own are.
  @Test mutating func framesAreByteForByte() {
    #expect(session.frame(NativeMessage.answer(.configure, of: 1, .ok)) == [0, 4, 0x93, 1, 8, 1, 0x10, 3])
    #expect(session.frame(NativeMessage.answer(.subscribe, of: 0, .inUse)) == [0, 2, 0x93, 1, 0x18, 5])
    #expect(session.frame(NativeMessage.data([0xDD, 0xA5], from: 1)) == [0, 6, 0x8B, 1, 8, 1, 0x12, 2, 0xDD, 0xA5])
    #expect(ask([0, 0, 0x90, 1]).calls.map(\.wish) == [.subscribe])
    _ = ask(144, 1, 0)
    #expect(ask([0, 10, 0x8A, 1, 8, 1, 0x10, 0x80, 0x84, 7, 0x28, 1, 0x30, 8]).calls.map(\.port) == [1])
  }
}
