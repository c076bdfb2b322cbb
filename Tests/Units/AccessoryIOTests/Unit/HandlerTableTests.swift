// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryIO

@Suite struct HandlerTableTests {
  private final class Handler: EventHandler {
    func ready(_ readiness: Readiness) {}
  }

  @Test func aTokenFindsItsHandlerUntilItIsRemoved() {
    var table = HandlerTable()
    let handlers = (0..<5).map { _ in Handler() }
    let tokens = handlers.map { table.add($0) }
    #expect(Set(tokens).count == 5)
    for (token, handler) in zip(tokens, handlers) { #expect(table[token] === handler) }
    #expect(table.remove(tokens[2]) === handlers[2])
    #expect(table[tokens[2]] == nil)
    #expect(table.remove(tokens[2]) == nil)
    for index in [0, 1, 3, 4] { #expect(table[tokens[index]] === handlers[index]) }
  }

  @Test func aTokenThatIsOverFindsNothingWhereAnotherIsNow() {
    var table = HandlerTable()
    let (first, second) = (Handler(), Handler())
    let old = table.add(first)
    _ = table.remove(old)
    let new = table.add(second)
    #expect(old != new)
    #expect(table[old] == nil)
    #expect(table.remove(old) == nil)
    #expect(table[new] === second)
  }

  @Test func aStrangersTokenFindsNothing() {
    var table = HandlerTable()
    _ = table.add(Handler())
    for value: UInt64 in [1, 1 << 32, .max] { #expect(table[EventToken(rawValue: value)] == nil) }
  }

  @Test func aHandlerThatIsRemovedIsLetGo() {
    var table = HandlerTable()
    weak var handler: Handler?
    let token = {
      let new = Handler()
      handler = new
      return table.add(new)
    }()
    #expect(handler != nil)
    _ = table.remove(token)
    #expect(handler == nil)
  }
}
