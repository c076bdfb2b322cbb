// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDescriptions
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A driver: opens accessories of one kind. Profiles refer to it by its name.
public struct Driver: Sendable {
  /// The driver's name in profiles and announcements.
  public let name: String
  /// The accessories that it is for, in a few words.
  public let summary: String
  /// The commands that its accessories have.
  public let commands: [CommandDescription]
  /// The type of its accessories, which shows their additional abilities before one is opened; nil if these are known
  /// only for an open accessory.
  public let accessoryType: (any Accessory.Type)?
  /// The polls that the service repeats while it holds an accessory. Profiles can change their intervals.
  public let polls: [AccessoryPoll]
  /// How long readings stay fresh that the accessories send repeatedly by themselves; nil when they send them only on a change.
  public let freshness: Duration?
  /// The parts of their state that the accessories send repeatedly by themselves, if `freshness` isn't nil.
  package var repeatedParts = Set(AccessoryPoll.Part.allCases)
  /// Whether the accessories report this part of their state only by themselves. A request for it then waits for the
  /// next report.
  package func onlyTells(_ part: AccessoryPoll.Part) -> Bool {
    freshness != nil && repeatedParts.contains(part) && !polls.contains { $0.parts.contains(part) }
  }
  /// Whether its accessories are UPSs, which tell what they supply their load from.
  package var isUPS = false
  /// As what its accessories are opened. Only where it is bytes do a console, a trace, sharing and loans show or carry any; what is
  /// advertised becomes frames of a description, which are bytes, too.
  public var channel: ChannelKind { opening?.kind ?? (advertisement == nil ? .bytes : .advertisements) }
  /// How its accessories are opened if not as bytes; nil for bytes, and for what is advertised.
  private(set) var opening: DriverOpening?
  /// The characteristics that carry its accessories' bytes on the air, where they aren't found by themselves.
  package var gatt = GATTSettings()
  /// What its accessories advertise, where they are read by that, and so aren't connected on the air.
  package var advertisement: ProtocolDescription.Advertisement?
  /// The requests by number that its accessories take; nil when they take none.
  package var requests: NumberedRequests?
  /// The profiles that come with this driver: the first is the one that has its name.
  public var profiles: [Profile] { shippedProfiles() }
  var shippedProfiles: @Sendable () -> [Profile] = { [] }
  /// The protocol's message numbers, which may differ when a recording is replayed; none when it has none.
  public internal(set) var numbering = ReplayNumbering.none
  /// Makes the probes by which `identify` finds its accessories; nil when it can't find them.
  var probe: Probe?
  /// The probe's places in the order of `identify`.
  var probePlaces: [ProbePlace] = []
  /// Makes the keys by which a console drives its accessories; nil when it can't.
  package internal(set) var keys: KeysMaker?
  /// What ends a command that a person types to its accessories. The default is a line feed.
  package internal(set) var commandEnd: [UInt8] = [0x0A]
  /// The possible effect of bytes from other sources on its accessories. Unless they are harmless, sending them needs
  /// the permissions that `WriteRules` describes.
  public let rawBytes: RawBytes
  /// Whether something can be sent to its accessories that may change them, either by one of the commands or by other
  /// bytes. Sending that needs the permissions that `WriteRules` describes.
  public var hasWrites: Bool { rawBytes != .harmless || commands.contains(where: \.isWrite) }
  /// The abilities that none of its accessories has.
  public let lacks: Set<DriverAbility>
  /// The units that may share a line; nil when each accessory has its own line.
  public let units: LineUnits?
  /// Encodes commands without an accessory, one frame for each; nil when the frames depend on the accessory.
  public let preview: Preview?
  /// How the sent bytes may differ from `preview`, because they depend on the accessory: a sentence without its period.
  /// Empty when they don't differ.
  public let previewRemark: String
  /// Makes a decoder of the protocol's frames, for traces; nil when there is none, and a trace shows the bytes.
  public let frames: (@Sendable () -> any FrameReader)?
  /// Makes the routing for sharing an accessory by frames; nil if clients can share it by bytes only.
  public let routing: Router?
  private let make: Maker
  private let greeting: Greeting?

  /// Makes contact over a session. The accessory owns the session from then on, and closes it if this fails.
  public typealias Maker =
    @Sendable (
      _ session: AccessorySession, _ profile: Profile?, _ clock: any TimerClock
    ) async throws(AccessoryError) -> any Accessory

  /// Makes contact with a device that is open. The accessory owns what is opened from then on, and closes it if this fails.
  public typealias ChannelMaker<Opened> =
    @Sendable (
      _ opened: Opened, _ profile: Profile?, _ clock: any TimerClock
    ) async throws(AccessoryError) -> any Accessory

  /// Encodes commands. `unit` is the unit on a shared line; nil means the default unit. Throws `misconfigured` when a
  /// command can't be encoded.
  public typealias Preview = @Sendable (_ calls: [CommandCall], _ unit: Int?) throws(AccessoryError) -> [[UInt8]]

  /// An exchange that must precede the protocol on some transports, and isn't a part of the protocol.
  public typealias Greeting =
    @Sendable (_ session: AccessorySession, _ clock: any TimerClock) async throws(AccessoryError) -> Void

  /// Makes the routing of frames for an open transport. With `allowsWrites`, clients may send commands that change something in the
  /// accessory. Returns nil if the protocol's requests have no frames. Throws `misconfigured` if the profile's settings don't fit the
  /// protocol.
  public typealias Router =
    @Sendable (_ transport: any Transport, _ profile: Profile?, _ allowsWrites: Bool) throws(AccessoryError) ->
    FrameRouting?

  /// A driver with this name. `make` also does what `greeting` does. There is no default for `rawBytes`, so that every
  /// driver decides about the safety of its accessories.
  public init(
    name: String, summary: String = "", commands: [CommandDescription] = [],
    accessoryType: (any Accessory.Type)? = nil, polls: [AccessoryPoll] = [.readings()], freshness: Duration? = nil,
    rawBytes: RawBytes,
    lacks: Set<DriverAbility> = [], units: LineUnits? = nil, preview: Preview? = nil, previewRemark: String = "",
    frames: (@Sendable () -> any FrameReader)? = nil, routing: Router? = nil, greeting: Greeting? = nil,
    make: @escaping Maker
  ) {
    self.routing = routing
    self.greeting = greeting
    self.units = units
    self.lacks = lacks
    self.rawBytes = rawBytes
    (self.polls, self.freshness, self.preview) = (polls, freshness, preview)
    self.previewRemark = previewRemark
    self.accessoryType = accessoryType
    self.frames = frames
    self.name = name
    self.summary = summary
    self.commands = commands
    self.make = make
  }

  /// A driver whose accessories are opened as `channel`, such as `HIDTransport.self`, and not as bytes: so they have no units, frames and
  /// routing.
  public init<Opened: DeviceChannel>(
    name: String, summary: String = "", commands: [CommandDescription] = [],
    accessoryType: (any Accessory.Type)? = nil, polls: [AccessoryPoll] = [.readings()], freshness: Duration? = nil,
    rawBytes: RawBytes, lacks: Set<DriverAbility> = [], channel: Opened.Type, make: @escaping ChannelMaker<Opened>
  ) {
    let opening = DriverOpening(name, make)
    self.init(
      name: name, summary: summary, commands: commands, accessoryType: accessoryType, polls: polls,
      freshness: freshness, rawBytes: rawBytes, lacks: lacks
    ) { session, _, _ throws(AccessoryError) in
      await session.close()
      throw opening.refusal(of: session.label)
    }
    self.opening = opening
  }

  /// A driver without a declaration for raw bytes: they are guarded, whatever `hasWrites` is.
  @available(*, deprecated, message: "say what raw bytes can do to the accessory: rawBytes: .guarded or .harmless")
  public init(
    name: String, summary: String = "", commands: [CommandDescription] = [],
    polls: [AccessoryPoll] = [.readings()], freshness: Duration? = nil, hasWrites: Bool = false,
    lacks: Set<DriverAbility> = [], units: LineUnits? = nil, preview: Preview? = nil, previewRemark: String = "",
    frames: (@Sendable () -> any FrameReader)? = nil, routing: Router? = nil, greeting: Greeting? = nil,
    make: @escaping Maker
  ) {
    self.init(
      name: name, summary: summary, commands: commands, polls: polls, freshness: freshness, rawBytes: .guarded,
      lacks: lacks, units: units, preview: preview,
      previewRemark: previewRemark, frames: frames, routing: routing, greeting: greeting, make: make)
  }

  /// Encodes commands with the driver's `preview`. Throws `unsupported` when it has none, and `misconfigured` when
  /// there is no such unit, or a command can't be encoded.
  public func preview(of calls: [CommandCall], unit: Int? = nil) throws(AccessoryError) -> [[UInt8]] {
    try check(unit, label: name)
    guard let preview else {
      throw AccessoryError(
        .unsupported, "the driver \(name) can't show beforehand what it sends for a command: nothing was sent")
    }
    return try preview(calls, unit)
  }

  /// Makes contact with the accessory at the other end of `session`. The accessory owns the session from now on, and closes it if
  /// this fails, as it does where the driver wants another channel than bytes. `profile` sets the pacing and other policies; `unit`
  /// selects one of several accessories on the line.
  ///
  /// Throws `timedOut` when there is no answer, `disconnected`, `refused`, `unsupported`, and `misconfigured` when
  /// there is no such unit.
  public func open(
    _ session: AccessorySession, profile: Profile?, unit: Int? = nil, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> any Accessory {
    guard let unit else { return try await make(session, profile, clock) }
    try await attempt { () throws(AccessoryError) in
      try check(unit, label: session.label)
    } onFailure: { _ in
      await session.close()
    }
    guard let units else { return try await make(session, profile, clock) }
    let line = try await units.open(session, profile: profile, isShared: false, clock: clock)
    return try await line.accessory(unit: unit, share: LineShare { await line.close() })
  }

  /// The same with a device that is open in any way.
  func open(
    _ opened: OpenedDevice, profile: Profile?, unit: Int?, clock: any TimerClock
  ) async throws(AccessoryError) -> any Accessory {
    switch opened {
    case .bytes(let session): return try await open(session, profile: profile, unit: unit, clock: clock)
    case .other(let channel, let make):
      try check(unit, label: channel.label)
      return try await make(profile, clock)
    }
  }

  /// Throws `misconfigured` when the driver's protocol can't have this unit. `label` is the device's name in the error.
  public func check(_ unit: Int?, label: String) throws(AccessoryError) {
    guard let unit else { return }
    guard let units else {
      throw AccessoryError(
        .misconfigured,
        "\(label): the driver \(name) has no units, so there is no unit \(unit): leave out @\(unit)")
    }
    guard units.range.contains(unit) else {
      throw AccessoryError(
        .misconfigured,
        "\(label): the units of the driver \(name) are \(units.range.lowerBound) to \(units.range.upperBound), not "
          + "\(unit)"
      )
    }
  }

  /// Makes the exchange that must precede the protocol, before another program uses `session`. On the network, for
  /// example, some accessories require a greeting. Throws `timedOut`, `badData`, `disconnected`.
  public func greet(
    over session: AccessorySession, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) {
    try await greeting?(session, clock)
  }
}
