// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console
import Testing

@testable import CommandOutput

/// Graphs of text: their size, their axes, their gaps.
struct GraphTests {
  private static let plain = Style(isTerminal: false, hasColour: false)

  /// A ramp from 0 to 100 over an hour, with a gap in the third quarter.
  private static func ramp(_ name: String = ReadingSeries.percent) -> ReadingSeries {
    ReadingSeries(
      name: name, unit: "%",
      points: (0..<360).map { index in
        let value = Double(index) / 3.6
        return ReadingSeries.Point(
          time: Double(index) * 10, span: 10, (180..<270).contains(index) ? nil : value)
      })
  }

  private static func lines(
    _ series: ReadingSeries, _ columns: Int, _ rows: Int, _ form: GraphForm = .unicode
  ) -> [String] {
    TextGraph.lines(
      series, columns: columns, rows: rows, time: 0...3_600, form: form, style: plain, offset: 0,
      clock: { "\(Int($0) / 600)" })
  }

  @Test(arguments: [20, 40, 80, 200], [5, 6, 12, 40]) func aGraphFitsItsSize(columns: Int, rows: Int) {
    for form in [GraphForm.unicode, .ascii] {
      let lines = Self.lines(Self.ramp(), columns, rows, form)
      #expect(lines.count == rows)
      for line in lines { #expect(TextWidth.of(line) <= columns, "\(line)") }
    }
    #expect(Self.lines(Self.ramp(), 19, rows).isEmpty && Self.lines(Self.ramp(), columns, 4).isEmpty)
  }

  /// A charge has no decimals, and the three numbers have as many as they need.
  @Test(
    arguments: [
      ([64.0, 64, 64], "Load 64 %"), ([64, 63.25, 64], "Load 64.00 %, from 63.25 to 64.00 %"),
      ([3.3, 3.4], "Load 3.4 %, from 3.3 to 3.4 %"), ([0, 0], "Load 0 %"), ([100, 20], "Load 20 %, from 20 to 100 %"),
      ([nil], "Load"),
    ] as [([Double?], String)])
  func aGraphsTitleHasLastLeastAndGreatest(values: [Double?], title: String) {
    let points = values.enumerated().map { ReadingSeries.Point(time: Double($0) * 10, span: 10, $1) }
    #expect(TextGraph.title(ReadingSeries(name: "load", unit: "%", points: points)) == title)
  }

  /// Titles have words for people: the battery's from one table, others from their names.
  @Test(
    arguments: [
      (ReadingSeries.percent, "%", "Charge 9 %"), (ReadingSeries.voltage, "V", "Voltage 9 V"),
      (ReadingSeries.current, "A", "Current 9 A"), (ReadingSeries.temperature, "°C", "Temperature 9 °C"),
      ("input_voltage", "V", "Input voltage 9 V"), ("port_4", "cm", "Port 4: 9 cm"), ("count", nil, "Count 9"),
      ("", nil, "Value 9"),
    ] as [(String, String?, String)])
  func titlesOfGraphsAreWords(name: String, unit: String?, title: String) {
    let series = ReadingSeries(name: name, unit: unit, points: [.init(time: 0, span: 10, 9)])
    #expect(TextGraph.title(series) == title)
    #expect(Self.lines(series, 40, 8)[0] == title)
  }

  /// A title that is wider than the graph ends in an ellipsis.
  @Test func aLongTitleOfAGraphIsCut() {
    let series = ReadingSeries(
      name: ReadingSeries.voltage, unit: "V",
      points: [.init(time: 0, span: 10, 3.714), .init(time: 10, span: 10, 3.732)])
    #expect(Self.lines(series, 80, 8)[0] == "Voltage 3.732 V, from 3.714 to 3.732 V")
    #expect(Self.lines(series, 20, 8)[0] == "Voltage 3.732 V, fr…")
    #expect(Self.lines(series, 20, 8, .ascii)[0] == "Voltage 3.732 V, f..")
  }

  /// The axis of a current that was always 0 has numbers that mean something.
  @Test func anAxisOfZerosHasUsefulTicks() {
    let series = ReadingSeries(name: ReadingSeries.current, unit: "A", points: [.init(time: 0, span: 3_600, 0)])
    let labels = Self.lines(series, 40, 8)[1...5].map { line in String(line.prefix { $0 != "│" && $0 != "┤" }) }
    #expect(labels == [" 1", "  ", " 0", "  ", "-1"])
    for size: Double in [0, 1e-12, .leastNonzeroMagnitude] {
      #expect(GraphAxis(-size...size, ticks: 3).ticks == [-1, 0, 1], "\(size)")
    }
    #expect(GraphAxis(0.001...0.001, ticks: 3).low > 0)
  }

  @Test func anASCIIGraphHasOnlyASCII() {
    let lines = Self.lines(Self.ramp(), 40, 9, .ascii)
    // The gap is blank in each row: the columns of the third quarter.
    for line in lines[1...6] {
      let plot = Array(line.dropFirst(4))
      for column in 18..<27 where column < plot.count { #expect(plot[column] == " ", "\(line)") }
    }
    #expect(lines[1].hasPrefix("100+") && lines[6].hasPrefix("  0+"))
    #expect(lines.allSatisfy { $0.utf8.count == $0.count })
  }

  @Test func hostileWordsAndNumbersKeepAGraphHarmless() {
    var series = ReadingSeries(name: "\u{1B}[31m\nx", unit: "\u{7}")
    for value in [Double.greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0, 1e-300, .infinity, .nan] {
      series.points = [.init(time: 10, span: 10, value), .init(time: 20, span: 10, 1)]
      for form in [GraphForm.unicode, .ascii] {
        for line in Self.lines(series, 60, 10, form) {
          #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, "\(value)")
        }
      }
    }
    series.points = [
      .init(time: -1e300, span: 1e300, 1), .init(time: 1e300, span: -5, 1), .init(time: .nan, span: 1, 1),
    ]
    #expect(Self.lines(series, 60, 10).count == 10)
    #expect(Self.lines(ReadingSeries(name: "x"), 60, 10).count == 10)
  }

  @Test func axesHaveRoundTicks() {
    for (range, ticks) in [
      (0.0...100.0, [0, 20, 40, 60, 80, 100]), (3.31...3.42, [3.3, 3.35, 3.4, 3.45]), (-4.2...1.1, [-6, -4, -2, 0, 2]),
      (12.0...12.0, nil), (0.0...0.0, nil), (1e6...5e6, [1e6, 2e6, 3e6, 4e6, 5e6]),
    ] as [(ClosedRange<Double>, [Double]?)] {
      let axis = GraphAxis(range, ticks: 6)
      #expect(axis.low <= range.lowerBound && axis.high >= range.upperBound && axis.low < axis.high)
      #expect((2...8).contains(axis.ticks.count), "\(range): \(axis.ticks)")
      if let ticks { #expect(zip(axis.ticks, ticks).allSatisfy { abs($0 - $1) < 1e-9 }, "\(range): \(axis.ticks)") }
    }
    let axis = GraphAxis(3.31...3.42, ticks: 6)
    #expect(axis.ticks.map(axis.text).allSatisfy { $0.count == 4 }, "\(axis.ticks.map(axis.text))")
    #expect(GraphAxis(-0.02...0.02, ticks: 3).ticks.map { GraphAxis(-0.02...0.02, ticks: 3).text($0) }.contains("0.00"))
    #expect(TimeTicks.of(0...86_400, count: 8, offset: 0) == stride(from: 0, through: 86_400, by: 10_800).map { $0 })
    #expect(TimeTicks.of(100...3_700, count: 4, offset: 0) == [900, 1_800, 2_700, 3_600])
  }

  @Test func sparklinesAreScaledToTheirValues() {
    #expect(Sparkline.text([0, 1, 2, 3, 4, 5, 6, 7], cells: 8, form: .unicode) == "▁▂▃▄▅▆▇█")
    #expect(Sparkline.text([0, nil, 7], cells: 8, form: .unicode) == "▁ █")
    #expect(Sparkline.text([5, 5], cells: 8, form: .unicode) == "▅▅")
    #expect(Sparkline.text([1, 2, 3], cells: 2, form: .ascii) == "_#")
    #expect(Sparkline.text([nil, nil], cells: 4, form: .ascii) == "  ")
    #expect(Sparkline.text([], cells: 4) == "" && Sparkline.text([1], cells: -1) == "")
    #expect(Sparkline.text([50], cells: 1, range: 0...100, form: .unicode) == "▅")
    #expect(Sparkline.text([.infinity, .nan, 1], cells: 3, form: .ascii) == "  =")
    let ramp = Sparkline.text(Self.ramp(), cells: 8, time: 0...3_600, form: .unicode)
    #expect(ramp.count == 8 && ramp.first == "▁" && ramp.last == "█" && Array(ramp)[4] == " ")
  }

  @Test func theFormFollowsTheLocale() {
    func form(_ variables: [String: String]) -> GraphForm { GraphForm.ofLocale { variables[$0] } }
    #expect(form(["LANG": "de_DE.UTF-8"]) == .unicode)
    #expect(form(["LANG": "de_DE.UTF-8", "LC_ALL": "C"]) == .ascii)
    #expect(form(["LC_CTYPE": "C.utf8"]) == .unicode)
    #expect(form(["LANG": "sr_RS.UTF-8@latin"]) == .unicode)
    #expect(form([:]) == .ascii)
  }
}
