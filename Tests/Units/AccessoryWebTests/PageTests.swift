// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import CommandOutput
import TestSupport
import Testing

@testable import AccessoryWeb

/// What the pages say.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct PageTests {
  @Test func aCardHasWhatMatters() {
    var row = Sample.row("PACK1", percent: 12, driver: "vedirect")
    row.battery?.temperatures = [.init(21_460)]
    row.battery?.timeToEmpty = .seconds(2_073)
    row.accessory.values = ValuesReading(
      [
        AccessoryValue("pv_power", quantity: .power, unit: .watt, content: .number(12.5)),
        AccessoryValue("port_4", quantity: .voltage, unit: .volt, content: .number(5)),
      ], at: Sample.now)
    row.alarms = [Sample.alarm("low")]
    let card = CardView.html(row, name: "PACK1", now: Sample.now)
    for text in [
      "<li class=\"card alarm\" id=\"a-PACK1\">", "<a href=\"accessory/PACK1\">PACK1</a>", "12<small> %</small>",
      "discharging", "<rect class=\"level\" width=\"12\"",
      "<dt>Power</dt><dd>-132 W</dd>", "<dt>Time to empty</dt><dd>34 min 33 s</dd>", "<p class=\"state\">alarm</p>",
      "<li class=\"alarm\">low (12 %)</li>", "Read just now", Picture.solar.svg,
    ] { #expect(card.contains(text), "\(text) in \(card)") }
    // What the accessory reports itself counts.
    row.battery?.milliwatts = -140_300
    #expect(CardView.html(row, name: "PACK1", now: Sample.now).contains("<dt>Power</dt><dd>-140 W</dd>"))
  }

  /// What an accessory that is gone, or silent, said last isn't shown as if it held: not in the colours of the rest.
  @Test func whatIsGoneOrSilentLooksSo() {
    var stale = Sample.row("PACK1")
    stale.accessory.isStale = true
    #expect(CardView.html(stale, name: "PACK1", now: Sample.now).contains("<li class=\"card stale\""))
    let more = DetailPage.content(stale, .init(), title: "x", now: Sample.now)
    let readings = more.parts.first { $0.id == "readings" }?.html ?? ""
    #expect(readings.contains("class=\"panel stale\""))
    // First of all, whether the readings still hold.
    #expect(readings.components(of: "<dt>")[1].hasPrefix("Read</dt>"), "\(readings)")
    var gone = Sample.away("ECHO")
    var record = Bridge.Accessory(device: gone.accessory.device, state: .failed)
    record.last_seen = Sample.wallClock
    record.problem = .init(AccessoryError(.disconnected, "it is not plugged in"))
    gone.accessory.record = record
    let card = CardView.html(gone, name: "ECHO", now: Sample.now)
    #expect(card.contains("gone, last there") && !card.contains("not plugged in"), "\(card)")
    let names = gone.readings(now: Sample.now).map(\.name)
    #expect(names.contains("Connection") && !names.contains("Problem"), "\(names)")
  }

  /// The alarm is about the charge, and so is what the battery says of it.
  @Test func anAlarmIsSaidOnce() {
    var row = Sample.row("PACK1", percent: 4)
    #expect(row.reasons.map(\.text) == ["battery critical"])
    row.alarms = [Sample.alarm("battery < 20 %")]
    #expect(row.reasons.map(\.text) == ["alarm: battery < 20 % (12 %)"])
    let card = CardView.html(row, name: "PACK1", now: Sample.now)
    #expect(card.components(of: "battery &lt; 20 %").count == 2)
  }

  /// An alarm hides only what it says.
  @Test(arguments: [
    ("fault_voltage > 3 V", ["fault: hot", "warning: old"]), ("fault cold", ["fault: hot", "warning: old"]),
    ("fault hot for 2 min", ["warning: old"]), ("fault", ["warning: old"]), ("warning", ["fault: hot"]),
    ("no rule at all <<", ["fault: hot", "warning: old"]),
  ])
  func anAlarmHidesOnlyWhatItSays(_ rule: String, _ left: [String]) {
    var row = Sample.row("PACK1")
    row.battery?.faults = ["hot"]
    row.battery?.warnings = ["old"]
    row.alarms = [AccessoryAlarm(name: "mine", rule: rule, since: Sample.wallClock)]
    #expect(row.reasons.map(\.text) == ["alarm: mine"] + left)
  }

  @Test func anAlmostEmptyBatteryIsRed() {
    let row = Sample.row("PACK1", percent: 2, level: .normal)
    #expect(CardView.charge(row).contains("<p class=\"charge red\">"))
  }

  @Test func whatNeedsCareComesFirst() {
    var alarm = Sample.row("ZULU")
    alarm.alarms = [Sample.alarm("low")]
    var stale = Sample.row("ALPHA")
    stale.accessory.isStale = true
    let rows = [
      Sample.row("MIKE"), Sample.row("BRAVO"), stale, Sample.away("ECHO"),
      Sample.row("YANKEE", percent: 9, level: .low),
      alarm,
    ]
    let list = ListChoice().rows(rows.map { ($0.name, $0) })
    #expect(list.map(\.name) == ["ZULU", "YANKEE", "ECHO", "ALPHA", "BRAVO", "MIKE"])
    #expect(rows.map(CardView.state) == ["normal", "normal", "stale", "away", "warning", "alarm"])
  }

  @Test func theListSaysHowManyNeedCare() async {
    var alarm = Sample.row("ZULU")
    alarm.alarms = [Sample.alarm("low")]
    let text = await SampleSite([Sample.row("MIKE"), alarm, Sample.away("ECHO")]).get("/")
    #expect(text.contains("<title>1 alarm – Accessories on attic</title>"))
    #expect(
      text.contains(
        "<span class=\"alarm\">1 alarm</span> <span class=\"away\">1 away</span> <span>3 accessories</span>"))
  }

  /// Markup, scripts, controls and reordered text are shown as text, wherever an accessory may put them.
  @Test func hostileTextsAreShownAsText() async {
    let evil = "<script>alert(1)</script>\"'&\u{202E}\u{1B}[2J\u{0}"
    var row = Sample.row(evil)
    row.driver = evil
    row.alarms = [AccessoryAlarm(name: evil, rule: evil, since: Sample.wallClock, value: evil)]
    row.battery?.faults = [evil]
    row.battery?.warnings = [evil + String(repeating: "x", count: 10_000)]
    row.battery?.temperatures = [.init(20_000, name: evil)]
    row.identity = AccessoryIdentity(
      manufacturer: evil, name: evil, model: evil, serialNumber: evil, firmwareRevision: evil)
    row.accessory.values = ValuesReading(
      [
        AccessoryValue(evil, quantity: .power, unit: MeasurementUnit(rawValue: evil), content: .number(1)),
        AccessoryValue("text", content: .text(evil)),
      ], at: Sample.now)
    let series = [
      ReadingSeries(
        name: evil, unit: evil, points: [.init(time: Sample.wallClock - 100, span: 50, 1)])
    ]
    let command = CommandDescription(evil, evil)
    let site = SampleSite([row], series: series, commands: [command])
    let name = PageName.encode(row.name)
    for path in ["/", "/accessory/\(name)"] {
      let text = await site.get(path)
      #expect(text.hasPrefix("HTTP/1.1 200 "), "\(path)")
      #expect(!text.contains("<script>") && !text.contains("alert(1)</script>"), "\(path)")
      #expect(!text.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{1B}" || $0 == "\u{0}" }, "\(path)")
      #expect(text.contains("&lt;script&gt;") && text.contains("\\u{202e}"), "\(path)")
      #expect(text.utf8.count < 40_000, "\(path): \(text.utf8.count)")
    }
  }

  @Test func aPageHasEverything() async {
    var row = Sample.row("PACK1")
    row.battery?.cellMillivolts = [3_300, 3_345, nil, 3_310]
    row.accessory.values = ValuesReading(
      [AccessoryValue("pv_power", quantity: .power, unit: .watt, content: .number(12.5))], at: Sample.now)
    row.identity = AccessoryIdentity(
      manufacturer: "Acme", name: "House", model: "M1", serialNumber: "7", firmwareRevision: "2.1")
    let points: [ReadingSeries.Point] = [
      .init(time: Sample.wallClock - 3_000, span: 600, 80), .init(time: Sample.wallClock - 2_400, span: 600, nil),
      .init(time: Sample.wallClock - 1_800, span: 1_800, 60),
    ]
    let series = [ReadingSeries(name: ReadingSeries.percent, unit: "%", points: points)]
    let site = SampleSite([row], series: series, commands: [CommandDescription("beep", "Beeps")])
    let text = await site.get("/accessory/PACK1")
    for part in [
      "<h1>PACK1</h1>", "3.300 V to 3.345 V, spread 45 mV", "<li class=\"min\">", "<li class=\"max\">",
      "<dt>Pv power <code>pv_power</code></dt><dd>12.5 W</dd>", "<dt>Manufacturer</dt><dd>Acme</dd>",
      "<dt>Firmware</dt><dd>2.1</dd>",
      "<code>beep</code>", "nothing was read for 10 min 00 s", "Charge 60 %, from 60 to 80 %",
      "data-events=\"./PACK1/events\"",
      "<a href=\"?range=1h\" aria-current=\"true\">1 h</a>",
    ] { #expect(text.contains(part), "\(part)") }
    // A line on each side of the gap.
    #expect(text.components(of: "class=\"line line0\"").count == 3)
    #expect(await site.get("/accessory/NOBODY").hasPrefix("HTTP/1.1 404 "))
  }

  @Test func theRangesFollowWhatIsKept() {
    #expect(GraphView.offered(for: 100).map(\.name) == ["10min"])
    #expect(GraphView.offered(for: 86_400).map(\.name) == ["10min", "1h", "6h", "24h"])
    #expect(GraphView.offered(for: 30 * 86_400).map(\.name) == ["10min", "1h", "6h", "24h", "7d", "30d"])
    #expect(GraphView.offered(for: 1e9).map(\.name).last == "30d")
    // What is drawn at first isn't mostly empty.
    let usual = [(100.0, "10min"), (640, "10min"), (1_900, "1h"), (9_000, "1h"), (50_000, "24h"), (1e9, "24h")]
    for (length, name) in usual {
      #expect(GraphView.usual(among: GraphView.offered(for: length), for: length).name == name, "\(length)")
    }
  }

  @Test func theTimeOfAGraphIsShort() {
    // Far enough from midnight in every zone, and two days apart.
    let noon = 1_700_000_000.0 - LocalTime.offset(at: 1_700_000_000) - 11 * 3_600
    let day = LocalTime.day(noon)
    #expect(GraphView.text(noon...(noon + 600)).hasPrefix("\(day) "))
    #expect(GraphView.text(noon...(noon + 600)).hasSuffix(" to \(LocalTime.text(noon + 600))"))
    #expect(GraphView.text(noon...(noon + 172_800)).hasSuffix(" to \(LocalTime.dateText(noon + 172_800))"))
  }

  @Test(arguments: ["range=1h&until=1700000000", "until=1700000000&range=1h&x=y"])
  func theChoiceOfAGraphIsRead(_ query: String) {
    #expect(GraphView.Choice(query: query).query == "?range=1h&until=1700000000")
  }

  @Test(arguments: [
    "", "range=2h", "until=-1", "until=99999999999999999999", "until=nan", "&&&=", "range", "range=<script>",
  ])
  func otherChoicesAreLeftOut(_ query: String) { #expect(GraphView.Choice(query: query).query == "") }

  /// Numbers that no picture can have are left out.
  @Test func impossibleReadingsDrawNoPicture() {
    let points = [Double.nan, .infinity, -.infinity, 1e308].map {
      ReadingSeries.Point(time: Sample.wallClock - 10, span: 5, $0)
    }
    let series = ReadingSeries(name: "x", points: points)
    let html = GraphView(series: [series], choice: .init(), now: Sample.wallClock).html
    #expect(!html.contains("nan") && !html.contains("inf"))
  }

  @Test(arguments: ["PACK1", "a/b", "..", ".", "", "長い 名前", "x@3", "%41", "a?b#c", "C:\\x"])
  func namesInAddressesComeBack(_ name: String) {
    let encoded = PageName.encode(name)
    #expect(!encoded.contains("/") && !encoded.contains("?") && encoded != "." && encoded != ".." && !encoded.isEmpty)
    let prefix = [".", "..", ""].contains(name) ? "~" : ""
    #expect(PageName.decode(encoded) == prefix + name)
  }

  @Test(arguments: ["%", "%4", "%zz", "%ff"]) func badNamesInAddressesAreRefused(_ segment: String) {
    #expect(PageName.decode(segment) == nil)
  }

  /// Two services may have accessories of the same name.
  @Test func equalNamesHavePagesOfTheirOwn() async {
    let one = Sample.row("PACK1")
    var other = TopRow(key: .max, name: "PACK1", one.accessory)
    other.battery?.percent = 33
    let site = SampleSite([one, other])
    #expect(await site.get("/").contains("href=\"accessory/PACK1~2\""))
    #expect(await site.get("/accessory/PACK1~2").contains("33<small> %</small>"))
  }
}
