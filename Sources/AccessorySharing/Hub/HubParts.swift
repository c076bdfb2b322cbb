// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The parts of a hub. Each owns its state, and reaches the others through `HubPart`. Used only in the hub's isolation.
final class HubParts {
  unowned let hub: SharingHub
  private(set) lazy var device = DeviceSide(self)
  private(set) lazy var line = HubLine(self)
  private(set) lazy var resets = HubResets(self)
  private(set) lazy var clients = HubClients(self)
  private(set) lazy var requests = ClientRequests(self)
  private(set) lazy var delivery = Delivery(self)
  private(set) lazy var telnet = TelnetServer(self)
  private(set) lazy var terminals = TerminalSettings(self)

  init(_ hub: SharingHub) { self.hub = hub }
}

/// A part of a hub.
class HubPart {
  unowned let parts: HubParts

  init(_ parts: HubParts) { self.parts = parts }

  final var hub: SharingHub { parts.hub }
  final var rules: SharingRules { parts.hub.rules }
  final var clock: any TimerClock { parts.hub.clock }
  final var device: DeviceSide { parts.device }
  /// The sharing by frames; nil when there is no device, or it is shared by bytes.
  final var frames: FrameSharing? { parts.device.attached?.frames }
  final var line: HubLine { parts.line }
  final var resets: HubResets { parts.resets }
  final var clients: HubClients { parts.clients }
  final var requests: ClientRequests { parts.requests }
  final var delivery: Delivery { parts.delivery }
  final var telnet: TelnetServer { parts.telnet }
  final var terminals: TerminalSettings { parts.terminals }

  final func report(_ one: SharingNews) { parts.hub.report(one) }

  /// Runs `body` in the hub when `delay` has passed.
  @discardableResult
  final func after(_ delay: Duration, _ body: @escaping @Sendable (HubParts) -> Void) -> TimerToken {
    at(clock.now + delay, body)
  }

  @discardableResult
  final func at(_ time: MonotonicTime, _ body: @escaping @Sendable (HubParts) -> Void) -> TimerToken {
    clock.schedule(at: time, hub.handler(body))
  }
}
