// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Signals when services may have something new, for code that waits for it: a view of their mirror.
package struct ServiceArrivals: Sendable {
  /// A signal when a service answers or is gone, and when it has begun to open a device or has attached it. For one reader;
  /// several signals may be one element.
  package let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private let following: Task<Void, Never>

  /// Begins to follow the services at these sockets. A user who may only read follows them at the sockets for readings.
  package init(of services: [String], clock: any TimerClock = IOThread.shared) {
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    (self.signals, self.signal) = (signals, signal)
    var hooks = ServiceMirror.Hooks()
    hooks.happened = { event, _, _ in
      switch event {
      case .begun, .event(.ready), .event(.found), .event(.connected), .ended: signal.yield()
      case .event, .read: break
      }
    }
    following = Task { [hooks] in
      let services = services.map { ServiceMirror.Service($0, sockets: [$0, ServicePlace.readings(beside: $0)]) }
      await ServiceMirror(.found, clock: clock).run(services, hooks)
    }
  }

  /// Stops following, and ends the signals. Must be called in the end.
  package func stop() {
    following.cancel()
    signal.finish()
  }
}
