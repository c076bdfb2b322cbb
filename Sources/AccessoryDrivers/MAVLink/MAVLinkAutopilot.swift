// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// An autopilot that speaks MAVLink: the `mavlink` driver.
///
/// It is listened to, and asked only for messages that don't come by themselves. Nothing here arms, moves or sets anything.
public final class MAVLinkAutopilot: LinkedAccessory {
  /// The name by which profiles and announcements ask for this driver.
  public static let driverName = "mavlink"
  /// How long what an autopilot tells of its own accord is true.
  public static let freshness = Duration.seconds(10)

  /// The link, for what goes beyond this driver.
  public let link: Link<MAVLinkExchange>
  private let clock: any TimerClock
  private let picture = SharedAutopilotPicture()
  /// Whether it has refused to send BATTERY_STATUS.
  private let refusesBatteries = Locked(false)
  /// Remembers what the autopilot sends.
  private let follower: Task<Void, Never>

  private init(_ link: Link<MAVLinkExchange>, clock: any TimerClock) {
    self.link = link
    self.clock = clock
    let (events, picture) = (link.events(), picture)
    if let heartbeat = link.exchange.autopilot?.heartbeat { picture.take(.heartbeat(heartbeat), at: clock.bootTime) }
    follower = Task {
      do throws(AccessoryError) {
        var iterator = events.makeAsyncIterator()
        while let message = try await iterator.next() { picture.take(message, at: clock.bootTime) }
      } catch {
        // The link is down: whoever asks is told by it.
      }
    }
  }

  deinit { follower.cancel() }

  /// Listens at the other end of `session`, which belongs to the accessory from now on and is closed if that fails, until an
  /// autopilot is heard.
  ///
  /// Throws `timedOut` when none is, `disconnected`.
  public static func open(
    _ session: AccessorySession, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> MAVLinkAutopilot {
    let link = try await Link.open(session, rules: MAVLinkExchange(label: session.label), clock: clock)
    return MAVLinkAutopilot(link, clock: clock)
  }

  /// What is known and true still.
  private var known: AutopilotPicture { picture.fresh(now: clock.bootTime) }

  /// Waits for a message, or asks for it.
  private func get(_ message: UInt32, mayRepeat: Bool = false) async throws(AccessoryError) {
    let message = try await link.request(MAVLinkRequest(message, mayRepeat: mayRepeat))
    picture.take(message, at: clock.bootTime)
  }

  /// The same; where the autopilot refuses that, or doesn't answer, gives the error.
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

  // MARK: - What it tells

  /// Asks for its version, once. Where it doesn't tell that, only what heartbeats say is known.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    if known.version == nil { _ = try await problem(getting: MAVLinkAutopilotVersion.number) }
    return AccessoryIdentity(known.heartbeat?.content ?? link.exchange.autopilot?.heartbeat, known.version)
  }

  /// What it is doing, by its last heartbeat. Throws `timedOut` when there is none any more.
  public func status() async throws(AccessoryError) -> AccessoryStatus {
    if known.heartbeat == nil { try await get(MAVLinkHeartbeat.number) }
    return known.heartbeat.map { AccessoryStatus($0.content) } ?? AccessoryStatus(state: .notInitialized)
  }

  /// Its battery: that with the lowest number, or, where it tells of none, the one in its own status. Throws `timedOut`, and
  /// `refused` when it tells neither.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    try await getBatteries()
    if let reading = known.battery { return reading }
    try await get(MAVLinkSystemStatus.number, mayRepeat: true)
    // It may know nothing of a battery.
    return known.battery ?? BatteryReading()
  }

  /// Not all tell of their batteries one by one.
  private func getBatteries() async throws(AccessoryError) {
    guard known.batteries.isEmpty, !refusesBatteries.withLock({ $0 }) else { return }
    let problem = try await problem(getting: MAVLinkBatteryStatus.number, mayRepeat: true)
    if problem?.kind == .refused { refusesBatteries.withLock { $0 = true } }
  }

  /// What it tells beside status and battery: how it is being flown, its processor's load, its last text; and batteries that
  /// aren't its first one, as far as they have been told.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    if known.heartbeat == nil { try await get(MAVLinkHeartbeat.number) }
    if known.system == nil { _ = try await problem(getting: MAVLinkSystemStatus.number, mayRepeat: true) }
    try await getBatteries()
    return known.values
  }

  /// Its heartbeats as status, its battery, and other batteries and its own status as values.
  public func news() -> EventStream<AccessoryNews> {
    let (clock, picture) = (clock, picture)
    return link.news { message in
      picture.take(message, at: clock.bootTime)
      let known = picture.fresh(now: clock.bootTime)
      switch message {
      case .heartbeat(let heartbeat): return .status(AccessoryStatus(heartbeat))
      case .batteryStatus(let status) where status.id != known.mainBattery?.id:
        return .values(AutopilotPicture.values(of: status, known.infos[status.id]))
      case .batteryStatus, .batteryInfo: return known.battery.map { .battery($0) } ?? .other
      case .systemStatus(let system) where known.batteries.isEmpty && system.knowsBattery:
        return .battery(BatteryReading(system))
      case .systemStatus, .statusText: return .values(known.values)
      case .autopilotVersion, .command, .acknowledgement: return .other
      }
    }
  }

  /// Closes the link; returns when the device is free for others.
  public func close() async {
    follower.cancel()
    await link.close()
  }
}
