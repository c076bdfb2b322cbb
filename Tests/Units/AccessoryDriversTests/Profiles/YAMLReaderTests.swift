// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryConfiguration
@testable import AccessoryDrivers

/// What is taken of YAML, where each thing begins, and what is refused.
@Suite struct YAMLReaderTests {
  private func error(_ bytes: [UInt8]) -> YAMLError? {
    do throws(YAMLError) {
      _ = try YAMLReader.read(bytes)
      return nil
    } catch {
      return error
    }
  }

  private func error(_ text: String) -> YAMLError? { error(Array(text.utf8)) }

  @Test func valuesAreReadWithTheirPlaces() throws {
    let text = """
      # a remark
      name: "Gérät"
      list: [a, 'b # c',
        {d: e}]

      deep:
        - f: g
          h:
      """
    guard case .mapping(let entries) = try YAMLReader.read(Array(text.utf8)).content else {
      return #expect(Bool(false), "it is a mapping")
    }
    #expect(entries.map(\.key) == ["name", "list", "deep"])
    #expect(entries.map(\.mark.line) == [2, 3, 6])
    #expect(
      entries[0].value == YAMLNode(content: .scalar("Gérät"), mark: YAMLMark(line: 2, column: 7), style: .doubleQuoted))
    guard case .sequence(let list) = entries[1].value.content else { return #expect(Bool(false), "it is a list") }
    #expect(list[1] == YAMLNode(content: .scalar("b # c"), mark: YAMLMark(line: 3, column: 11), style: .literal))
    #expect(list[2].mark == YAMLMark(line: 4, column: 3))
    guard case .sequence(let deep) = entries[2].value.content, case .mapping(let last) = deep[0].content else {
      return #expect(Bool(false), "it is a list of mappings")
    }
    #expect(last.map(\.key) == ["f", "h"])
    #expect(last[1].mark == YAMLMark(line: 8, column: 5))
    #expect(last[1].value.content == .scalar(""))
  }

  @Test(
    arguments: [
      ("", 1, 1, "nothing in it"),
      ("# only a remark\n", 2, 1, "nothing in it"),
      ("a: 1\nb: &x 2", 2, 4, "anchors"),
      ("a: 1\nb: *x", 2, 4, "aliases"),
      ("a: &x [1]\n", 1, 4, "anchors"),
      ("a: !!int 1", 1, 4, "tags"),
      ("a: ! 1", 1, 4, "tags"),
      ("--- !thing\na: 1", 1, 5, "tags"),
      ("a:\n  <<: {b: 1}", 2, 3, "merge keys"),
      ("a: 1\nb: 2\n\"a\": 3", 3, 1, "line 1"),
      ("[1]: 2", 1, 1, "a key is text"),
      ("? {a: b}\n: 2", 1, 3, "a key is text"),
      ("a: 1\n---\nb: 2", 2, 1, "second document"),
      ("a: [1, 2", 2, 1, "not valid YAML"),
      ("a: 1\n b: 2", 2, 3, "the line has 1 blank before it, and the line above, with 0, has its value already"),
      ("a: 1\n\tb: 2", 2, 1, "indented with a tab"),
      ("a:\n    b: 1\n  c: 2", 3, 3, "2 blanks before it, and those above that it could belong to have 0 or 4"),
      ("a:\n  - b: 1\n   c: 2", 3, 4, "those above that it could belong to have 0 or 2 or 4"),
      ("a: 1 # one\n  # a remark\n   b: 2", 3, 4, "has its value already"),
      ("a: \"x\\q\"", 1, 6, "not valid YAML"),
    ] as [(String, Int, Int, String)])
  func wrongYAMLIsRefusedWithItsPlace(text: String, line: Int, column: Int, expectation: String) throws {
    let error = try #require(self.error(text))
    #expect(error.message.contains(expectation), "\(error.message)")
    #expect(error.mark == YAMLMark(line: line, column: column))
  }

  /// Ten lines that would mean a thousand million strings.
  @Test func aBillionLaughsAreRefused() throws {
    var text = "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    for (name, last) in zip("bcdefghij", "abcdefghi") {
      text += "\(name): &\(name) [" + Array(repeating: "*\(last)", count: 10).joined(separator: ",") + "]\n"
    }
    #expect(try #require(self.error(text)).message.contains("anchors"))
  }

  @Test func yamlHasLimitsOfDepthCountAndSize() throws {
    let nested = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
    #expect(error(nested(YAMLReader.depthLimit)) == nil)
    #expect(try #require(self.error(nested(YAMLReader.depthLimit + 1))).mark.column == YAMLReader.depthLimit + 1)
    #expect(try #require(self.error(String(repeating: "[", count: 60_000))).message.contains("nested more than"))
    let many = { "[" + String(repeating: "a,", count: $0) + "]" }
    #expect(error(many(YAMLReader.nodeLimit - 1)) == nil)
    #expect(try #require(self.error(many(YAMLReader.nodeLimit))).message.contains("values"))
    let comment = { [UInt8](repeating: UInt8(ascii: "#"), count: $0) + Array("\na: b".utf8) }
    #expect(error(comment(YAMLReader.sizeLimit - 5)) == nil)
    #expect(try #require(self.error(comment(YAMLReader.sizeLimit - 4))).message == "it is larger than 64 KiB")
  }

  /// An initializer that throws when all is set runs deinit, too: that freed twice what was never made.
  @Test func aParserWithoutMemoryFails() {
    let error = #expect(throws: YAMLError.self) { try YAMLEvents(Array("a: b".utf8)) { _ in 0 } }
    #expect(error?.message == "there is no memory to read it")
  }

  @Test func bytesThatAreNotUTF8AreNoYAML() throws {
    let error = try #require(self.error(Array("a: 1\nbé: ".utf8) + [0xFF, 0xFE]))
    #expect(error.message.contains("UTF-8"))
    #expect(error.mark.line == 2)
    #expect(try #require(self.error(Array("a: \u{1}".utf8))).message.contains("UTF-8"))
    #expect(self.error([0]) != nil)
    // As UTF-16 this would be "a: b".
    #expect(self.error([0xFF, 0xFE, 0x61, 0, 0x3A, 0, 0x20, 0, 0x62, 0]) != nil)
  }

  /// As editors on Windows write it. It is no part of the first key, and moves no column.
  @Test func aByteOrderMarkIsSkipped() throws {
    let text = Array("name: x\nmatch: {serial: A}\n".utf8)
    let plain = try YAMLReader.read(text)
    #expect(try YAMLReader.read([0xEF, 0xBB, 0xBF] + text) == plain)
    #expect(
      self.error([0xEF, 0xBB, 0xBF]) == YAMLError(mark: YAMLMark(line: 1, column: 1), message: "there is nothing in it")
    )
    // One is a mark; a second one is text.
    #expect((try? YAMLReader.read([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF] + text)) != plain)
  }
}
