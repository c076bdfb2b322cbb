// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// The columns of the list in `top`. A narrower terminal gets fewer columns; a column that doesn't fit is omitted as a whole.
struct TopColumns {
  private enum Column { case mark, name, bar, percent, arrow, voltage, current, values, age, state }

  private var columns: [(column: Column, start: Int, width: Int)] = []

  private static let gap = 1
  /// The minimum width of the values: one value with its name.
  private static let leastValues = 20

  init(width: Int) {
    // The columns with a fixed width, most important first.
    let isWide = width >= 100
    let state = isWide ? 14 : width >= 60 ? 10 : 8
    let bar = isWide ? 14 : width >= 60 ? 8 : 5
    let wanted: [(Column, Int)] = [
      (.mark, 2), (.percent, 4), (.arrow, 1), (.age, 3), (.state, state), (.bar, bar), (.voltage, 8), (.current, 8),
    ]
    let leastName = min(width >= 60 ? 12 : 10, max(1, width))
    var room = width - leastName
    var chosen: [(Column, Int)] = []
    for (column, size) in wanted where size + Self.gap <= room {
      chosen.append((column, size))
      room -= size + Self.gap
    }
    // The values get the remaining width, then the name. Text next to numbers has a wider gap on both sides.
    var name = leastName
    let valuesGap = Self.gap + 2
    if room >= Self.leastValues + valuesGap {
      name += min(room - Self.leastValues - valuesGap, 12)
      chosen.append((.values, room - (name - leastName) - valuesGap))
    } else {
      func grow(_ column: Column, to size: Int) {
        guard width >= 60, let index = chosen.firstIndex(where: { $0.0 == column }) else { return }
        let more = min(max(0, size - chosen[index].1), room)
        chosen[index].1 += more
        room -= more
      }
      grow(.state, to: 14)
      name += min(room, 8)
      room -= name - leastName
      grow(.bar, to: 14)
      name += room
    }
    chosen.append((.name, name))
    var start = 0
    for column in [Column.mark, .name, .bar, .percent, .arrow, .voltage, .current, .values, .age, .state] {
      guard let size = chosen.first(where: { $0.0 == column })?.1 else { continue }
      if column == .values { start += 1 }
      columns.append((column, start, size))
      start += size + Self.gap + (column == .values ? 1 : 0)
    }
  }

  func drawTitles(on grid: inout CellGrid, row: Int, _ model: TopModel, _ glyphs: TopGlyphs) {
    grid.draw(String(repeating: " ", count: grid.columns), .inverse, at: 0, row: row)
    let mark = glyphs.sortMark(isInverted: model.isInverted)
    for (column, start, width) in columns {
      var title =
        switch column {
        case .mark: ""
        case .name: "NAME"
        // A whole word plus the sort mark, even in only five columns.
        case .bar: width > 6 ? "CHARGE" : "BATT"
        case .percent: columns.contains { $0.column == .bar } ? "" : "%"
        case .arrow: ""
        case .voltage: "VOLTAGE"
        case .current: "CURRENT"
        case .values: "VALUES"
        case .age: "AGE"
        case .state: "STATE"
        }
      let isSorted: Bool =
        switch (model.sort, column) {
        case (.name, .name), (.charge, .bar), (.age, .age), (.alarm, .mark): true
        default: false
        }
      if isSorted { title = String(title.prefix(max(0, width - 1))) + mark }
      let isRight = [.voltage, .current, .percent].contains(column)
      grid.draw(
        title, CellStyle(bold: isSorted, inverse: true), at: isRight ? start + max(0, width - title.count) : start,
        row: row, end: start + width)
    }
  }

  func draw(_ row: TopRow, on grid: inout CellGrid, row line: Int, _ now: MonotonicTime, _ glyphs: TopGlyphs) {
    let battery = row.battery
    for (column, start, width) in columns {
      let end = start + width
      func put(_ text: String, _ style: CellStyle = .plain, isRight: Bool = false) {
        let text = TextCut.text(text, columns: width, isASCII: glyphs.isASCII)
        let size = isRight ? TextWidth.of(text) : width
        grid.draw(text, style, at: start + max(0, width - size), row: line, end: end)
      }
      switch column {
      case .mark: grid.draw([glyphs.mark(row)], at: start, row: line, end: end)
      case .name: put(row.title, glyphs.style(row.severity))
      case .bar:
        guard let battery else { break }
        if let percent = battery.percent {
          put(glyphs.bar(Double(percent) / 100, width: width), glyphs.style(battery))
        } else if battery.level != .unknown {
          put(battery.level.rawValue, glyphs.style(battery))
        }
      case .percent: if let percent = battery?.percent { put("\(percent)%", isRight: true) }
      case .arrow: if let battery { put(glyphs.arrow(battery.charge), glyphs.style(battery.charge)) }
      case .voltage: if let volts = battery?.millivolts { put(Self.amount(volts, "V", width), isRight: true) }
      case .current: if let amperes = battery?.milliamperes { put(Self.amount(amperes, "A", width), isRight: true) }
      case .values: put(TextCut.whole(row.summary, columns: width, isASCII: glyphs.isASCII))
      case .age: if let time = row.readTime { put(AgeText.text(now - time), row.isStale ? CellStyle(.yellow) : .plain) }
      case .state: put(row.shownState, row.reach == .attached ? glyphs.style(row.severity) : CellStyle(.yellow))
      }
    }
  }

  /// "12.345 V", with fewer decimals if it doesn't fit.
  private static func amount(_ thousandths: Int, _ unit: String, _ width: Int) -> String {
    var text = DecimalText.thousandths(thousandths)
    while text.count + 1 + unit.count > width, text.contains(".") {
      text.removeLast()
      if text.last == "." { text.removeLast() }
    }
    return "\(text) \(unit)"
  }
}
