// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import CommandOutput
import Testing

/// The manual's pages, of what a command tells of itself.
@Suite struct ManualPagesTests {
  private func pages(_ document: String, _ usages: [String: String] = [:]) throws -> [ManualPages.Page] {
    try #require(ManualPages(try JSON(Array(document.utf8)), usages: usages, date: "November 22, 2026")).pages
  }

  private static let document = #"""
    {"command": {"commandName": "tool", "abstract": "Talks.", "shouldDisplay": true,
      "discussion": "One paragraph. It's here.\n.dots and \\n\n\nENVIRONMENT\n  TOOL_HOME  where it is\n\nEXIT STATUS\n  0   done\n\nEXAMPLES\n  tool say --to 'you'",
      "subcommands": [
        {"commandName": "say", "abstract": "Says something.", "shouldDisplay": true,
         "discussion": "EXAMPLES\n  .tool say",
         "arguments": [
           {"kind": "positional", "valueName": "word", "abstract": "What.", "isOptional": false, "isRepeating": true},
           {"kind": "positional", "valueName": "Op", "abstract": "More.", "isOptional": true, "isRepeating": false},
           {"kind": "option", "valueName": "kind", "abstract": "How.", "isOptional": true, "defaultValue": "low",
            "allValues": ["low", "high"], "sectionTitle": "Voice",
            "names": [{"kind": "short", "name": "k"}, {"kind": "long", "name": "voice-kind"}]},
           {"kind": "flag", "valueName": "loud", "abstract": "Loudly.", "isOptional": true,
            "names": [{"kind": "long", "name": "loud"}]},
           {"kind": "flag", "valueName": "secret", "shouldDisplay": false,
            "names": [{"kind": "long", "name": "secret"}]}]},
        {"commandName": "hidden", "abstract": "Hides.", "shouldDisplay": false},
        {"commandName": "help", "abstract": "Helps.", "shouldDisplay": true}]}}
    """#

  @Test func aCommandsPageHasItsSections() throws {
    let pages = try pages(Self.document)
    #expect(pages.map(\.file) == ["tool.1", "tool-say.1"])
    #expect(
      pages[1].text == #"""
        .Dd November 22, 2026
        .Dt TOOL-SAY 1
        .Os
        .Sh NAME
        .Nm tool-say
        .Nd says something
        .Sh SYNOPSIS
        .Nm "tool say"
        .Op Ar options
        .Ar word ...
        .Op Ar \&Op
        .Sh DESCRIPTION
        Says something.
        .Sh ARGUMENTS
        .Bl -tag -width Ds
        .It Ar word
        What.
        .It Ar \&Op
        More.
        .El
        .Sh OPTIONS
        .Bl -tag -width Ds
        .It Fl \-loud
        Loudly.
        .El
        .Sh VOICE
        .Bl -tag -width Ds
        .It Fl k , Fl \-voice\-kind Ar kind
        How.
        Values: low, high.
        Default: low.
        .El
        .Sh EXIT STATUS
        0 on success; the others are in
        .Xr tool 1 .
        .Sh EXAMPLES
        .Bd -literal -offset indent
        \&.tool say
        .Ed
        .Sh SEE ALSO
        .Xr tool 1

        """#)
  }

  /// Nothing in a text is a macro, and what is typed can be copied.
  @Test func theProgramsPageListsItsCommands() throws {
    let text = try pages(Self.document)[0].text
    #expect(text.contains("One paragraph.\nIt's here. .dots and \\en\n"))
    #expect(text.contains(".It Xr tool-say 1\nSays something.\n"))
    #expect(text.contains(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n.It Li TOOL_HOME\nwhere it is\n.El\n"))
    #expect(text.contains(".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It Li 0\ndone\n.El\n"))
    #expect(text.contains("\ntool say \\-\\-to \\(aqyou\\(aq\n"))
    #expect(!text.contains("hidden") && !text.contains("Xr tool-help"))
  }

  @Test func aUsageOfItsOwnIsItsSynopsis() throws {
    let text = try pages(Self.document, ["tool say": "tool say <word>\n       tool say --loud"])[1].text
    #expect(text.contains(".Sh SYNOPSIS\n.Bd -literal\ntool say <word>\ntool say \\-\\-loud\n.Ed\n"))
  }

  @Test func whatDescribesNoCommandMakesNoManual() throws {
    for document in ["{}", "[]", "null", #"{"command": {}}"#, #"{"command": 5}"#] {
      #expect(ManualPages(try JSON(Array(document.utf8)), usages: [:], date: "") == nil, "\(document)")
    }
  }
}
