// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The replies to a call with several replies, for one consumer, on a connection of its own.
///
/// The sequence ends normally after the last reply. It throws `disconnected` when the service ends, `badData` for an
/// invalid reply, and the service's errors, each once. When the consumer's task is cancelled, the connection is closed,
/// and the sequence throws `cancelled`.
///
/// At most 256 replies, or about 1 MiB, are buffered; while the buffer is full the connection isn't read. A reply has
/// at most 16 MiB.
package struct BridgeStream<Method: ControlMethod>: AsyncSequence, Sendable {
  /// One reply.
  package typealias Element = Method.Reply
  /// The type of the errors.
  package typealias Failure = AccessoryError

  let answers: ReplyStream<Method>
  /// Converts an error of the call.
  let failure: @Sendable (ControlError) -> AccessoryError

  /// Begins to take replies.
  package func makeAsyncIterator() -> Iterator { Iterator(base: answers.makeAsyncIterator(), failure: failure) }

  /// Takes the replies one after another.
  package struct Iterator: AsyncIteratorProtocol {
    var base: ReplyStream<Method>.Iterator
    let failure: @Sendable (ControlError) -> AccessoryError

    /// The next reply; nil after the last.
    package mutating func next() async throws(AccessoryError) -> Method.Reply? { try await next(isolation: nil) }

    /// The next reply; nil after the last.
    package mutating func next(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> Method.Reply? {
      do throws(ControlError) {
        return try await base.next(isolation: actor)
      } catch {
        throw failure(error)
      }
    }
  }
}

/// The events of a service's accessories from now on, for one consumer. Throws as `BridgeStream` does, and also
/// `disconnected` when the service shuts down or ends the subscription.
package struct BridgeEvents: AsyncSequence, Sendable {
  /// One event.
  package typealias Element = BridgeEvent
  /// The type of the errors.
  package typealias Failure = AccessoryError

  let answers: BridgeStream<Bridge.Subscribe>
  let place: String
  /// Subscriptions to less, for services that are too old for values or alarms; in the order in which they are tried.
  var older: [Bridge.Subscribe] = []
  /// Makes one of these subscriptions.
  var again: Again?

  typealias Again = @Sendable (Bridge.Subscribe) async throws(AccessoryError) -> BridgeStream<Bridge.Subscribe>

  /// Begins to take events.
  package func makeAsyncIterator() -> Iterator {
    Iterator(base: answers.makeAsyncIterator(), place: place, older: older, again: again)
  }

  /// Takes the events one after another.
  package struct Iterator: AsyncIteratorProtocol {
    var base: BridgeStream<Bridge.Subscribe>.Iterator
    let place: String
    private var isOver = false
    /// Subscriptions to less, for older services; empty after the first reply.
    private var older: [Bridge.Subscribe]
    private let again: Again?

    init(
      base: BridgeStream<Bridge.Subscribe>.Iterator, place: String, older: [Bridge.Subscribe], again: Again?
    ) {
      (self.base, self.place, self.older, self.again) = (base, place, older, again)
    }

    /// The next event; nil after an error was thrown.
    package mutating func next() async throws(AccessoryError) -> BridgeEvent? { try await next(isolation: nil) }

    /// The next event; nil after an error was thrown.
    package mutating func next(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> BridgeEvent? {
      while !isOver {
        isOver = true
        guard let answer = try await answer(isolation: actor) else { throw .subscriptionEnded(by: place) }
        isOver = false
        if let event = BridgeEvent(answer) { return event }
      }
      return nil
    }

    private mutating func answer(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> Bridge.Event? {
      while true {
        do throws(AccessoryError) {
          let answer = try await base.next(isolation: actor)
          older = []
          return answer
        } catch {
          guard error.kind == .unsupported, let again, !older.isEmpty else { throw error }
          base = try await again(older.removeFirst()).makeAsyncIterator()
        }
      }
    }
  }
}

extension AccessoryError {
  /// The service has ended the subscription.
  static func subscriptionEnded(by place: String) -> AccessoryError {
    AccessoryError(.disconnected, "the service at \(place) has ended and sends no more events")
  }
}

/// An event of a service's accessory.
package enum BridgeEvent: Sendable, Hashable {
  /// The accessory was attached before the subscription. These events come first, one for each accessory.
  case present(Device)
  /// All `present` events were sent; from now on every change is an event.
  case ready
  /// The accessory was attached.
  case connected(Device)
  /// The accessory is no longer attached, with the reason.
  case disconnected(Device, AccessoryError)
  /// The battery reading has changed. This and the next two contain the age of the readings, unless the service is
  /// older.
  case battery(Device, BatteryReading, Bridge.ReadingsAge? = nil)
  /// The status has changed.
  case status(Device, AccessoryStatus, Bridge.ReadingsAge? = nil)
  /// A client's request has failed.
  case requestFailed(Device, AccessoryError)
  /// New values; only in a subscription with values.
  case values(Device, [AccessoryValue], Bridge.ReadingsAge? = nil)
  /// An alarm was raised or cleared, or is raised already (before `ready`); only in a subscription with alarms.
  case alarm(Device, AccessoryAlarm, AlarmChange)
  /// The service has begun to open the device, or waits for it (before `ready`); only in a subscription with `found`.
  case found(Device)
  /// The list has changed otherwise: an accessory has got another name, is absent, or was forgotten; only in a subscription with changes.
  case changed(Device)

  /// Converts an event of the interface; nil when a required field is missing.
  init?(_ event: Bridge.Event) {
    if event.event == .ready {
      self = .ready
      return
    }
    guard let device = event.device else { return nil }
    switch event.event {
    case .present: self = .present(device)
    case .connected: self = .connected(device)
    case .disconnected:
      self = .disconnected(device, event.problem?.error(or: .disconnected) ?? .disconnected(device.path))
    case .battery:
      guard let battery = event.battery else { return nil }
      self = .battery(device, battery, event.readingsAge)
    case .status:
      guard let status = event.status else { return nil }
      self = .status(device, status, event.readingsAge)
    case .requestFailed:
      guard let problem = event.problem else { return nil }
      self = .requestFailed(device, problem.error(or: .ioFailure))
    case .values:
      guard let values = event.values else { return nil }
      self = .values(device, values.map(\.value), event.readingsAge)
    case .alarm:
      guard let alarm = event.alarm, let state = event.state else { return nil }
      self = .alarm(device, alarm, state)
    case .found: self = .found(device)
    case .changed: self = .changed(device)
    case .ready: return nil
    }
  }
}
