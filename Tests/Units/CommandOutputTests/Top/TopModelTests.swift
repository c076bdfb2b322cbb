// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console
import TestSupport
import Testing

@testable import CommandOutput

@Suite struct TopModelTests {
  private func names(_ model: inout TopModel) -> [String] { model.ordered().map { model.rows[$0].name } }

  private func press(_ keys: Key..., on model: inout TopModel) -> TopModel.Effect {
    keys.reduce(.nothing) { model.press($1) }
  }

  private func type(_ text: String, _ model: inout TopModel) {
    for scalar in text.unicodeScalars { _ = model.press(.character(scalar)) }
  }

  private var three: TopModel {
    TopSample.model([
      TopSample.row("b", percent: 90, age: .seconds(50)), TopSample.row("a", percent: 15, age: .seconds(5)),
      TopSample.row("c", percent: nil, age: nil),
    ])
  }

  // MARK: - Order

  @Test func keysChooseTheOrderOfRows() {
    var model = three
    #expect(names(&model) == ["a", "b", "c"])
    _ = press(.character("I"), on: &model)
    #expect(names(&model) == ["c", "b", "a"])
    _ = press(.character("C"), on: &model)
    #expect(names(&model) == ["a", "b", "c"])
    // Again: inverted. What isn't known stays last.
    _ = press(.character("C"), on: &model)
    #expect(names(&model) == ["b", "a", "c"])
    _ = press(.character("T"), on: &model)
    #expect(names(&model) == ["a", "b", "c"])
    _ = press(.character("A"), on: &model)
    #expect(names(&model) == ["a", "b", "c"])
    #expect(model.sort == .alarm)
    _ = press(.character(">"), on: &model)
    #expect(model.sort == .name)
    _ = press(.character("<"), .character("<"), on: &model)
    #expect(model.sort == .age)
    _ = press(.function(6), on: &model)
    #expect(model.sort == .alarm)
  }

  @Test func rowsComeChangeAndGo() {
    var model = three
    model.put(TopSample.row("d", percent: 1))
    model.remove(TopSample.key("b"))
    model.remove(TopSample.key("nobody"))
    #expect(names(&model) == ["a", "c", "d"])
    #expect(model.counts == (1, 1, 0))
    model.put(TopSample.row("a", percent: 99))
    #expect(model.counts == (1, 0, 0))
    for name in ["a", "c", "d"] { model.remove(TopSample.key(name)) }
    #expect(model.count == 0 && model.selectedKey() == nil)
  }

  // MARK: - The selected row

  /// The selection stays with its accessory when the order changes; at the first row it stays at the top.
  @Test func theSelectionFollowsItsAccessory() {
    var model = three
    #expect(model.selectedKey() == TopSample.key("a"))
    _ = press(.character("I"), on: &model)
    #expect(model.selectedKey() == TopSample.key("c"))
    _ = press(.down, on: &model)
    #expect(model.selectedKey() == TopSample.key("b"))
    model.put(TopSample.row("bb"))
    model.put(TopSample.row("z"))
    #expect(model.selectedKey() == TopSample.key("b"))
    _ = press(.end, on: &model)
    #expect(model.selectedKey() == TopSample.key("a"))
    _ = press(.home, on: &model)
    #expect(model.selectedKey() == TopSample.key("z"))
    _ = press(.up, .up, on: &model)
    #expect(model.selectedKey() == TopSample.key("z"))
  }

  @Test func pageKeysMoveTheSelectionByAScreen() {
    var model = TopSample.model((100..<200).map { TopSample.row("n\($0)") })
    _ = TopSample.text(&model, columns: 80, rows: 24)
    _ = press(.pageDown, on: &model)
    #expect(model.selectedKey() == TopSample.key("n120"))
    _ = press(.pageDown, .pageUp, on: &model)
    #expect(model.selectedKey() == TopSample.key("n120"))
    #expect(TopSample.text(&model, columns: 80, rows: 24).contains { $0.contains("n120") })
    _ = press(.end, on: &model)
    #expect(model.selectedKey() == TopSample.key("n199"))
    let screen = TopSample.text(&model, columns: 80, rows: 24)
    #expect(screen[22].contains("n199") && screen[23].hasSuffix("80-100 of 100"))
    #expect(model.shownKeys().count == 21)
    // The accessory that was selected is gone.
    model.remove(TopSample.key("n199"))
    _ = TopSample.text(&model, columns: 80, rows: 24)
    #expect(model.selectedKey() != nil)
  }

  // MARK: - Filter and search

  @Test func aFilterIsTyped() {
    var model = three
    #expect(press(.character("/"), on: &model) == .draw)
    type("C", &model)
    #expect(names(&model) == ["c"])
    _ = press(.backspace, on: &model)
    // What would be a command is typed, too.
    type("q", &model)
    #expect(names(&model) == [])
    #expect(TopSample.text(&model, columns: 60, rows: 10).contains { $0.contains("No accessory has \"q\"") })
    _ = press(.backspace, on: &model)
    type("low", &model)
    #expect(names(&model) == ["a"], "words of alarms are found")
    _ = press(.enter, on: &model)
    #expect(model.prompt == nil && model.filter == "low")
    _ = press(.escape, on: &model)
    #expect(model.filter == "" && names(&model).count == 3)
    _ = press(.function(4), on: &model)
    type("a", &model)
    _ = press(.escape, on: &model)
    #expect(model.prompt == nil && model.filter == "")
  }

  @Test func aSearchSelectsTheNextMatch() {
    var model = TopSample.model(["a1", "b1", "a2", "b2"].map { TopSample.row($0) })
    _ = press(.function(3), on: &model)
    type("b", &model)
    #expect(model.selectedKey() == TopSample.key("b1"))
    _ = press(.function(3), on: &model)
    #expect(model.selectedKey() == TopSample.key("b2"))
    _ = press(.enter, on: &model)
    _ = press(.character("n"), on: &model)
    #expect(model.selectedKey() == TopSample.key("b1"))
    #expect(names(&model).count == 4)
  }

  // MARK: - Views

  @Test func keysOpenAndCloseTheViews() {
    var model = three
    _ = press(.enter, on: &model)
    #expect(model.view == .detail(TopSample.key("a")))
    #expect(press(.character("q"), on: &model) == .draw)
    #expect(model.view == .list)
    for key in [Key.function(1), .character("?"), .character("h")] {
      _ = press(key, on: &model)
      #expect(model.view == .help)
      _ = press(.escape, on: &model)
      #expect(model.view == .list)
    }
    _ = press(.character(" "), on: &model)
    #expect(model.isPaused)
    for key in [Key.character("q"), .function(10), .ctrl("c")] { #expect(model.press(key) == .quit) }
    #expect(model.press(.ctrl("z")) == .suspend)
    #expect(model.press(.ctrl("l")) == .redraw)
    #expect(model.press(.unknown) == .nothing)
  }

  /// Any keys in any order are harmless.
  @Test(arguments: 1...3) func randomKeysNeverTrap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var model = TopSample.model(TopSample.hostile + [TopSample.pack])
    let keys: [Key] =
      [.enter, .tab, .backspace, .escape, .up, .down, .left, .right, .home, .end, .insert, .delete, .pageUp, .pageDown]
      + (1...12).map { .function($0) } + (0..<32).map { .control($0) }
      + "/\\qnNCTAI<> ?hkjgGx長".unicodeScalars.map { .character($0) }
    for round in 0..<1_000 {
      _ = model.press(keys.randomElement(using: &random) ?? .enter)
      if round % 7 == 0 { _ = TopSample.text(&model, columns: round % 90, rows: round % 30) }
      if round % 50 == 0 { model.remove(TopSample.key("\(round / 50 % 7)")) }
      if round % 60 == 0 { model.put(TopSample.hostile[round / 60 % 7]) }
    }
  }
}
