// SPDX-License-Identifier: Apache-2.0

import Console

/// The keys of `top`. They match htop's where both programs have the same function.
extension TopModel {
  /// What the owner of the screen does after a key.
  package enum Effect: Sendable, Hashable {
    case draw, quit, suspend
    /// Draws everything again, whatever the terminal shows.
    case redraw
    /// The key has no effect.
    case nothing
  }

  /// The keys and what they do, for the help screen and the manual.
  package static let keys: [(keys: String, meaning: String)] = [
    ("Up Down k j", "select the accessory above or below; scroll a view"),
    ("PgUp PgDn", "a page up or down"), ("Home End", "the first, the last"),
    ("Enter", "show everything about the selected accessory; again: back"),
    ("/ F4 \\", "filter: show only accessories with the words that you type"),
    ("F3 Ctrl-F", "search: go to the next accessory with what you type; n or F3: the one after it"),
    ("Esc", "end a view, a filter"),
    ("< > F6", "sort by name, charge, age or alarm"),
    ("N C T A", "sort by name, charge, age, alarm; again: invert"), ("I", "invert the order"),
    ("Space", "pause: keep the screen as it is; again: continue"),
    ("Ctrl-L", "draw the screen again"), ("F1 ? h", "this help"), ("Ctrl-Z", "stop; fg goes on"),
    ("q F10 Ctrl-C", "quit; q ends a view first"),
  ]

  /// Handles a key.
  package mutating func press(_ key: Key) -> Effect {
    switch key {
    case .ctrl("c"), .function(10): return .quit
    case .ctrl("z"): return .suspend
    case .ctrl("l"): return .redraw
    default: break
    }
    if prompt != nil { return pressInPrompt(key) }
    switch key {
    case .up, .character("k"), .ctrl("p"): move(-1)
    case .down, .character("j"), .ctrl("n"): move(1)
    case .pageUp, .ctrl("b"): move(-max(1, page - 1))
    case .pageDown: move(max(1, page - 1))
    case .home, .character("g"): moveToBegin()
    case .end, .character("G"): moveToEnd()
    case .function(1), .character("?"), .character("h"): show(view == .help ? .list : .help)
    case .character(" "): togglePause()
    default: return view == .list ? pressInList(key) : pressInView(key)
    }
    return .draw
  }

  private mutating func pressInList(_ key: Key) -> Effect {
    switch key {
    case .character("q"): return .quit
    case .enter, .right: openDetail()
    case .character("/"), .character("\\"), .function(4): beginPrompt(.filter)
    case .function(3), .ctrl("f"): beginPrompt(.search)
    case .character("n"): searchAgain()
    case .escape: setFilter("")
    case .character("<"): stepSort(-1)
    case .character(">"), .function(6): stepSort(1)
    case .character("N"): sort(by: .name)
    case .character("C"), .character("P"): sort(by: .charge)
    case .character("T"): sort(by: .age)
    case .character("A"): sort(by: .alarm)
    case .character("I"): invert()
    default: return .nothing
    }
    return .draw
  }

  private mutating func pressInView(_ key: Key) -> Effect {
    switch key {
    case .character("q"), .escape, .enter, .left, .backspace: show(.list)
    default: return .nothing
    }
    return .draw
  }

  private mutating func pressInPrompt(_ key: Key) -> Effect {
    guard let prompt else { return .nothing }
    switch key {
    case .enter: endPrompt(isKept: true)
    case .escape: endPrompt(isKept: false)
    case .function(3) where prompt.purpose == .search: searchAgain()
    case .up, .down:
      // Up and down move the list, since there is no history of typed lines.
      move(key == .up ? -1 : 1)
    case .tab: return .nothing
    default:
      var editor = prompt.editor
      guard case .changed = editor.handle(key) else { return .nothing }
      setPrompt(editor)
    }
    return .draw
  }
}
