// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryProtocols

/// A pretended autopilot, on a pseudo-terminal.
public typealias MAVLinkSimulator = SerialSimulator<MAVLinkDevice>

/// A pretended autopilot that speaks MAVLink: it sends its heartbeat, its status and its batteries, and what it is asked for.
/// It does nothing else that it is told.
public struct MAVLinkDevice: SerialDevice {
  /// What it is like.
  public struct Configuration: Sendable, Hashable {
    /// In which version it speaks; it understands both. The default is `two`.
    public var version = MAVLinkVersion.two
    /// The number of its system. The default is 1.
    public var system: UInt8 = 1
    /// Its serial number, which is also the unique number that it tells.
    public var serialNumber = "MAV0001"
    /// What it says of itself.
    public var heartbeat = MAVLinkHeartbeat(type: 2, autopilot: 3, mode: [.custom, .stabilized, .manual], state: 3)
    /// The version of its software.
    public var firmware = MAVLinkAutopilotVersion.packed(4, 5, 7)
    /// How full its batteries are, in percent, 0…100. The default is 87.
    public var percent = 87
    /// Whether they are charged. The default is `false`.
    public var isCharging = false
    /// Time in which they lose one percent; nil: they lose nothing.
    public var drainInterval: Duration?
    /// How many it has, 0…16. The default is 1.
    public var batteries = 1
    /// How many cells each has, 0…14; 0: it knows only the voltage of all. The default is 4.
    public var cells = 4
    /// Time between two of each of its messages. The default is 1 s.
    public var period = Duration.seconds(1)
    /// How it behaves.
    public var habits: Set<Quirk> = []
    /// Share of its frames that have noise in front of them, 0…1. The default is 0.0.
    public var garbage = 0.0
    /// Share of its frames that come in two pieces, with a pause between them, 0…1. The default is 0.0.
    public var split = 0.0
    /// After how long it says nothing any more; nil: never.
    public var stallAfter: Duration?
    /// Repeats everything that is random. The default is 1.
    public var seed: UInt64 = 1

    /// A quadrotor with ArduPilot, on the ground.
    public init() {}
  }

  /// What not all autopilots do.
  public enum Quirk: String, Sendable, Hashable, CaseIterable {
    /// It sends only heartbeats by itself.
    case quiet
    /// It says nothing until it hears somebody's heartbeat.
    case shy
    /// It doesn't know REQUEST_MESSAGE.
    case old
    /// It has no BATTERY_STATUS.
    case plain
    /// It signs its frames, which only version 2 can.
    case signed
    /// A gimbal, a ground station, and another vehicle speak on its line, too; and messages come that nobody knows.
    case crowded
    /// Every other frame is of the other version, as far as that has such messages.
    case mixed
  }

  /// What it tells of itself.
  public enum News: Sendable, Hashable {
    /// It was asked to send this message.
    case asked(UInt32)
    /// It was told this command, and doesn't do it.
    case refused(UInt16)
    /// It heard the first heartbeat of this system and component.
    case heard(system: UInt8, component: UInt8)
    /// Its batteries have lost something: their percent.
    case battery(Int)
  }

  /// What it does later.
  public enum Moment: Sendable, Hashable {
    /// Sends its heartbeat.
    case beat
    /// Sends its status and its batteries.
    case push
    /// Sends a message that it was asked for again and again; counts how often it was told so.
    case again(UInt32, Int)
    /// Its batteries lose a little.
    case drain
    /// Sends the second piece of a frame.
    case release
    /// Falls silent.
    case stall
  }

  /// What it is like.
  public var configuration: Configuration
  /// Who was heard, system and component.
  private(set) var heard: Set<UInt16> = []
  var codec = MAVLinkCodec()
  var sequence: UInt8 = 0
  var random: SeededGenerator
  /// Frames behind one that has been sent by half.
  var held: [UInt8] = []
  var isHolding = false
  var isStalled = false
  /// The intervals that it was asked for, and how often.
  var intervals: [UInt32: (interval: Duration, count: Int)] = [:]

  /// An autopilot that has just been switched on.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    random = SeededGenerator(seed: configuration.seed)
  }

  /// The driver that speaks with it.
  public static var driver: String { "mavlink" }

  /// It takes bytes as they come.
  public var pause: Duration? { nil }

  /// By what it is known.
  public var announcement: Announcement {
    Announcement(
      path: "", driver: Self.driver, name: "Simulated autopilot", model: configuration.heartbeat.typeWord ?? "",
      serial: configuration.serialNumber)
  }

  func has(_ habit: Quirk) -> Bool { configuration.habits.contains(habit) }

  // MARK: - What happens

  /// Begins to send what it sends by itself.
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

  /// Something is due.
  public mutating func happen(_ moment: Moment) -> [SerialEffect<Self>] {
    switch moment {
    case .beat:
      return send(MAVLinkHeartbeat.number) + (has(.crowded) ? crowd() : []) + [.after(.seconds(1), .beat)]
    case .push:
      let messages = [MAVLinkSystemStatus.number] + (has(.plain) ? [] : [MAVLinkBatteryStatus.number])
      return messages.flatMap { send($0) } + [.after(configuration.period, .push)]
    case .again(let message, let count):
      guard let wanted = intervals[message], wanted.count == count else { return [] }
      return send(message) + [.after(wanted.interval, moment)]
    case .drain:
      guard configuration.percent > 0 else { return [] }
      configuration.percent -= 1
      return [.tell(.battery(configuration.percent))]
        + (configuration.drainInterval.map { [.after($0, .drain)] } ?? [])
    case .release:
      defer { (held, isHolding) = ([], false) }
      return isStalled ? [] : [.send(held)]
    case .stall:
      isStalled = true
      return []
    }
  }

  /// Takes commands, and notes who is there.
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
    return [.tell(.heard(system: header.system, component: header.component))] + (isFirst && has(.shy) ? speak() : [])
  }
}
