// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// What a publisher learns from its service.
package enum FeedEvent: Sendable {
  /// The service answers at this socket. `permitsCommands` says whether it decides there which commands are permitted.
  case begun(BridgeClient, permitsCommands: Bool)
  case event(BridgeEvent)
  /// The service is gone, or can't be reached.
  case ended(AccessoryError)
}

/// Follows the service's events, and looks for the service again when it is gone.
package struct ServiceFeed: Sendable {
  let sockets: [String]
  let clock: any TimerClock

  /// The pauses between looks at the sockets, in seconds. Each look is a connect(2) and costs nothing else.
  private static let pauses = [0.5, 1, 2, 5, 10]
  /// How long the service has to answer a call.
  static let replyTimeout = Duration.seconds(20)

  /// Calls `body` with what the service reports, until the task is cancelled.
  func follow(_ body: @Sendable (FeedEvent) async -> Void) async {
    var failures = 0
    while !Task.isCancelled {
      do throws(AccessoryError) {
        let (client, events) = try await open()
        failures = 0
        await body(.begun(client, permitsCommands: await Self.permitsCommands(client)))
        var iterator = events.makeAsyncIterator()
        while let event = try await iterator.next() { await body(.event(event)) }
      } catch {
        if Task.isCancelled { return }
        await body(.ended(error))
      }
      await clock.sleep(for: .seconds(Self.pauses[min(failures, Self.pauses.count - 1)]))
      failures += 1
    }
  }

  private func open() async throws(AccessoryError) -> (BridgeClient, BridgeEvents) {
    var first: AccessoryError?
    for socket in sockets {
      do throws(AccessoryError) {
        let client = try await BridgeClient.connect(to: socket, replyTimeout: Self.replyTimeout)
        return (
          client,
          try await BridgeClient.events(
            at: socket, values: true, alarms: true, replyTimeout: Self.replyTimeout)
        )
      } catch {
        // The one that is refused says more than those that aren't there.
        if first == nil || first?.kind == .notFound { first = error }
      }
    }
    throw first ?? AccessoryError(.notFound, "there is no socket to look for a service at")
  }

  /// On the socket for readings, `Commands` lists what is permitted; on the other one, all that there is.
  private static func permitsCommands(_ client: BridgeClient) async -> Bool {
    (try? await client.service())?.readings_socket == client.socketPath
  }

  /// The sockets to look for a service at: in each place first the socket for readings, then the other one, which services of
  /// older versions have alone.
  package static func usualSockets() -> [String] {
    let (readings, others) = (ServicePlace.allReadings(), ServicePlace.all())
    return (0..<max(readings.count, others.count)).flatMap { index in
      readings.dropFirst(index).prefix(1) + others.dropFirst(index).prefix(1)
    }
  }
}
