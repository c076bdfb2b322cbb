// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Follows the events of a service for the mirror, and continues when the service restarts. This is the only policy for
/// waiting for a service:
///
/// - If there is no service, or this user may not use it, nothing happens until a socket is created.
/// - If a service ends or refuses the connection, it is tried again after a pause, which grows up to half a minute; and
///   at once when its socket is created again.
struct ServiceFollower: Sendable {
  /// The sockets at which the service may be: the first that answers is followed.
  let sockets: [String]
  /// What is subscribed to beside which accessories are there, where the service isn't too old for it.
  let interests: ServiceMirror.Interests
  /// The time limit for the service's replies to calls; nil for none.
  let replyTimeout: Duration?
  let clock: any TimerClock

  /// The shortest and the longest pause before a service that refuses is tried again.
  static let pauses = (shortest: Duration.milliseconds(500), longest: Duration.seconds(30))

  init(_ sockets: [String], _ interests: ServiceMirror.Interests, replyTimeout: Duration?, clock: any TimerClock) {
    (self.sockets, self.interests, self.replyTimeout, self.clock) = (sockets, interests, replyTimeout, clock)
  }

  /// Calls `body` with each event until the task is cancelled. While `body` runs, no further events are taken, and only
  /// the bounded buffer of the service's connection fills.
  func run(_ body: (MirrorEvent) async -> Void) async {
    let bell = ServiceBell(sockets)
    defer { bell.stop() }
    var pause = Self.pauses.shortest
    // The first try is made at once.
    await bell.wait(clock)
    while !Task.isCancelled {
      let start = clock.now
      let error = await follow(body)
      if Task.isCancelled { return }
      await body(.ended(error))
      if error.isNoService || error.kind == .permissionDenied {
        pause = Self.pauses.shortest
        await bell.wait(clock)
      } else {
        if clock.now - start > Self.pauses.longest { pause = Self.pauses.shortest }
        await bell.wait(atMost: pause, clock)
        pause = min(pause * 2, Self.pauses.longest)
      }
    }
  }

  /// Follows the first service that answers until its events end; returns why.
  private func follow(_ body: (MirrorEvent) async -> Void) async -> AccessoryError {
    var refusal: AccessoryError?
    for socket in sockets {
      var hasBegun = false
      do throws(AccessoryError) {
        let events = try await BridgeClient.events(
          at: socket, values: interests.contains(.values), alarms: interests.contains(.alarms),
          found: interests.contains(.found), changes: !interests.isDisjoint(with: [.lists, .absent]),
          replyTimeout: replyTimeout)
        var iterator = events.makeAsyncIterator()
        // Only now it is known that the service answers.
        var next = try await iterator.next()
        let client = try await BridgeClient.connect(to: socket, replyTimeout: replyTimeout)
        defer { client.close() }
        hasBegun = true
        await body(.begun(client))
        while let event = next {
          await body(.event(event))
          next = try await iterator.next()
        }
        return AccessoryError(.disconnected, "the service at \(socket) has ended")
      } catch {
        if hasBegun || Task.isCancelled { return error }
        // Report the error of a service that refuses, not those of absent services.
        if refusal?.isNoService ?? true { refusal = error }
      }
    }
    return refusal ?? .noService
  }
}
