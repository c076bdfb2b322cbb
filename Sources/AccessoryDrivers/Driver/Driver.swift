// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// A kind of accessory that this package can speak with, under the name by which profiles ask for it.
public struct Driver: Sendable {
  /// What profiles and announcements call it.
  public let name: String
  /// Which accessories it is for, in a few words.
  public let summary: String
  /// What its accessories can be told and asked by name.
  public let commands: [CommandDescription]
  /// Whether its accessories have a radio that searches for others and connects to them: `Accessory.radio`.
  public let hasRadio: Bool
  /// What its accessories are asked for by themselves while a service holds them; profiles change how often.
  public let polls: [AccessoryPoll]
  /// How long what its accessories tell of their own accord is fresh, where they tell it again and again; nil where they
  /// tell it only when it changes.
  public let freshness: Duration?
  /// Whether its accessories take something that changes them: one of its commands, or bytes that none of these sends. Then
  /// that needs the permissions that `WriteRules` says.
  public let hasWrites: Bool
  /// What none of its accessories has, whichever it is.
  public let lacks: Set<DriverAbility>
  /// The accessories that may share a line; nil where each has a line of its own.
  public let units: LineUnits?
  /// Gives the bytes that commands would send, a frame each, without an accessory; nil where that isn't known beforehand.
  public let preview: Preview?
  /// How the bytes that are really sent may differ from `preview`, because that depends on the accessory: a sentence without
  /// its period; empty where they don't differ.
  public let previewRemark: String
  /// Makes what reads the frames of this protocol in a trace, in its own words; nil where nothing does, and a trace shows
  /// the bytes.
  public let frames: (@Sendable () -> any FrameReader)?
  private let make: Maker
  private let greeting: Greeting?

  /// Makes contact over a session, which belongs to the accessory from then on and is closed if that fails.
  public typealias Maker =
    @Sendable (
      _ session: AccessorySession, _ profile: Profile?, _ clock: any TimerClock
    ) async throws(AccessoryError) -> any Accessory

  /// Makes the bytes of commands. Throws `misconfigured` where there are none for them.
  /// `unit` is the one that is meant on a shared line; nil: the standard one.
  public typealias Preview = @Sendable (_ calls: [CommandCall], _ unit: Int?) throws(AccessoryError) -> [[UInt8]]

  /// What must pass before the protocol begins, where that isn't part of it.
  public typealias Greeting =
    @Sendable (_ session: AccessorySession, _ clock: any TimerClock) async throws(AccessoryError) -> Void

  /// A driver of this name. Whatever `greeting` does, `make` does by itself.
  public init(
    name: String, summary: String = "", commands: [CommandDescription] = [], hasRadio: Bool = false,
    polls: [AccessoryPoll] = [.readings()], freshness: Duration? = nil, hasWrites: Bool = false,
    lacks: Set<DriverAbility> = [], units: LineUnits? = nil, preview: Preview? = nil, previewRemark: String = "",
    frames: (@Sendable () -> any FrameReader)? = nil, greeting: Greeting? = nil, make: @escaping Maker
  ) {
    self.greeting = greeting
    self.units = units
    self.lacks = lacks
    self.hasWrites = hasWrites || commands.contains(where: \.isWrite)
    (self.polls, self.freshness, self.preview) = (polls, freshness, preview)
    self.previewRemark = previewRemark
    self.hasRadio = hasRadio
    self.frames = frames
    self.name = name
    self.summary = summary
    self.commands = commands
    self.make = make
  }

  /// What `preview` gives. Throws `unsupported` where there is none, `misconfigured` where there is no such unit.
  public func preview(of calls: [CommandCall], unit: Int? = nil) throws(AccessoryError) -> [[UInt8]] {
    try check(unit, label: name)
    guard let preview else {
      throw AccessoryError(
        .unsupported, "what \(name) accessories are sent for a command isn't known beforehand: nothing was sent")
    }
    return try preview(calls, unit)
  }

  /// Makes contact with the accessory at the other end of `session`, which belongs to it from now on, and is closed if
  /// that fails. `profile` says at which pace, and `unit` which of several accessories on the line is meant.
  ///
  /// Throws `timedOut` when nobody answers, `disconnected`, `refused`, `unsupported`; `misconfigured` when there is no such
  /// unit.
  public func open(
    _ session: AccessorySession, profile: Profile?, unit: Int? = nil, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> any Accessory {
    guard let unit else { return try await make(session, profile, clock) }
    do throws(AccessoryError) {
      try check(unit, label: session.label)
    } catch {
      await session.close()
      throw error
    }
    guard let units else { return try await make(session, profile, clock) }
    let line = try await units.open(session, profile: profile, isShared: false, clock: clock)
    return try await line.accessory(unit: unit, share: LineShare { await line.close() })
  }

  /// Throws `misconfigured` when there can be no such unit on a line with the driver's accessories; `label` is what the device
  /// is called.
  public func check(_ unit: Int?, label: String) throws(AccessoryError) {
    guard let unit else { return }
    guard let units else {
      throw AccessoryError(
        .misconfigured,
        "\(label): \(name) accessories are alone on their line, so there is no unit \(unit): leave @\(unit) away")
    }
    guard units.range.contains(unit) else {
      throw AccessoryError(
        .misconfigured,
        "\(label): units of \(name) accessories are \(units.range.lowerBound) to \(units.range.upperBound), not \(unit)"
      )
    }
  }

  /// Does what must be done before others speak the protocol over `session`: a brick on the network wants to be greeted.
  /// Throws `timedOut`, `badData`, `disconnected`.
  public func greet(
    over session: AccessorySession, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) {
    try await greeting?(session, clock)
  }
}
