// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryExport

struct LineTests {
  @Test(arguments: [
    ("LIST UPS", ["LIST", "UPS"]), ("", []), ("  GET   VAR a b ", ["GET", "VAR", "a", "b"]),
    (#"SET VAR a b "two words""#, ["SET", "VAR", "a", "b", "two words"]), (#"a\ b"#, ["a b"]),
    (#""say \"a\\b\"""#, [#"say "a\b""#]), (#"PASSWORD """#, ["PASSWORD", ""]),
  ])
  func aLineOfNUTIsSplitIntoWords(_ line: String, _ words: [String]) { #expect(NUTLine.words(line.utf8) == words) }

  @Test(arguments: [#"a "b"#, #"a\"#, "a\u{7}", "a\u{e4}", String(repeating: "a ", count: 20)])
  func whatIsNoLineOfNUTIsRefused(_ line: String) { #expect(NUTLine.words(line.utf8) == nil) }

  @Test func quotedTextsAreReadBack() {
    #expect(NUTLine.quoted(#"a "b" \c"#) == #""a \"b\" \\c""#)
    #expect(NUTLine.quoted("gr\u{fc}n\n\"") == #""gr?n?\"""#)
    #expect(NUTLine.quoted(String(repeating: "x", count: 1_000)).utf8.count == 258)
    for text in [#"a\"#, #"\\"""#, ""] { #expect(NUTLine.words(NUTLine.quoted(text).utf8) == [text]) }
  }

  @Test(arguments: [
    ("SIM0001", "SIM0001"), ("PACK1@3", "PACK1_3"), ("/dev/ttyUSB0@2", "dev_ttyUSB0_2"),
    ("2341:0043@1-1.4", "2341_0043_1-1_4"),
    ("", "accessory"), ("\u{fc}", "accessory"), ("\u{fc}a", "a"),
    (String(repeating: "a", count: 99), String(repeating: "a", count: 64)),
  ])
  func exportNamesAreMadeOfIDs(_ id: String, _ name: String) {
    #expect(ExportName.make(id) == name)
    #expect(ExportName.isName(name))
  }
}
