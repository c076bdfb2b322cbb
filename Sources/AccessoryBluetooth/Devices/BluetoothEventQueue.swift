// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// The events that one reader of a `BluetoothSource` hasn't read yet. Each device has at most one waiting event, with
/// its newest state; a device that has appeared and disappeared in the meantime has none. So the number of events is
/// limited by the devices that BlueZ has and those that the reader knows.
final class BluetoothEventQueue: Sendable {
  private struct State {
    var events: [BluetoothAddress: (number: Int, event: DeviceEvent)] = [:]
    /// The devices in the order of their oldest events. An entry is ignored if no event has its number.
    var order: [(number: Int, address: BluetoothAddress)] = []
    var first = 0
    var next = 0
  }

  private let state = Locked(State())
  private let (signals, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  /// How many events wait.
  var count: Int { state.withLock { $0.events.count } }

  /// Adds an event after those of other devices.
  func add(_ event: DeviceEvent) {
    guard let address = event.device.bluetooth?.address else { return }
    state.withLock { state in
      guard let before = state.events[address] else {
        state.next += 1
        state.events[address] = (state.next, event)
        return state.order.append((state.next, address))
      }
      state.events[address] = Self.sum(before.event, event).map { (before.number, $0) }
      let isMostlyVoid = state.order.count - state.first > 2 * state.events.count + 64
      if isMostlyVoid { Self.tidy(&state) }
    }
    wake.yield()
  }

  /// Combines two events of a device; nil if nothing is left to report.
  private static func sum(_ before: DeviceEvent, _ now: DeviceEvent) -> DeviceEvent? {
    switch (before, now) {
    case (.added, .removed): nil
    case (.added, .changed(let device, _)), (.added, .added(let device)): .added(device)
    case (.changed(_, let told), .changed(let device, _)), (.changed(_, let told), .added(let device)):
      .changed(device, from: told)
    case (.changed(_, let told), .removed): .removed(told)
    case (.removed(let told), .added(let device)), (.removed(let told), .changed(let device, _)):
      .changed(device, from: told)
    case (.removed, .removed): before
    }
  }

  private static func tidy(_ state: inout State) {
    state.order = state.order[state.first...].filter { [events = state.events] in
      events[$0.address]?.number == $0.number
    }
    state.first = 0
  }

  /// The next event, when there is one; nil at the end, and when the task is cancelled.
  func next() async -> DeviceEvent? {
    while true {
      if let event = take() { return event }
      var iterator = signals.makeAsyncIterator()
      if await iterator.next() == nil { return nil }
    }
  }

  /// The next event; nil if none waits.
  func take() -> DeviceEvent? {
    state.withLock { state in
      while state.first < state.order.count {
        let (number, address) = state.order[state.first]
        state.first += 1
        if state.first == state.order.count { (state.order, state.first) = ([], 0) }
        guard let found = state.events[address], found.number == number else { continue }
        state.events[address] = nil
        return found.event
      }
      return nil
    }
  }

  /// Ends the queue, because the reader has stopped.
  func end() { wake.finish() }

  /// The events as a stream for one reader. `ended` is called, once or twice, when the reader has stopped.
  func stream(_ ended: @escaping @Sendable () -> Void) -> AsyncStream<DeviceEvent> {
    let reader = Reader(self, ended)
    return AsyncStream {
      await reader.queue.next()
    } onCancel: {
      reader.end()
    }
  }

  /// An object that the stream retains, so that the stream's release is noticed.
  private final class Reader: Sendable {
    let queue: BluetoothEventQueue
    private let ended: @Sendable () -> Void

    init(_ queue: BluetoothEventQueue, _ ended: @escaping @Sendable () -> Void) {
      (self.queue, self.ended) = (queue, ended)
    }

    deinit { end() }

    func end() {
      queue.end()
      ended()
    }
  }
}

extension DeviceEvent {
  /// The device, as it is now or was last.
  fileprivate var device: Device {
    switch self {
    case .added(let device), .changed(let device, _), .removed(let device): device
    }
  }
}
