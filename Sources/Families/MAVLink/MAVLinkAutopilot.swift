// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// An autopilot that speaks MAVLink: the `mavlink` driver.
///
/// The driver listens, and requests only messages that don't come by themselves. It never arms, moves or configures the vehicle.
public final class MAVLinkAutopilot: LinkedAccessory {
  /// The driver's name in profiles and in the announcements of simulators.
  public static let driverName = "mavlink"
  /// How long a message that the autopilot sends by itself stays valid.
  public static let freshness = Duration.seconds(10)

  /// The link, for requests and events that this driver has no function for.
  public let link: Link<MAVLinkExchange>
  private let clock: any TimerClock
  private let picture = SharedAutopilotPicture()
  /// Whether the autopilot has refused to send BATTERY_STATUS.
  private let refusesBatteries = Locked(false)
  /// What the autopilot sends by itself, with what was known then.
  private let told = EventHub<(message: MAVLinkMessage, known: AutopilotPicture)>(limit: 256)
  /// Stores what the autopilot sends by itself.
  private let follower: Task<Void, Never>

  private init(_ link: Link<MAVLinkExchange>, clock: any TimerClock) {
    self.link = link
    self.clock = clock
    let (events, picture, told) = (link.events(), picture, told)
    if let heartbeat = link.exchange.autopilot?.heartbeat { picture.take(.heartbeat(heartbeat), at: clock.bootTime) }
    follower = Task {
      do throws(AccessoryError) {
        for try await message in events { told.send((message, picture.take(message, at: clock.bootTime))) }
        told.finish(nil)
      } catch {
        // The link is down. Requests throw its error, too.
        told.finish(error)
      }
    }
  }

  deinit { follower.cancel() }

  /// Makes contact at the other end of `session`: waits for the heartbeat of an autopilot. The accessory owns the
  /// session from now on, and closes it if this fails.
  ///
  /// Throws `timedOut` when there is no heartbeat, and `disconnected`.
  public static func open(
    _ session: AccessorySession, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> MAVLinkAutopilot {
    let link = try await Link.open(session, rules: MAVLinkExchange(label: session.label), clock: clock)
    return MAVLinkAutopilot(link, clock: clock)
  }

  /// The current state, without expired messages.
  private var known: AutopilotPicture { picture.fresh(now: clock.bootTime) }

  /// Waits for a message that comes by itself, or requests it.
  private func get(_ message: UInt32, mayRepeat: Bool = false) async throws(AccessoryError) {
    let message = try await link.request(MAVLinkRequest(message, mayRepeat: mayRepeat))
    picture.take(message, at: clock.bootTime)
  }

  /// Gets a message like `get`, but returns the error when the autopilot refuses or doesn't answer.
  private func problem(
    getting message: UInt32, mayRepeat: Bool = false
  ) async throws(AccessoryError) -> AccessoryError? {
    do throws(AccessoryError) {
      try await get(message, mayRepeat: mayRepeat)
      return nil
    } catch {
      guard error.kind == .refused || error.kind == .timedOut else { throw error }
      return error
    }
  }

  // MARK: - Readings

  /// Asks for the version, once. If the autopilot doesn't send it, only the type in its heartbeats is known.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    if known.version == nil { _ = try await problem(getting: MAVLinkAutopilotVersion.number) }
    return AccessoryIdentity(known.heartbeat?.content ?? link.exchange.autopilot?.heartbeat, known.version)
  }

  /// The status in the last heartbeat. Throws `timedOut` when heartbeats have stopped.
  public func status() async throws(AccessoryError) -> AccessoryStatus {
    if known.heartbeat == nil { try await get(MAVLinkHeartbeat.number) }
    return known.heartbeat.map { AccessoryStatus($0.content) } ?? AccessoryStatus()
  }

  /// The battery with the lowest id or, when BATTERY_STATUS isn't known, the one in SYS_STATUS. Throws `timedOut`, and
  /// `refused` when the autopilot refuses both.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    try await getBatteries()
    if let reading = known.battery { return reading }
    try await get(MAVLinkSystemStatus.number, mayRepeat: true)
    // SYS_STATUS may have no data of a battery.
    return known.battery ?? BatteryReading()
  }

  /// Gets BATTERY_STATUS, unless it is known, or the autopilot has refused it.
  private func getBatteries() async throws(AccessoryError) {
    guard known.batteries.isEmpty, !refusesBatteries.withLock({ $0 }) else { return }
    let problem = try await problem(getting: MAVLinkBatteryStatus.number, mayRepeat: true)
    if problem?.kind == .refused { refusesBatteries.withLock { $0 = true } }
  }

  /// The values beside status and battery: flight mode, the processor's load, the last text, and further batteries as
  /// far as the autopilot has sent them.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    if known.heartbeat == nil { try await get(MAVLinkHeartbeat.number) }
    if known.system == nil { _ = try await problem(getting: MAVLinkSystemStatus.number, mayRepeat: true) }
    try await getBatteries()
    return known.values
  }

  /// Heartbeats as status news, the main battery as battery news, and further batteries, SYS_STATUS and texts as values.
  public func news() -> EventStream<AccessoryNews> {
    // A newer message replaces the same one about the same battery.
    let groups = told.stream().gathered(on: clock) { UInt64($0.message.number) << 8 | UInt64($0.message.battery ?? 0) }
    return groups.spread { [self] group in
      guard let known = group.last?.known else { return [] }
      return group.map { news(of: $0.message, known) }
    }
  }

  private func news(of message: MAVLinkMessage, _ known: AutopilotPicture) -> AccessoryNews {
    switch message {
    case .heartbeat(let heartbeat): .status(AccessoryStatus(heartbeat))
    case .batteryStatus(let status) where known.batteries[status.id] == nil: .other
    case .batteryStatus(let status) where status.id != known.mainBattery?.id:
      .values(AutopilotPicture.values(of: status, known.infos[status.id]))
    case .batteryStatus, .batteryInfo: known.battery.map { .battery($0) } ?? .other
    case .systemStatus(let system) where known.batteries.isEmpty && system.knowsBattery:
      .battery(BatteryReading(system))
    case .systemStatus, .statusText: .values(known.values)
    case .autopilotVersion, .command, .acknowledgement: .other
    }
  }

  /// Closes the link. Returns when the device is free for others.
  public func close() async {
    follower.cancel()
    await link.close()
  }
}
