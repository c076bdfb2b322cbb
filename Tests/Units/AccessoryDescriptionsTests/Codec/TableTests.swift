// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols

/// Tables whose heads say where the columns are.
@Suite struct TableTests {
  private typealias Table = ProtocolDescription.Table

  private static let table: Table = {
    func number(_ name: String, suffix: String = "") -> ProtocolDescription.Field {
      var field = ProtocolDescription.Field(name, .decimal(suffix: suffix))
      (field.isList, field.dashesMeanUnknown) = (true, true)
      return field
    }
    func text(_ name: String) -> ProtocolDescription.Field {
      var field = ProtocolDescription.Field(name, .plainText)
      (field.isList, field.dashesMeanUnknown) = (true, true)
      return field
    }
    return Table(
      lineEnd: Array("\n".utf8),
      columns: [
        .init("Volt", number("volts")), .init("Base.St", text("states")),
        .init("Coulomb", number("charges", suffix: "%")),
        .init("Time", text("times")), .init("MosTempr", isOptional: true, number("mosfets")),
      ])
  }()

  private func read(_ text: String) -> DecodedMessage {
    var decoding = Decoding(0, [:])
    decoding.readTable(Self.table, of: Array(text.utf8))
    return decoding.result
  }

  private func list(_ name: String, _ message: DecodedMessage) -> String? { message[name]?.value.asExampleText }

  private static let long = """
    pwr\r
    @\r
    Power Volt   Curr   Tempr  Base.St  Volt.St  Coulomb  Time                 B.V.St   B.T.St   MosTempr M.T.St  \r\r
    1     49961  0      29200  Idle     Normal   98%      2026-07-12 10:40:33  Normal   Normal  28500    Normal  \r\r
    2     -      -      -      Absent   -        -        -                    -        -       \r\r
    Command completed successfully\r\r
    $$\r\r
    """

  /// The head of a column says where it is: one has a time of two words, the other begins left of its head.
  @Test func columnsAreReadByThePlacesOfTheirHeads() {
    let message = read(Self.long)
    #expect(list("volts", message) == "49961, unknown")
    #expect(list("states", message) == "Idle, Absent")
    #expect(list("charges", message) == "98, unknown")
    #expect(list("times", message) == "2026-07-12 10:40:33, unknown")
    #expect(list("mosfets", message) == "28500, unknown", "as long as the others")
    #expect(message.problemCount == 0)
  }

  /// Older firmware has fewer columns, in another order.
  @Test func columnsMayBeMissingOrInAnotherOrder() {
    let message = read("Base.St  Time        Coulomb  Volt\nIdle     now and it  7%       12\n\n")
    #expect(list("volts", message) == "12" && list("times", message) == "now and it" && list("charges", message) == "7")
    #expect(message["mosfets"] == nil)
  }

  /// Numbers at the right edges of their heads.
  @Test func numbersMayStandAtTheirHeadsRightEdge() {
    let message = read(
      "  Base.St   Volt Coulomb  Time\n     Idle  12345    100%     1\nCharging      1      2%     2\n")
    #expect(list("volts", message) == "12345, 1" && list("charges", message) == "100, 2")
    #expect(list("states", message) == "Idle, Charging" && list("times", message) == "1, 2")
  }

  @Test func aTableWithoutAHeadIsUnknown() {
    let message = read("Volt Coulomb Time\n1 2 3\n")
    #expect(message.problemCount == 4 && list("volts", message) == "unknown")
    #expect(read("").problemCount == 4)
    #expect(read("Volt Base.St Coulomb Time").values.isEmpty, "a head without lines")
  }

  @Test func aTableKeepsTheFirst255Lines() {
    let message = read("Volt Base.St Coulomb Time\n" + String(repeating: "1    x       2%      3\n", count: 1_000))
    #expect(message["volts"]?.value.asExampleText.split(separator: ",").count == 255)
  }

  @Test func aTableIsReadAsItWasWritten() {
    let values: [String: PlainValue] = [
      "volts": .list([.whole(49_961), .nothing]), "states": .list([.text("Idle"), .text("Absent")]),
      "charges": .list([.whole(98), .whole(5)]), "times": .list([.text("2026-07-12 10:40:33"), .nothing]),
    ]
    let text = TextWriting.table(Self.table, values)
    let message = read(String(decoding: text, as: UTF8.self))
    for (name, value) in values { #expect(message[name]?.value == value, "\(name)") }
  }
}
