// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryLink

/// The kinds of events to receive beside battery and status.
package struct WantedEvents: Sendable {
  /// Whether new values are wanted.
  package var values: Bool
  /// Whether alarms are wanted, which only a service raises.
  package var alarms: Bool

  /// Battery and status, and these kinds.
  package init(values: Bool = false, alarms: Bool = false) { (self.values, self.alarms) = (values, alarms) }
}

/// An event of an accessory.
package struct AccessoryEvent: Sendable {
  /// What has happened.
  package enum Kind: Sendable {
    /// The accessory has reported something.
    case news(AccessoryNews)
    /// A service has raised or cleared an alarm.
    case alarm(AccessoryAlarm, AlarmChange)
  }

  package let device: Device
  /// What has happened.
  package let kind: Kind
}

/// The events of one accessory, for one consumer. Throws the reason when the accessory goes or the service ends, and
/// `CancellationError` when this program closes the accessory.
package struct AccessoryEvents: AsyncSequence, Sendable {
  /// One event.
  package typealias Element = AccessoryEvent

  fileprivate enum Source: Sendable {
    case own(EventStream<AccessoryNews>, Device)
    case service(BridgeEvents)
  }

  private let source: Source

  init(_ news: EventStream<AccessoryNews>, of device: Device) { source = .own(news, device) }
  init(_ events: BridgeEvents) { source = .service(events) }

  /// Begins to take events.
  package func makeAsyncIterator() -> Iterator {
    switch source {
    case .own(let news, let device): Iterator(source: .own(news.makeAsyncIterator(), device))
    case .service(let events): Iterator(source: .service(events.makeAsyncIterator()))
    }
  }

  /// Takes the events one after another.
  package struct Iterator: AsyncIteratorProtocol {
    fileprivate enum Source {
      case own(EventStream<AccessoryNews>.Iterator, Device)
      case service(BridgeEvents.Iterator)
    }

    fileprivate var source: Source
    /// Whether the service has sent the initial state.
    private var isReady = false

    fileprivate init(source: Source) { self.source = source }

    /// The next event; nil when the task is cancelled.
    package mutating func next() async throws -> AccessoryEvent? {
      switch source {
      case .own(var news, let device):
        let next = try await news.next()
        source = .own(news, device)
        guard let next else { throw CancellationError() }
        return AccessoryEvent(device: device, kind: .news(next))
      case .service(var events):
        while let event = try await events.next() {
          source = .service(events)
          if let event = try meaning(of: event) { return event }
        }
        return nil
      }
    }

    private mutating func meaning(of event: BridgeEvent) throws(AccessoryError) -> AccessoryEvent? {
      func news(_ device: Device, _ news: AccessoryNews) -> AccessoryEvent {
        AccessoryEvent(device: device, kind: .news(news))
      }
      switch event {
      case .disconnected(_, let error): throw error
      case .battery(let device, let reading, _): return news(device, .battery(reading))
      case .status(let device, let status, _): return news(device, .status(status))
      case .values(let device, let values, _): return news(device, .values(values))
      // Alarms that were already raised come with the first reading.
      case .alarm(let device, let alarm, let state) where isReady:
        return AccessoryEvent(device: device, kind: .alarm(alarm, state))
      case .ready: isReady = true
      case .present, .connected, .requestFailed, .alarm, .found, .changed: break
      }
      return nil
    }
  }
}
