// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a service answers to a call with many answers, for one consumer, on a connection of its own.
///
/// Ends normally where the service says that nothing more follows; throws `disconnected` when the service goes away,
/// `badData` for an answer that makes no sense, and errors of the service, once. When the consumer's task is cancelled the
/// connection is closed, and the sequence throws `cancelled`.
///
/// However fast a service sends, at most 256 answers or about a megabyte wait here; then the connection isn't read until
/// they are taken. No answer may be longer than 16 MiB.
package struct BridgeStream<Method: ControlMethod>: AsyncSequence, Sendable {
  /// One answer.
  package typealias Element = Method.Reply
  /// What the sequence throws.
  package typealias Failure = AccessoryError

  let answers: ReplyStream<Method>
  /// Makes the accessory's error of that of a call.
  let failure: @Sendable (ControlError) -> AccessoryError

  /// Begins to take answers.
  package func makeAsyncIterator() -> Iterator { Iterator(base: answers.makeAsyncIterator(), failure: failure) }

  /// Takes the answers one after another.
  package struct Iterator: AsyncIteratorProtocol {
    var base: ReplyStream<Method>.Iterator
    let failure: @Sendable (ControlError) -> AccessoryError

    /// The next answer; nil behind the last.
    package mutating func next() async throws(AccessoryError) -> Method.Reply? { try await next(isolation: nil) }

    /// The next answer; nil behind the last.
    package mutating func next(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> Method.Reply? {
      do throws(ControlError) {
        return try await base.next(isolation: actor)
      } catch {
        throw failure(error)
      }
    }
  }
}

/// What happens to the accessories of a service, from now on. For one consumer. Throws as `BridgeStream` does, and
/// `disconnected` also when the service ends in good order, or tells no more for another reason.
package struct BridgeEvents: AsyncSequence, Sendable {
  /// One event.
  package typealias Element = BridgeEvent
  /// What the sequence throws.
  package typealias Failure = AccessoryError

  let answers: BridgeStream<Bridge.Subscribe>
  let place: String
  /// Subscribes as to a service that is too old to know of values.
  var older: Older?

  typealias Older = @Sendable () async throws(AccessoryError) -> BridgeStream<Bridge.Subscribe>

  /// Begins to take events.
  package func makeAsyncIterator() -> Iterator {
    Iterator(base: answers.makeAsyncIterator(), place: place, older: older)
  }

  /// Takes the events one after another.
  package struct Iterator: AsyncIteratorProtocol {
    var base: BridgeStream<Bridge.Subscribe>.Iterator
    let place: String
    private var isOver = false
    /// Until the first answer.
    private var older: Older?

    init(base: BridgeStream<Bridge.Subscribe>.Iterator, place: String, older: Older?) {
      (self.base, self.place, self.older) = (base, place, older)
    }

    /// The next event; nil after an error was thrown.
    package mutating func next() async throws(AccessoryError) -> BridgeEvent? { try await next(isolation: nil) }

    /// The next event; nil after an error was thrown.
    package mutating func next(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> BridgeEvent? {
      while !isOver {
        isOver = true
        guard let answer = try await answer(isolation: actor) else { throw .toldNoMore(by: place) }
        isOver = false
        if let event = BridgeEvent(answer) { return event }
      }
      return nil
    }

    private mutating func answer(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> Bridge.Event? {
      defer { older = nil }
      do throws(AccessoryError) {
        return try await base.next(isolation: actor)
      } catch {
        guard error.kind == .unsupported, let older else { throw error }
        base = try await older().makeAsyncIterator()
        return try await base.next(isolation: actor)
      }
    }
  }
}

extension AccessoryError {
  /// The service has ended what it told.
  static func toldNoMore(by place: String) -> AccessoryError {
    AccessoryError(.disconnected, "the service at \(place) has ended, and tells no more")
  }
}

/// Something that happens to an accessory of a service.
package enum BridgeEvent: Sendable, Hashable {
  /// It is attached already. Comes first, once for each.
  case present(Bridge.Device)
  /// All that are attached already are told; from now on nothing is missed.
  case ready
  /// It is attached.
  case connected(Bridge.Device)
  /// It is gone, and why.
  case disconnected(Bridge.Device, AccessoryError)
  /// Its battery changed.
  case battery(Bridge.Device, BatteryReading)
  /// Its status changed.
  case status(Bridge.Device, AccessoryStatus)
  /// A request of some client failed.
  case requestFailed(Bridge.Device, AccessoryError)
  /// These of its values are so now; where they were subscribed to.
  case values(Bridge.Device, [AccessoryValue])

  /// The event that a service tells; nil when it lacks what such an event has.
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
      self = .battery(device, battery.reading)
    case .status:
      guard let status = event.status else { return nil }
      self = .status(device, status.reading)
    case .requestFailed:
      guard let problem = event.problem else { return nil }
      self = .requestFailed(device, problem.error(or: .ioFailure))
    case .values:
      guard let values = event.values else { return nil }
      self = .values(device, values.map(\.reading))
    case .ready: return nil
    }
  }
}

extension Bridge.Problem {
  /// The error that it stands for; `kind` where this version doesn't know the service's.
  package func error(or kind: AccessoryError.Kind) -> AccessoryError {
    AccessoryError(AccessoryError.Kind.allCases.first { $0.errorName == self.kind } ?? kind, message)
  }
}
