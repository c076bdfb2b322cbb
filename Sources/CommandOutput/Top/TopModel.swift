// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// The state of `top`: the accessories, their order and filter, and the user's position. It has no clock and does no I/O; `TopScreen`
/// draws it.
package struct TopModel: Sendable {
  /// What the screen shows.
  package enum View: Sendable, Hashable {
    case list, help
    /// One accessory, by its key.
    case detail(UInt64)
  }

  /// A line that the user types.
  package struct Prompt: Sendable {
    package enum Purpose: Sendable, Hashable { case filter, search }

    package var purpose: Purpose
    package var editor: LineEditor
    /// The filter before the user began to type.
    var before: String
  }

  /// The title, at the left of the first row: the program and its source.
  package var title: String
  /// Notes about the sources of accessories, for example an unavailable service or broker. Escaped.
  package var notes: [String] = []
  /// The text of the list while it is empty.
  package var emptyText = "No accessory yet."

  private(set) var rows: [TopRow] = []
  private var indices: [UInt64: Int] = [:]
  /// The indices of the rows that pass the filter, in order; nil if outdated.
  private var order: [Int]?

  package private(set) var sort: TopSort
  package private(set) var isInverted = false
  package private(set) var filter: String
  package private(set) var view = View.list
  package private(set) var prompt: Prompt?
  /// Whether the screen is frozen, so that it can be read or copied.
  package private(set) var isPaused = false
  /// The key of the selected row; nil for the first row, whichever it is.
  private var selected: UInt64?
  /// The first shown row of the list, and of the detail view or the help.
  private(set) var top = 0
  package internal(set) var scroll = 0
  /// The number of rows that the list, the detail view or the help had when it was last drawn.
  private(set) var page = 20
  /// The number of lines of the detail view or the help.
  private var lineCount = 0
  private var searched = ""
  /// The graphs of the accessory in the detail view.
  package var graph = TopGraph()

  /// A list without accessories.
  package init(title: String, sort: TopSort = .name, filter: String = "") {
    (self.title, self.sort, self.filter) = (title, sort, filter)
  }

  // MARK: - Accessories

  /// The number of all accessories.
  package var count: Int { rows.count }

  package func row(_ key: UInt64) -> TopRow? { indices[key].map { rows[$0] } }

  /// Adds or replaces a row.
  package mutating func put(_ row: TopRow) {
    if let index = indices[row.key] {
      rows[index] = row
    } else {
      indices[row.key] = rows.count
      rows.append(row)
    }
    order = nil
  }

  /// Sets the values of a row. They don't affect the order.
  package mutating func setValues(_ values: [AccessoryValue], of key: UInt64) {
    guard let index = indices[key] else { return }
    rows[index].accessory.values = ValuesReading(values, at: MonotonicTime(nanoseconds: 0))
    rows[index].hasValues = true
  }

  /// Removes a row.
  package mutating func remove(_ key: UInt64) {
    guard let index = indices.removeValue(forKey: key) else { return }
    let last = rows.removeLast()
    if index < rows.count {
      rows[index] = last
      indices[last.key] = index
    }
    order = nil
  }

  /// The indices of the listed rows, in order.
  mutating func ordered() -> [Int] {
    if let order { return order }
    let words = filter.lowercased().split(separator: " ").map(String.init)
    var places: [TopSort.Place] = []
    places.reserveCapacity(rows.count)
    for (index, row) in rows.enumerated() where row.matches(words) { places.append(sort.place(row, index)) }
    let (sort, isInverted) = (sort, isInverted)
    places.sort { sort.isBefore($0, $1, isInverted: isInverted) }
    let order = places.map(\.index)
    self.order = order
    return order
  }

  /// The number of accessories of each severity, and of those that can't be reached.
  var counts: (alarms: Int, warnings: Int, away: Int) {
    rows.reduce(into: (0, 0, 0)) { counts, row in
      switch row.severity {
      case .alarm: counts.0 += 1
      case .warning: counts.1 += 1
      case .none: break
      }
      if row.reach == .away { counts.2 += 1 }
    }
  }

  // MARK: - Places in the list

  /// The position of the selected row in the order.
  mutating func selection() -> Int {
    let order = ordered()
    guard let selected, let index = indices[selected] else { return 0 }
    return order.firstIndex(of: index) ?? min(top, max(0, order.count - 1))
  }

  /// The key of the selected row; nil when no row is listed.
  package mutating func selectedKey() -> UInt64? {
    let order = ordered()
    let place = selection()
    return order.indices.contains(place) ? rows[order[place]].key : nil
  }

  private mutating func select(_ place: Int) {
    let order = ordered()
    guard !order.isEmpty else { return selected = nil }
    let place = min(max(0, place), order.count - 1)
    selected = place == 0 ? nil : rows[order[place]].key
  }

  /// Fits the list to a height in rows. Returns the positions of the shown rows in the order.
  mutating func fit(rows height: Int) -> Range<Int> {
    page = max(1, height)
    let (count, selection) = (ordered().count, selection())
    top = min(max(0, top), max(0, count - page))
    if selection < top { top = selection }
    if selection >= top + page { top = selection - page + 1 }
    return top..<min(count, top + page)
  }

  /// Fits lines of text to a height. Returns the shown lines.
  mutating func fit(lines: Int, rows height: Int) -> Range<Int> {
    (page, lineCount) = (max(1, height), lines)
    scroll = min(max(0, scroll), max(0, lines - page))
    return scroll..<min(lines, scroll + page)
  }

  /// The keys of the rows in the list when it was last drawn, or the key of the detail view.
  package mutating func shownKeys() -> [UInt64] {
    if case .detail(let key) = view { return [key] }
    let order = ordered()
    return order[min(top, order.count)..<min(order.count, top + page)].map { rows[$0].key }
  }

  // MARK: - Changes by the user

  mutating func show(_ view: View) { (self.view, scroll) = (view, 0) }

  mutating func openDetail() {
    guard let key = selectedKey() else { return }
    selected = key
    graph = TopGraph()
    show(.detail(key))
  }

  mutating func togglePause() { isPaused.toggle() }

  mutating func sort(by sort: TopSort) {
    if self.sort == sort { isInverted.toggle() } else { (self.sort, isInverted) = (sort, false) }
    order = nil
  }

  mutating func stepSort(_ step: Int) { sort(by: sort.next(step)) }

  mutating func invert() {
    isInverted.toggle()
    order = nil
  }

  mutating func setFilter(_ text: String) {
    guard text != filter else { return }
    filter = text
    order = nil
  }

  mutating func move(_ step: Int) {
    switch view {
    case .list: select(selection() + step)
    case .detail, .help: scroll = min(max(0, scroll + step), max(0, lineCount - page))
    }
  }

  mutating func moveToEnd() { move(.max / 4) }
  mutating func moveToBegin() { move(-.max / 4) }

  mutating func beginPrompt(_ purpose: Prompt.Purpose) {
    var editor = LineEditor()
    if purpose == .filter {
      for scalar in filter.unicodeScalars { _ = editor.handle(.character(scalar)) }
    }
    prompt = Prompt(purpose: purpose, editor: editor, before: filter)
  }

  mutating func setPrompt(_ editor: LineEditor) {
    prompt?.editor = editor
    guard let prompt else { return }
    if prompt.purpose == .filter { setFilter(prompt.editor.text) } else { search(prompt.editor.text, from: 0) }
  }

  /// Ends typing. `isKept` says whether the filter stays.
  mutating func endPrompt(isKept: Bool) {
    guard let prompt else { return }
    self.prompt = nil
    if prompt.purpose == .filter, !isKept { setFilter("") }
  }

  /// Selects the next accessory that contains this text, starting `step` positions after the selected one.
  mutating func search(_ text: String, from step: Int) {
    let words = text.lowercased().split(separator: " ").map(String.init)
    guard !words.isEmpty else { return }
    searched = text
    let order = ordered()
    let start = selection() + step
    for offset in order.indices {
      let place = (start + offset) % order.count
      if rows[order[place]].matches(words) { return select(place) }
    }
  }

  mutating func searchAgain() { search(searched, from: 1) }
}

/// The graphs in the detail view.
package struct TopGraph: Sendable, Hashable {
  /// The readings, one series for each graph.
  package var series: [ReadingSeries] = []
  /// The end of the graphs, in seconds since 1970, and their length in seconds.
  package var (end, length) = (0.0, 0.0)

  package init() {}

  /// Creates graphs of these series over their whole time up to `end`, but at least ten minutes.
  package init(_ series: [ReadingSeries], end: Double) {
    self.series = series
    self.end = end
    length = max(600, end - (series.compactMap { $0.points.first?.time }.min() ?? end))
  }
}
