// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console
import Testing

@testable import CommandOutput

@Suite struct TopScreenTests {
  private static let sizes = [(120, 40), (80, 24), (40, 20)]

  @Test func theScreenFitsEightyColumns() {
    var model = TopSample.model([TopSample.pack, TopSample.row("SIM0001", charge: .charging, age: .seconds(200))])
    let screen = TopSample.text(&model, columns: 80, rows: 8)
    #expect(screen[0] == "bridge-cli top" + String(repeating: " ", count: 44) + "1 alarm  2 accessories")
    #expect(
      screen[1...3] == [
        "   NAME▲                CHARGE               VOLTAGE  CURRENT AGE STATE",
        "!! PACK1                █▌░░░░░░░░░░  12% ↓ 52.800 V -0.250 A now cell overvolt…",
        "   SIM0001              ██████▉░░░░░  57% ↑  3.712 V -0.250 A 3m  idle",
      ])
    #expect(screen[7].hasPrefix("F1Help F3Search F4Filter F6Sort IInvert EnterDetails qQuit"))
  }

  @Test func theScreenFitsFortyColumns() {
    var model = TopSample.model([TopSample.row("SIM0001")])
    let screen = TopSample.text(&model, columns: 40, rows: 5)
    #expect(screen[1] == "   NAME▲       BATT         AGE STATE")
    #expect(screen[2] == "   SIM0001     ██▉░░  57% ↓ now idle")
    #expect(screen[0] == "bridge-cli top               1 accessory")
  }

  /// Between 100 columns and more there are values: whole ones, or an ellipsis in their place, and never in another column.
  @Test func theScreenShowsValuesAt120Columns() {
    var row = TopSample.row("INV-1")
    row.accessory.values = ValuesReading(
      [
        AccessoryValue("grid_voltage", quantity: .voltage, unit: .volt, content: .number(226)),
        AccessoryValue("grid_frequency", quantity: .frequency, unit: .hertz, content: .number(49.9)),
      ], at: TopSample.now)
    var model = TopSample.model([TopSample.pack, row])
    #expect(
      TopSample.text(&model, columns: 120, rows: 8)[1...3] == [
        "   NAME▲                    CHARGE                 VOLTAGE  CURRENT  VALUES                           AGE STATE",
        "   INV-1                    ████████░░░░░░  57% ↓  3.712 V -0.250 A  -0.9 W  grid_voltage 226 V  …    now idle",
        "!! PACK1                    █▋░░░░░░░░░░░░  12% ↓ 52.800 V -0.250 A  -13.2 W  45 mV apart  23.4 °C    now cell overvolt…",
      ])
    for columns in 60...130 {
      let lines = TopSample.text(&model, columns: columns, rows: 8)
      let start = lines[1].firstRange(of: "VALUES").map {
        lines[1].distance(from: lines[1].startIndex, to: $0.lowerBound)
      }
      guard let start else {
        #expect(!lines.joined().contains("grid") && columns < 90)
        continue
      }
      let age = lines[1].distance(
        from: lines[1].startIndex, to: lines[1].firstRange(of: " AGE")?.lowerBound ?? lines[1].endIndex)
      for line in lines[2...3] {
        let text = String(Array(line)[start..<age])
        #expect(Array(line)[start - 1] == " " && text.hasSuffix(" "), "\(line)")
        let known = [
          "45 mV apart", "23.4 °C", "-13.2 W", "-0.9 W", "grid_voltage 226 V", "grid_frequency 49.9 Hz", "…",
        ]
        let rest = known.reduce(text) { $0.replacing($1, with: "") }
        #expect(rest.allSatisfy { $0 == " " }, "\(columns): \(line)")
      }
    }
  }

  /// Healthy is green, low is what a warning is, and critical what an alarm is: the bars, the marks and the words agree.
  @Test(
    arguments: [
      (57, .green), (80, .green), (100, .green), (18, .yellow), (3, .red),
    ] as [(Int, CellStyle.Colour)])
  func theBatterysColourFollowsItsLevel(percent: Int, colour: CellStyle.Colour) {
    // The first row is the selected one, which has no colours.
    var model = TopSample.model([TopSample.row("A"), TopSample.row("SIM0001", percent: percent)])
    let (grid, _) = TopScreen(TopGlyphs(isASCII: false)).draw(&model, columns: 120, rows: 8, now: TopSample.now)
    let bar = (0..<120).map { grid[$0, 3] }.filter {
      (0x2588...0x2591).contains($0.character.unicodeScalars.first?.value ?? 0)
    }
    #expect(bar.count == 14 && bar.allSatisfy { $0.style.colour == colour })
    let arrow = (0..<120).map { grid[$0, 3] }.first { $0.character == "↓" }
    #expect(arrow?.style == .plain, "to be discharged is nothing to warn of")
    #expect(grid[3, 3].style.colour == (colour == .green ? .plain : colour))
  }

  /// The row and the view of one accessory say the same of it.
  @Test func theDetailSaysWhatTheRowSays() {
    var faulty = TopSample.row("F")
    faulty.status = AccessoryStatus(state: .fault, faultCode: 12)
    var stale = TopSample.row("S")
    stale.accessory.isStale = true
    var away = TopSample.row("A", percent: 3)
    away.isConnected = false
    for (row, state) in [
      (faulty, "fault 12"), (stale, "stale"), (away, "gone"), (TopSample.pack, "cell overvoltage"),
      (TopSample.row("I"), "idle"), (TopSample.row("L", percent: 18), "low"),
    ] {
      var model = TopSample.model([row])
      #expect(TopSample.text(&model, columns: 130, rows: 4)[2].contains(" \(state.prefix(13))"), "\(row.name)")
      _ = model.press(.enter)
      #expect(TopSample.text(&model, columns: 80, rows: 10)[0] == "\(row.name)  \(state)")
    }
  }

  /// "7 accessories", not "7"; what is too long for the first line is cut with an ellipsis.
  @Test func theTitleCountsTheAccessories() {
    var model = TopSample.model((0..<7).map { TopSample.row("n\($0)") })
    #expect(TopSample.text(&model, columns: 80, rows: 8)[0].hasSuffix("  7 accessories"))
    model.title = "bridge-cli top (no service)"
    #expect(TopSample.text(&model, columns: 40, rows: 8)[0] == "bridge-cli top (no servic… 7 accessories")
    model.setFilter("n3")
    #expect(TopSample.text(&model, columns: 80, rows: 8)[0].hasSuffix("  1 of 7 accessories"))
  }

  /// In a locale that isn't UTF-8 only ASCII is drawn.
  @Test func anASCIIScreenHasOnlyASCII() {
    var model = TopSample.model([TopSample.pack, TopSample.row("ランプ")] + TopSample.hostile)
    for view in [[], [Key.enter], [.escape, .function(1)]] {
      for key in view { _ = model.press(key) }
      for (columns, rows) in Self.sizes {
        let screen = TopSample.text(&model, columns: columns, rows: rows, isASCII: true)
        #expect(screen.allSatisfy { $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) } })
      }
    }
    var one = TopSample.model([TopSample.row("SIM0001", charge: .charging)])
    #expect(TopSample.text(&one, columns: 80, rows: 4, isASCII: true)[2].contains("#######.....  57% ^"))
  }

  /// No accessory, one, many, all of them hostile: every screen has its size, and nothing that a terminal would act on.
  @Test(arguments: [0, 1, 100, 8_000]) func everyScreenHasItsSizeAndIsHarmless(count: Int) {
    var model = TopSample.model((0..<count).map { TopSample.row("n\($0)", percent: $0 % 101) })
    for row in TopSample.hostile where count > 0 { model.put(row) }
    for key in [Key.home, .character("C"), .enter, .escape, .function(1), .escape, .end] {
      _ = model.press(key)
      for (columns, rows) in Self.sizes + [(1, 1), (2, 2), (7, 3), (300, 100)] {
        var (grid, _) = TopScreen(TopGlyphs(isASCII: false)).draw(
          &model, columns: columns, rows: rows, now: TopSample.now)
        #expect(grid.columns == columns && grid.rows == rows)
        grid.cursor = nil
        var writer = GridWriter(hasColour: false)
        let text = writer.update(to: grid)
        // Of sequences only those that place, clear and invert.
        let rest = text.split(separator: "\u{1B}", omittingEmptySubsequences: true)
        #expect(rest.allSatisfy { $0.hasPrefix("[") })
        #expect(!text.contains("\u{7}") && !text.contains("\u{202E}") && !text.contains("\n"))
      }
    }
  }

  @Test func anEmptyScreenSaysWhy() {
    var model = TopModel(title: "bridge-cli top")
    model.emptyText = "Nothing is plugged in."
    #expect(TopSample.text(&model, columns: 40, rows: 8).contains(" Nothing is plugged in."))
    model.notes = ["The service at /run/x is away: waiting for it"]
    #expect(TopSample.text(&model, columns: 80, rows: 8)[0].hasPrefix("The service at /run/x is away"))
  }

  /// Without colours the marks and the words say everything that the colours say.
  @Test func marksSayWhatColoursSay() {
    var away = TopSample.row("d")
    (away.isConnected, away.record) = (false, TopSample.record(away, .failed))
    var stale = TopSample.row("e")
    stale.accessory.isStale = true
    var trying = TopSample.row("f")
    (trying.isConnected, trying.record) = (false, TopSample.record(trying, .waiting, tries: 2))
    var raised = TopSample.row("g")
    raised.alarms = [AccessoryAlarm(name: "temperature 47", rule: "temperature > 45 °C", since: 1)]
    var model = TopSample.model([
      TopSample.row("a"), TopSample.row("b", percent: 10), TopSample.row("c", percent: 3), away, stale, trying, raised,
    ])
    let screen = TopSample.text(&model, columns: 80, rows: 12)[2..<9]
    #expect(screen.map { String($0.prefix(4)) } == ["   a", "!  b", "!! c", "-  d", "?  e", "+  f", "!! g"])
    #expect(
      screen.map { $0.split(separator: " ").last } == ["idle", "low", "critical", "failed", "stale", "3", "47"])
  }

  /// What the list, its mark and the detail view say follows from what is known of the accessory.
  @Test func statesFollowFromTheAccessory() {
    var row = TopSample.row("SIM0001", status: AccessoryStatus(state: .busy, progress: 40))
    #expect(row.state == "busy 40 %" && row.reach == .attached && !row.isStale && row.problem == nil)
    row.record = TopSample.record(row, .lent)
    #expect(row.state == "lent" && row.reach == .attached)
    row.record = TopSample.record(row, .waiting)
    #expect(row.state == "waiting" && row.reach == .attached, "closed until it is wanted")
    row.record?.problem = Bridge.Problem(AccessoryError(.timedOut, "no answer\u{7}"))
    #expect(row.problem == "no answer\\u{7}")
    // The list still has it, and an event has said that it is gone.
    (row.isConnected, row.record) = (false, TopSample.record(row, .attached))
    #expect(row.state == "gone" && row.reach == .away && row.isStale)
    row.record = TopSample.record(row, .opening)
    #expect(row.state == "opening" && row.reach == .trying)
    (row.record, row.accessory.problem) = (nil, .disconnected("/dev/ttyUSB0"))
    #expect(row.state == "gone" && row.problem == AccessoryError.disconnected("/dev/ttyUSB0").message)
    (row.isConnected, row.isServed) = (true, false)
    #expect(row.state == "no service" && row.reach == .away && row.isStale && row.problem == nil)
    row.gateway = "attic"
    #expect(row.state == "offline" && row.problem == "the gateway is offline" && row.facts[0] == ("Gateway", "attic"))
  }

  /// Values that weren't asked for yet aren't "no values".
  @Test func valuesMayComeLater() {
    var row = TopSample.row("SIM0001")
    row.hasValues = false
    var model = TopSample.model([row])
    #expect(model.row(TopSample.key("SIM0001"))?.values == nil)
    model.setValues([AccessoryValue("power", number: 1)], of: TopSample.key("SIM0001"))
    #expect(model.row(TopSample.key("SIM0001"))?.values?.map(\.name) == ["power"])
  }

  @Test func theDetailShowsCellsFaultsAndValues() {
    var model = TopSample.model([TopSample.pack])
    _ = model.press(.enter)
    let screen = TopSample.text(&model, columns: 80, rows: 40)
    #expect(screen[0] == "PACK1  cell overvoltage")
    #expect(screen.contains { $0.contains(" 12 % ↓ low  52.800 V  -0.250 A  discharging") })
    #expect(screen.contains("!! fault: cell overvoltage"))
    #expect(screen.contains("Cells  4  3.300 V to 3.345 V  spread 45 mV"))
    #expect(screen.contains { $0.hasPrefix("  1 3.300 V █▋░░░░░░ min") && $0.contains("  3 -") })
    #expect(screen.contains { $0.contains("  2 3.345 V ████████ max") })
    #expect(screen.contains { $0.contains(" power  -13.2 W") })
    #expect(screen.contains { $0.hasPrefix("Profile") && $0.hasSuffix("jbd") })
  }

  /// Nothing of a number is missing where there is little room.
  @Test func theDetailFitsFortyColumns() {
    var pack = TopSample.pack
    pack.accessory.values = ValuesReading(
      [AccessoryValue("identity_of_it", content: .text("SmartShunt 500A/50mV of the roof"))], at: TopSample.now)
    var model = TopSample.model([pack])
    _ = model.press(.enter)
    let screen = TopSample.text(&model, columns: 40, rows: 40)
    let value = screen.firstIndex { $0.hasPrefix(" identity_of_it") } ?? 0
    #expect(
      screen[value...(value + 1)] == [
        " identity_of_it  SmartShunt 500A/50mV of", "                 the roof",
      ])
    #expect(screen[1...2] == ["▋░░░░ 12 % ↓", "low  52.800 V  -0.250 A  discharging"])
    let cells = screen.firstIndex { $0.hasPrefix("Cells") } ?? 0
    #expect(screen[cells...(cells + 1)] == ["Cells  4  3.300 V to 3.345 V  spread 45", "       mV"])
  }

  @Test func theDetailScrolls() {
    var pack = TopSample.pack
    pack.profile = nil
    pack.accessory.values = ValuesReading(
      (0..<100).map { AccessoryValue("value_\($0)", content: .number(Double($0))) }, at: TopSample.now)
    var model = TopSample.model([pack])
    _ = model.press(.enter)
    _ = TopSample.text(&model, columns: 40, rows: 20)
    _ = model.press(.end)
    var screen = TopSample.text(&model, columns: 40, rows: 20)
    #expect(screen[16].hasPrefix(" value_99") && screen[18] == "Path  PACK1")
    _ = model.press(.up)
    screen = TopSample.text(&model, columns: 40, rows: 20)
    #expect(screen[17].hasPrefix(" value_99"))
    // The accessory goes while it is looked at.
    model.remove(TopSample.key("PACK1"))
    #expect(TopSample.text(&model, columns: 40, rows: 20).contains("It is no longer there."))
  }

  @Test func theDetailHasAGraphAtAnySize() {
    var model = TopSample.model([TopSample.pack])
    _ = model.press(.enter)
    model.graph = TopGraph(
      [
        ReadingSeries(
          name: ReadingSeries.percent, unit: "%",
          points: (0..<60).map { .init(time: 1_000 + Double($0) * 60, span: 60, Double(100 - $0)) })
      ], end: 4_600)
    for (columns, rows) in Self.sizes {
      _ = model.press(.end)
      let screen = TopSample.text(&model, columns: columns, rows: rows)
      #expect(screen.joined().contains { (0x2800...0x28FF).contains($0.unicodeScalars.first?.value ?? 0) }, "\(screen)")
    }
  }

  @Test func helpNamesEveryKey() {
    var model = TopModel(title: "")
    _ = model.press(.function(1))
    let text = TopSample.text(&model, columns: 80, rows: 60).joined(separator: "\n")
    for (keys, meaning) in TopModel.keys { #expect(text.contains(keys) && text.contains(meaning.prefix(20))) }
  }
}
