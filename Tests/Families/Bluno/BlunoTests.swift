// SPDX-License-Identifier: Apache-2.0

import FamilyBluno
import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct BlunoTests {
  static let vectors: [(BlunoMessage, [UInt8])] = [
    (.task(0), [0x30]), (.task(1), [0x31]), (.task(2), [0x32]), (.task(3), [0x33]), (.task(4), [0x34]),
    (.key(.up), [0x66]), (.key(.down), [0x62]), (.key(.left), [0x6C]), (.key(.right), [0x72]), (.key(.stop), [0x73]),
    (.key(.f1), [0x77]), (.key(.f2), [0x78]), (.key(.f3), [0x79]), (.key(.f4), [0x7A]),
    (.speed(128), [0x3C, 0x31, 0x32, 0x38, 0x3E]), (.speed(0), [0x3C, 0x30, 0x3E]),
    (.speed(-5), [0x3C, 0x2D, 0x35, 0x3E]),
    (.text("?"), [0x3F]), (.text("é"), [0xC3, 0xA9]),
  ]

  @Test(arguments: vectors) func aBlunoMessageIsEncodedAndReadBack(message: BlunoMessage, wire: [UInt8]) throws {
    #expect(try message.encoded() == wire)
    #expect(try message.encoded(endingLine: true) == wire + [0x0A])
    var decoder = BlunoDecoder()
    #expect(decoder.decode(wire) == [message] && decoder.unfinishedByteCount == 0)
    #expect(BlunoMessage(line: wire) == message)
    #expect(BlunoMessage(line: wire + [0x0D, 0x0A]) == message)
  }

  @Test func linesAreTasksOrTexts() throws {
    #expect(try BlunoMessage.task(12).encoded() == Array("12".utf8))
    #expect(BlunoMessage(line: Array("12\n".utf8)) == .task(12))
    #expect(BlunoMessage(line: Array("hello".utf8)) == .text("hello") && BlunoMessage(line: []) == .text(""))
    #expect(BlunoMessage(line: Array("<12x>".utf8)) == .text("<12x>"))
    #expect(
      BlunoMessage(line: Array("<".utf8)) == .text("<") && BlunoMessage(line: Array("10000".utf8)) == .text("10000"))
    #expect(try BlunoMessage.text("").encoded(endingLine: true) == [0x0A])
    #expect(throws: BlunoError.empty) { try BlunoMessage.text("").encoded() }
    #expect(throws: BlunoError.self) { try BlunoMessage.task(-1).encoded() }
    #expect(throws: BlunoError.self) { try BlunoMessage.task(10_000).encoded() }
    #expect(throws: BlunoError.self) { try BlunoMessage.speed(1_000_000_000).encoded() }
    #expect(!BlunoMessage.isShown([]) && !BlunoMessage.isShown([0x0A]))
    #expect(BlunoMessage.isShown([0x0A, 0x0A]) && BlunoMessage.isShown([0x41]))
  }

  private func read(_ bytes: [UInt8]) -> [BlunoMessage] {
    var decoder = BlunoDecoder()
    return decoder.decode(bytes) + decoder.finish()
  }

  @Test func messagesAreReadCharacterByCharacter() {
    #expect(read(Array("f<128>s1".utf8)) == [.key(.up), .speed(128), .key(.stop), .task(1)])
    #expect(read(Array("12".utf8)) == [.task(1), .task(2)])
    #expect(read(Array("<12<7>".utf8)) == [.text("<12"), .speed(7)])
    #expect(read(Array("<1f>".utf8)) == [.text("<1"), .key(.up), .text(">")])
    #expect(read(Array("<>".utf8)) == [.text("<"), .text(">")])
    #expect(read(Array("<->".utf8)) == [.text("<-"), .text(">")])
    #expect(read(Array("<1-2>".utf8)) == [.text("<1"), .text("-"), .task(2), .text(">")])
    #expect(read(Array("<999999999>".utf8)) == [.speed(999_999_999)])
    #expect(read(Array("<-999999999>".utf8)) == [.speed(-999_999_999)])
    #expect(read(Array("<1234567890>".utf8)).first == .text("<123456789"))
    #expect(
      read([0xC3, 0x66, 0xFF, 0xE2, 0x82]) == [.text("\u{FFFD}"), .key(.up), .text("\u{FFFD}"), .text("\u{FFFD}")])
    #expect(read(Array("🤖f".utf8)) == [.text("🤖"), .key(.up)])
  }

  @Test(arguments: [UInt64](1...40)) func blunoMessagesAreReadTheSameInAnyPieces(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let parts = ["<", ">", "1", "23", "-", "f", "s", "é", "🤖", "\n", "<5>", "<-77>"]
    var stream: [UInt8] = []
    for _ in 0..<50 { stream += Array((parts.randomElement(using: &random) ?? "").utf8) }
    if seed % 2 == 0 { stream += random.bytes(40) }
    let expected = read(stream)
    for cut in 0...stream.count {
      var decoder = BlunoDecoder()
      let messages = decoder.decode(Array(stream[..<cut])) + decoder.decode(Array(stream[cut...]))
      #expect(messages + decoder.finish() == expected)
    }
    var decoder = BlunoDecoder()
    var messages: [BlunoMessage] = []
    for byte in stream {
      messages += decoder.decode([byte])
      #expect(decoder.unfinishedByteCount <= 11)
    }
    #expect(messages + decoder.finish() == expected)
  }

  @Test func keysCanBeChangedToUnusedCharacters() throws {
    var keys = BlunoKeyMap()
    #expect(BlunoKey.allCases.map { keys[$0] } == ["f", "b", "l", "r", "s", "w", "x", "y", "z"])
    try keys.set(.up, to: "8")
    try keys.set(.up, to: "8")
    #expect(try BlunoMessage.key(.up).encoded(keys: keys) == [0x38])
    var decoder = BlunoDecoder(keys: keys)
    #expect(decoder.decode(Array("8f9".utf8)) == [.key(.up), .text("f"), .task(9)])
    #expect(throws: BlunoError.characterInUse("s", by: .stop)) { try keys.set(.up, to: "s") }
    for character in ["<", ">", "\n", "\r\n", "é", "\u{1B}"] as [Character] {
      #expect(throws: BlunoError.badCharacter(character)) { try keys.set(.f1, to: character) }
    }
    let exchanged = try BlunoKeyMap([.left: "r", .right: "l"])
    #expect(exchanged[.left] == "r" && exchanged[.right] == "l" && exchanged[.up] == "f")
    #expect(throws: BlunoError.self) { try BlunoKeyMap([.left: "r"]) }
    keys.reset()
    #expect(keys == BlunoKeyMap())
  }

  @Test func theListOfTasksCanBeEdited() throws {
    var list = BlunoTaskList()
    #expect(list.tasks.map(\.name) == ["Status", "Remote", "Patrol", "Follow IR", "Avoid IR"])
    #expect(list.tasks.map(\.number) == [0, 1, 2, 3, 4])
    #expect(try list.append(named: "Dance").number == 5)
    try list.append(BlunoTask(number: 12, name: "Sleep"))
    #expect(throws: BlunoError.numberInUse(12)) { try list.append(BlunoTask(number: 12, name: "x")) }
    #expect(throws: BlunoError.self) { try BlunoTask(number: -1, name: "x") }
    #expect(list.move(12, to: 0) && !list.move(99, to: 0) && list.move(0, to: 999))
    #expect(list.tasks.map(\.number) == [12, 1, 2, 3, 4, 5, 0])
    #expect(list.move(4, to: -3) && list.rename(1, to: "Drive") && !list.rename(99, to: "x"))
    #expect(list.remove(2) && !list.remove(2) && list.task(1)?.name == "Drive" && list.task(2) == nil)
    #expect(list.tasks.map(\.number) == [4, 12, 1, 3, 5, 0])
    #expect(try list.append(named: "Again").number == 2)
    #expect(try BlunoTaskList(list.tasks) == list)
    list.reset()
    #expect(list == BlunoTaskList() && list.tasks == BlunoTask.defaults)
  }
}
