// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import CommandOutput

/// Pictures and tables of histories: XML that a parser takes, gaps, and hostile words.
struct HistoryPlotTests {
  private static func plot(_ title: String, _ series: [ReadingSeries]) -> String {
    HistoryPlot(
      title: title, series: series, time: 0...3_600, offset: 0, date: { "\(Int($0)) s" }, clock: { "\(Int($0))" }
    ).text
  }

  private static func points(_ values: [Double?]) -> [ReadingSeries.Point] {
    values.enumerated().map { ReadingSeries.Point(time: Double($0) * 60, span: 60, $1) }
  }

  /// The lines that are drawn through the means.
  private static func paths(_ text: String) -> [Substring] {
    text.split(separator: "\n").filter { $0.hasPrefix("<path class=\"line ") }
  }

  @Test func gapsInAHistoryAreNotDrawn() {
    for (values, count) in [
      ([1, 2, 3, 4], 1), ([1, nil, 3, 4], 2), ([nil, 1, nil, nil, 4, nil], 2), ([1, .nan, 3], 2), ([.infinity, 1], 1),
    ] as [([Double?], Int)] {
      let text = Self.plot("A1", [ReadingSeries(name: "power", unit: "W", points: Self.points(values))])
      #expect(Self.paths(text).count == count, "\(values)")
      // Each begins once, and isn't continued across a gap.
      for path in Self.paths(text) { #expect(path.count { $0 == "M" } == 1) }
      XMLCheck.expectWellFormed(text)
    }
    let empty = Self.plot("A1", [ReadingSeries(name: "power", unit: "W", points: Self.points([nil, nil]))])
    #expect(Self.paths(empty).isEmpty && empty.contains("Nothing was read in this time."))
    XMLCheck.expectWellFormed(empty)
  }

  /// Between readings that differ there is a band; a single reading is drawn, too.
  @Test func readingsThatDifferAreDrawnAsABand() {
    var points = Self.points([2, 2])
    points[1] = .init(time: 60, span: 60, mean: 2, least: 1, greatest: 3)
    let text = Self.plot("A1", [ReadingSeries(name: ReadingSeries.voltage, unit: "V", points: points)])
    #expect(text.contains("<path class=\"band band0\"") && !text.contains("nan") && !text.contains("inf"))
    let one = Self.plot("A1", [ReadingSeries(name: ReadingSeries.percent, unit: "%", points: Self.points([57]))])
    #expect(Self.paths(one).count == 1 && !one.contains("class=\"band band"))
    XMLCheck.expectWellFormed(text)
  }

  /// The first series, a charge, is green; no series has a colour of warnings or alarms.
  @Test func noSeriesHasAColourOfWarnings() {
    let text = Self.plot("A1", [ReadingSeries(name: ReadingSeries.percent, unit: "%", points: Self.points([57]))])
    #expect(text.contains(">Charge 57 %</text>"))
    let colours = text.split(separator: "\n").filter { $0.hasPrefix(".line") && $0.contains("band") }
    #expect(colours.count == 8 && colours[0].contains("#1a7f37") && colours[4].contains("#3fb950"))
    for line in colours {
      let digits = line.split(separator: "#").dropFirst().map { $0.prefix(6) }
      #expect(digits.count == 2)
      for colour in digits {
        let number = Int(colour, radix: 16) ?? 0
        let (red, green, blue) = (number >> 16, number >> 8 & 0xFF, number & 0xFF)
        // Red, orange and yellow have more red than anything else, and little blue.
        #expect(!(red > green && red > blue * 3 / 2), "\(line)")
      }
    }
  }

  @Test(arguments: [
    "</title><script>alert(1)</script>", "a\"b'c&d<e>f", "]]>", "<!--", "&#0;", "\u{0}\u{1B}[31m\u{7F}\u{9F}",
    "\u{FFFE}\u{FFFF}",
    "\u{202E}evil", "<?xml?>", String(repeating: "<&", count: 10_000),
  ])
  func hostileWordsStayTextInAPlot(evil: String) {
    let text = Self.plot(
      evil, (0..<6).map { ReadingSeries(name: evil + "\($0)", unit: evil, points: Self.points([1, nil, 2])) })
    XMLCheck.expectWellFormed(text)
    #expect(!text.contains("<script") && text.utf8.count < 60_000)
    #expect(text.contains("prefers-color-scheme: dark"))
  }

  @Test(arguments: [-Double.greatestFiniteMagnitude, .greatestFiniteMagnitude, 1e-300, 0, -1e18])
  func hostileNumbersLeaveAPlotWellFormed(value: Double) {
    let points =
      Self.points([value, 1, nil, -value])
      + [.init(time: .nan, span: 1, 1), .init(time: 9e18, span: 9e18, 1), .init(time: 300, span: -.infinity, 1)]
    let text = Self.plot("A1", [ReadingSeries(name: "x", unit: nil, points: points)])
    XMLCheck.expectWellFormed(text)
    #expect(!text.contains("nan") && !text.contains("inf\""))
  }

  // MARK: - Tables

  @Test func aHistorysTableHasAColumnForEachSeries() {
    let series = [
      ReadingSeries(name: ReadingSeries.percent, unit: "%", points: Self.points([57, nil, 55])),
      ReadingSeries(name: "=cmd|' /C calc'!A0", unit: nil, points: [.init(time: 120, span: 60, 1.5)]),
      ReadingSeries(name: "a,\"b\"\n", unit: "V", points: [.init(time: 0, span: 60, .nan)]),
    ]
    #expect(
      HistoryTable.lines(series) == [
        "time,battery.percent (%),'=cmd|' /C calc'!A0,\"a,\"\"b\"\"\\u{a} (V)\"", "1970-01-01T00:00:00Z,57.0,,",
        "1970-01-01T00:02:00Z,55.0,1.5,",
      ])
    #expect(HistoryTable.lines([]) == ["time"])
  }

  @Test(arguments: [
    (0.0, "1970-01-01T00:00:00Z"), (1_709_164_800, "2024-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
    (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
    (.infinity, "1970-01-01T00:00:00Z"),
    (1e300, "9999-12-31T23:59:59Z"), (-1e300, "0001-01-01T00:00:00Z"), (1_772_373_909.9, "2026-03-01T14:05:09Z"),
  ])
  func timesAreWrittenInUTC(time: Double, text: String) { #expect(UTCTime.text(time) == text) }
}

/// A small check that a text is well-formed XML of the kind that we write: elements, attributes in quotes, and the entities that
/// XML has by itself.
enum XMLCheck {
  static func expectWellFormed(_ text: String, _ location: SourceLocation = #_sourceLocation) {
    let problem = problem(in: text)
    #expect(problem == nil, sourceLocation: location)
  }

  /// What is wrong; nil for nothing.
  static func problem(in text: String) -> String? {
    for scalar in text.unicodeScalars {
      let isAllowed =
        scalar == "\n" || scalar == "\t" || (scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF)
      guard isAllowed else { return "U+\(String(scalar.value, radix: 16)) is no character of XML" }
    }
    var rest = text[...]
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    guard rest.hasPrefix(head) else { return "no declaration" }
    rest = rest.dropFirst(head.count)
    var open: [Substring] = []
    while let start = rest.firstIndex(where: { $0 == "<" || $0 == "&" }) {
      rest = rest[start...]
      if rest.first == "&" {
        guard let entity = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"].first(where: rest.hasPrefix) else {
          return "& at \(rest.prefix(20))"
        }
        rest = rest.dropFirst(entity.count)
        continue
      }
      guard let end = rest.firstIndex(of: ">") else { return "an open tag at \(rest.prefix(20))" }
      var tag = rest[rest.index(after: rest.startIndex)..<end]
      rest = rest[rest.index(after: end)...]
      if tag.first == "/" {
        guard let last = open.popLast(), last == tag.dropFirst() else { return "</\(tag) closes \(open)" }
        continue
      }
      let isEmpty = tag.last == "/"
      if isEmpty { tag = tag.dropLast() }
      let name = tag.prefix { $0.isASCII && $0.isLetter }
      guard !name.isEmpty else { return "a tag without a name: <\(tag.prefix(20))" }
      // name="value", with no quotes and no tags in the value.
      let quotes = tag.split(separator: "\"", omittingEmptySubsequences: false)
      guard quotes.count % 2 == 1, !tag.contains("<") else { return "quotes in <\(tag)" }
      for (index, piece) in quotes.enumerated() where index % 2 == 0 && index < quotes.count - 1 {
        guard piece.hasSuffix("=") else { return "an attribute in <\(tag)" }
      }
      guard !(quotes.last ?? "").contains("=") else { return "an attribute without quotes in <\(tag)" }
      if !isEmpty { open.append(name) }
      if open.isEmpty, !rest.allSatisfy(\.isWhitespace) { return "something behind the end" }
    }
    return open.isEmpty ? nil : "not closed: \(open)"
  }
}

/// The check itself finds mistakes.
struct XMLCheckTests {
  @Test(arguments: [
    "<a>", "<a></b>", "<a b=c/>", "<a b=\"<\"/>", "<a>&</a>", "<a>&nbsp;</a>", "<a>\u{7}</a>", "<a/>x", "<a><b/></a",
    "< a/>",
  ])
  func theXMLCheckFindsMistakes(text: String) {
    #expect(XMLCheck.problem(in: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + text) != nil)
  }
}
