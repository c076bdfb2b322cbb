// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryProtocols
import AccessorySimulator
import FamilyMAVLink

/// A simulated autopilot, on a pseudo-terminal.
public typealias MAVLinkSimulator = SerialSimulator<MAVLinkDevice>

/// The state of a simulated autopilot that speaks MAVLink. It sends heartbeats, its status, its batteries, and messages
/// that were requested. It refuses all other commands.
public struct MAVLinkDevice: SerialDevice {
  /// The autopilot's configuration.
  public struct Configuration: Sendable, Hashable {
    /// The MAVLink version of sent frames; both versions are received. The default is `two`.
    public var version = MAVLinkVersion.two
    /// The system id. The default is 1.
    public var system: UInt8 = 1
    /// The serial number, which is also the unique id in AUTOPILOT_VERSION.
    public var serialNumber = "MAV0001"
    /// The contents of the heartbeat.
    public var heartbeat = MAVLinkHeartbeat(type: 2, autopilot: 3, mode: [.custom, .stabilized, .manual], state: 3)
    /// The version of the flight software.
    public var firmware = MAVLinkAutopilotVersion.packed(4, 5, 7)
    /// The charge of the batteries in percent, 0…100. The default is 87.
    public var percent = 87
    /// Whether the batteries are being charged. The default is `false`.
    public var isCharging = false
    /// The time in which the batteries lose one percent; nil for no drain.
    public var drainInterval: Duration?
    /// The number of batteries, 0…16. The default is 1.
    public var batteries = 1
    /// The number of cells in a battery, 0…14. With 0 only the total voltage is known. The default is 4.
    public var cells = 4
    /// The time between two messages of the same kind. The default is 1 s.
    public var period = Duration.seconds(1)
    /// How the autopilot differs from the usual behaviour.
    public var quirks: Set<Quirk> = []
    /// The share of frames with noise before them, 0…1. The default is 0.
    public var garbage = 0.0
    /// The share of frames that arrive in two pieces with a pause between them, 0…1. The default is 0.
    public var split = 0.0
    /// The time after which the autopilot stops sending; nil means never.
    public var stallAfter: Duration?
    /// The seed of all random numbers, so that a run can be repeated. The default is 1.
    public var seed: UInt64 = 1

    /// A quadrotor with ArduPilot, on the ground.
    public init() {}
  }

  /// Behaviour of some autopilots.
  public enum Quirk: String, Sendable, Hashable, CaseIterable {
    /// Only heartbeats are sent without a request.
    case quiet
    /// Nothing is sent before another system's heartbeat was received.
    case shy
    /// REQUEST_MESSAGE isn't known.
    case old
    /// BATTERY_STATUS isn't known.
    case plain
    /// Frames are signed, which only version 2 supports.
    case signed
    /// A gimbal, a ground station and another vehicle send on the line as well. Some messages are undefined ones.
    case crowded
    /// Every other frame has the other MAVLink version, if that has the message.
    case mixed
  }

  /// An event of the autopilot.
  public enum News: Sendable, Hashable {
    /// The message with this number was requested.
    case asked(UInt32)
    /// The command with this number was refused.
    case refused(UInt16)
    /// The first heartbeat of this system and component was received.
    case heard(system: UInt8, component: UInt8)
    /// The batteries' charge fell to this percentage.
    case battery(Int)
  }

  /// An action that the autopilot schedules.
  public enum ScheduledAction: Sendable, Hashable {
    /// Sends the heartbeat.
    case beat
    /// Sends the status and the batteries.
    case push
    /// Sends a message that was requested periodically. The second number says how often its interval was set.
    case again(UInt32, Int)
    /// The batteries lose one percent.
    case drain
    /// Sends the second piece of a frame.
    case release
    /// Stops sending.
    case stall
  }

  /// The autopilot's configuration.
  public var configuration: Configuration
  /// The systems and components whose heartbeats were received.
  private(set) var heard: Set<UInt16> = []
  var codec = MAVLinkCodec()
  var sequence: UInt8 = 0
  var random: SeededGenerator
  /// Frames that wait until the second piece of an earlier frame is sent.
  var held: [UInt8] = []
  var isHolding = false
  var isStalled = false
  /// The requested intervals by message, and how often each was set.
  var intervals: [UInt32: (interval: Duration, count: Int)] = [:]

  /// An autopilot that was just switched on.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    random = SeededGenerator(seed: configuration.seed)
  }

  /// The name of its driver.
  public static var driver: String { "mavlink" }

  /// Nil: bytes are handled as they arrive.
  public var pause: Duration? { nil }

  /// The announcement for other programs.
  public var announcement: Announcement {
    Announcement(
      path: "", driver: Self.driver, name: "Simulated autopilot", model: configuration.heartbeat.typeWord ?? "",
      serial: configuration.serialNumber)
  }

  func has(_ quirk: Quirk) -> Bool { configuration.quirks.contains(quirk) }

  // MARK: - Events

  /// Switches the autopilot on: schedules its messages and the drain.
  public mutating func start() -> [SerialEffect<Self>] {
    codec.reset()
    (heard, intervals) = ([], [:])
    (held, isHolding, isStalled) = ([], false, false)
    var effects: [SerialEffect<Self>] = has(.shy) ? [] : speak()
    if let time = configuration.drainInterval { effects.append(.after(time, .drain)) }
    if let time = configuration.stallAfter { effects.append(.after(time, .stall)) }
    return effects
  }

  private func speak() -> [SerialEffect<Self>] {
    [.after(.milliseconds(50), .beat)] + (has(.quiet) ? [] : [.after(.milliseconds(80), .push)])
  }

  /// Carries out a scheduled action.
  public mutating func perform(_ action: ScheduledAction) -> [SerialEffect<Self>] {
    switch action {
    case .beat:
      return send(MAVLinkHeartbeat.number) + (has(.crowded) ? crowd() : []) + [.after(.seconds(1), .beat)]
    case .push:
      let messages = [MAVLinkSystemStatus.number] + (has(.plain) ? [] : [MAVLinkBatteryStatus.number])
      return messages.flatMap { send($0) } + [.after(configuration.period, .push)]
    case .again(let message, let count):
      guard let wanted = intervals[message], wanted.count == count else { return [] }
      return send(message) + [.after(wanted.interval, action)]
    case .drain:
      guard configuration.percent > 0 else { return [] }
      configuration.percent -= 1
      return [.report(.battery(configuration.percent))]
        + (configuration.drainInterval.map { [.after($0, .drain)] } ?? [])
    case .release:
      defer { (held, isHolding) = ([], false) }
      return isStalled ? [] : [.send(held)]
    case .stall:
      isStalled = true
      return []
    }
  }

  /// Handles commands and heartbeats.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    var batch = FrameBatch<MAVLinkHeader>()
    codec.decode(bytes.span.bytes, into: &batch)
    var effects: [SerialEffect<Self>] = []
    for index in 0..<batch.count where batch.outcome(at: index) == .whole {
      let header = batch.header(at: index)
      switch batch.withPayload(at: index, { MAVLinkMessage(header.message, payload: $0) }) {
      case .heartbeat: effects += hear(header)
      case .command(let command): effects += take(command, from: header)
      default: break
      }
    }
    return effects
  }

  private mutating func hear(_ header: MAVLinkHeader) -> [SerialEffect<Self>] {
    let isFirst = heard.isEmpty
    guard heard.insert(UInt16(header.system) << 8 | UInt16(header.component)).inserted else { return [] }
    return [.report(.heard(system: header.system, component: header.component))] + (isFirst && has(.shy) ? speak() : [])
  }
}
