// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation
import Testing

@testable import ExternalAccessory

/// Which events are owed, without threads or run loops.
@Suite struct StreamEventsTests {
  private func all(_ events: inout StreamEvents) -> [StreamEvents.Due] {
    var all: [StreamEvents.Due] = []
    while let due = events.next() { all.append(due) }
    return all
  }

  private func expect(
    _ events: inout StreamEvents, _ wanted: [StreamEvents.Due], _ why: Comment? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let found = all(&events)
    #expect(found == wanted, why, sourceLocation: location)
  }

  @Test func openingIsTheFirstEvent() {
    var events = StreamEvents()
    events.oweReady()
    #expect(events.status == .notOpen)
    expect(&events, [], "nothing is told before it is opened")
    events.open()
    #expect(events.status == .open)
    #expect(events.owesAny)
    expect(&events, [.event(.openCompleted), .ready])
    #expect(!events.owesAny)
    events.oweReady()
    events.oweReady()
    expect(&events, [.ready], "twice the same is told once")
  }

  @Test func openedTwiceIsOpenedOnce() {
    var events = StreamEvents()
    events.open()
    _ = all(&events)
    events.open()
    expect(&events, [])
  }

  @Test func anUnplugIsTheEnd() {
    var events = StreamEvents()
    events.open()
    _ = all(&events)
    events.finish(.disconnected("it"))
    #expect(events.status == .atEnd)
    #expect(!events.isOver)
    expect(&events, [.event(.endEncountered)])
    #expect(events.isOver)
    events.oweReady()
    events.finish(nil)
    expect(&events, [], "nothing comes behind the end")
    #expect(events.end?.error?.kind == .disconnected, "the first end counts")
  }

  @Test func aFailureIsAnError() {
    var events = StreamEvents()
    events.open()
    events.finish(AccessoryError(.ioFailure, "broken"))
    expect(&events, [.event(.openCompleted), .event(.errorOccurred)])
    #expect(events.status == .error)
  }

  @Test func aStreamEndedBeforeOpeningOpensAndEnds() {
    var events = StreamEvents()
    events.finish(nil)
    #expect(events.status == .notOpen)
    events.open()
    expect(&events, [.event(.openCompleted), .event(.endEncountered)])
  }

  @Test func aClosedStreamIsSilent() {
    var events = StreamEvents()
    events.open()
    let (first, second) = (events.close(), events.close())
    #expect(first && !second)
    #expect(events.status == .closed)
    expect(&events, [])
    events.open()
    #expect(events.status == .closed, "it isn't opened again")
    expect(&events, [])
  }
}
