// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import TestSupport
import Testing

@testable import AccessoryWeb

/// What the list says of all accessories together, and of their last day.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct OverviewTests {
  // MARK: - Sums

  @Test func powersAreSummedByDirection() {
    var charging = Sample.row("A")
    charging.battery?.milliamperes = 10_000
    var sun = Sample.row("SUN", driver: "vedirect")
    sun.battery = nil
    sun.accessory.values = ValuesReading(
      [AccessoryValue("pv_power", quantity: .power, unit: .watt, content: .number(412.4))], at: Sample.now)
    let html = Totals([charging, Sample.row("B"), Sample.row("C"), sun], DayOverviews()).html
    for text in ["From the sun</dt><dd>412 W", "Into batteries</dt><dd>528 W", "Out of batteries</dt><dd>264 W"] {
      #expect(html.contains(text), "\(text) in \(html)")
    }
    #expect(!html.contains("today"))
  }

  /// A reading that is old says nothing about now.
  @Test func oldReadingsAreNotSummed() {
    var stale = Sample.row("A")
    stale.accessory.isStale = true
    #expect(Totals([stale, Sample.away("B")], DayOverviews()).html == "<div id=\"totals\"></div>")
  }

  @Test func impossiblePowersAreNotSummed() {
    let rows = [1e308, -1e308, .infinity, .nan, 1e300].enumerated().map { index, number in
      var meter = Sample.row("M\(index)", driver: "sdm120")
      meter.battery = nil
      meter.accessory.values = ValuesReading(
        [AccessoryValue("power", quantity: .power, unit: .kilowatt, content: .number(number), importance: .headline)],
        at: Sample.now)
      return meter
    }
    #expect(Totals(rows, DayOverviews()).html == "<div id=\"totals\"></div>")
  }

  @Test func theEnergySinceMidnightIsSummed() {
    let hour = Int(Sample.wallClock / 3_600)
    let energy = Energy(hours: [
      hour: .init(inWattHours: 1_200, outWattHours: 30, seconds: 1_800),
      hour - 48: .init(inWattHours: 5_000, outWattHours: 0, seconds: 3_600),
    ])
    var overviews = DayOverviews()
    let row = Sample.row("A")
    overviews.put(DayOverview([], energy, name: nil, time: Sample.now, now: Sample.wallClock), for: row)
    let html = Totals([row], overviews).html
    #expect(
      html.contains("Into batteries today</dt><dd>1.2 kWh") && html.contains("Out of batteries today</dt><dd>30 Wh"))
  }

  // MARK: - The last day

  private func overview(_ points: [ReadingSeries.Point], _ name: String = ReadingSeries.percent) -> DayOverview {
    DayOverview(
      [ReadingSeries(name: name, unit: "%", points: points)], nil, name: name, time: Sample.now, now: Sample.wallClock)
  }

  @Test func theLastDayIsALineWithGaps() {
    let (now, hour) = (Sample.wallClock, 3_600.0)
    let picture = overview([
      .init(time: now - 24 * hour, span: 12 * hour, 100), .init(time: now - 12 * hour, span: 6 * hour, nil),
      .init(time: now - 6 * hour, span: 6 * hour, 0),
    ]).picture(now: now)
    #expect(picture.contains("<path d=\"M0 1L50 1M75 23L100 23\"/>"), "\(picture)")
    #expect(picture.contains("<title>24 hours: Charge 0 %, from 0 to 100 %</title>"))
  }

  @Test func impossibleReadingsDrawNothing() {
    let points = [Double.nan, .infinity, -.infinity].map {
      ReadingSeries.Point(time: Sample.wallClock - 10, span: 5, $0)
    }
    #expect(overview(points).picture(now: Sample.wallClock) == "")
    let far = overview(
      [.init(time: -1e300, span: .infinity, 1), .init(time: Sample.wallClock - 60, span: 1e300, 2)], "x")
    let wide = overview(
      [-1.7e308, 1.7e308, 0].enumerated().map {
        .init(time: Sample.wallClock - 9_000 + 3_000 * Double($0), span: 3_000, $1)
      }, "x")
    let picture = far.picture(now: Sample.wallClock) + wide.picture(now: Sample.wallClock)
    #expect(!picture.contains("nan") && !picture.contains("inf"))
  }

  @Test func overviewsAreAskedForOnceAndBounded() {
    var overviews = DayOverviews()
    let rows = (0..<600).map { Sample.row("P\($0)") }
    let wanted = overviews.wanted(among: rows, now: Sample.now)
    #expect(wanted.count == 256)
    for row in rows { overviews.put(overview([]), for: row) }
    #expect(rows.count { overviews[$0.key] != nil } == 256)
    overviews.put(overview([]), for: rows[0])
    #expect(overviews.wanted(among: [rows[0]], now: Sample.now + .seconds(299)).isEmpty)
    #expect(overviews.wanted(among: [rows[0]], now: Sample.now + .seconds(300)).count == 1)
    // What can't be reached isn't asked.
    var away = Sample.row("AWAY")
    away.isServed = false
    #expect(overviews.wanted(among: [away], now: Sample.now).isEmpty)
  }

  // MARK: - Finding, sorting, grouping

  @Test(arguments: [
    ("find=attic&sort=name&group=kind&view=table", "?find=attic&sort=name&group=kind&view=table"),
    ("find=two+words%21&sort=alarm&group=&view=", "?find=two%20words%21"), ("", ""), ("sort=evil&group=x&view=y", ""),
    ("find=%zz", ""), ("&&&=", ""),
  ])
  func theChoiceOfTheListIsRead(_ query: String, _ expected: String) {
    #expect(ListChoice(query: query).query == expected)
  }

  @Test func theListIsFoundSortedAndGrouped() {
    let rows = [
      Sample.row("B", percent: 10, driver: "jbd"), Sample.row("A", driver: "ev3"), Sample.row("C", percent: 90),
    ]
    .map { ($0.name, $0) }
    func names(_ query: String) -> [String] { ListChoice(query: query).rows(rows).map(\.name) }
    #expect(names("sort=name") == ["A", "B", "C"])
    #expect(names("sort=charge") == ["B", "A", "C"])
    #expect(names("find=ev3&sort=name") == ["A"])
    #expect(
      ListChoice(query: "sort=name&group=kind").rows(rows).map(\.heading) == ["Batteries", "Batteries", "Robots"])
  }

  @Test func theChoiceIsInThePage() async {
    let site = SampleSite([Sample.row("PACK1"), Sample.row("ROVER", driver: "ev3")])
    let page = await site.get("/?group=kind&sort=name")
    for text in [
      "data-events=\"events?sort=name&amp;group=kind\"",
      "<li class=\"group\" id=\"g-Batteries\"><h2>Batteries</h2></li>",
      "<option value=\"kind\" selected>", "<details class=\"choose\" open>",
    ] { #expect(page.contains(text), "\(text)") }
    let table = await site.get("/?view=table")
    for text in ["<tbody id=\"list\">", "<tr class=\"normal\" id=\"a-PACK1\">", "<td class=\"green\">57 %</td>"] {
      #expect(table.contains(text), "\(text)")
    }
    #expect(await site.get("/?find=nobody").contains("No accessory has \u{201C}nobody\u{201D}"))
    let evil = await site.get("/?find=%3Cscript%3E%22")
    #expect(evil.contains("value=\"&lt;script&gt;&quot;\"") && !evil.contains("<script>\""))
  }

  @Test func thePowerIsTheProductOfVoltageAndCurrent() throws {
    let voltage = ReadingSeries(
      name: ReadingSeries.voltage, unit: "V", points: [.init(time: 0, span: 100, 50), .init(time: 200, span: 100, 40)])
    let current = ReadingSeries(
      name: ReadingSeries.current, unit: "A", points: [.init(time: 50, span: 200, mean: -2, least: -3, greatest: -1)])
    let power = try #require(ReadingSeries.power(of: [voltage, current]))
    #expect(
      power.points == [
        .init(time: 50, span: 50, mean: -100, least: -150, greatest: -50), .init(time: 100, span: 100, nil),
        .init(time: 200, span: 50, mean: -80, least: -120, greatest: -40),
      ])
    #expect(ReadingSeries.power(of: [voltage]) == nil)
  }
}
