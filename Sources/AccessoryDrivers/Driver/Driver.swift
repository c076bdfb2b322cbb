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
  /// Gives the bytes that commands would send, a frame each, without an accessory; nil where that isn't known beforehand.
  public let preview: Preview?
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
  public typealias Preview = @Sendable (_ calls: [CommandCall]) throws(AccessoryError) -> [[UInt8]]

  /// What must pass before the protocol begins, where that isn't part of it.
  public typealias Greeting =
    @Sendable (_ session: AccessorySession, _ clock: any TimerClock) async throws(AccessoryError) -> Void

  /// A driver of this name. Whatever `greeting` does, `make` does by itself.
  public init(
    name: String, summary: String = "", commands: [CommandDescription] = [], hasRadio: Bool = false,
    polls: [AccessoryPoll] = [.readings()], freshness: Duration? = nil, hasWrites: Bool = false,
    preview: Preview? = nil,
    frames: (@Sendable () -> any FrameReader)? = nil, greeting: Greeting? = nil, make: @escaping Maker
  ) {
    self.greeting = greeting
    self.hasWrites = hasWrites || commands.contains(where: \.isWrite)
    (self.polls, self.freshness, self.preview) = (polls, freshness, preview)
    self.hasRadio = hasRadio
    self.frames = frames
    self.name = name
    self.summary = summary
    self.commands = commands
    self.make = make
  }

  /// What `preview` gives. Throws `unsupported` where there is none.
  public func preview(of calls: [CommandCall]) throws(AccessoryError) -> [[UInt8]] {
    guard let preview else {
      throw AccessoryError(
        .unsupported, "what \(name) accessories are sent for a command isn't known beforehand: nothing was sent")
    }
    return try preview(calls)
  }

  /// Makes contact with the accessory at the other end of `session`, which belongs to it from now on, and is closed if
  /// that fails. `profile` says at which pace.
  ///
  /// Throws `timedOut` when nobody answers, `disconnected`, `refused`, `unsupported`.
  public func open(
    _ session: AccessorySession, profile: Profile?, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> any Accessory {
    try await make(session, profile, clock)
  }

  /// Does what must be done before others speak the protocol over `session`: a brick on the network wants to be greeted.
  /// Throws `timedOut`, `badData`, `disconnected`.
  public func greet(
    over session: AccessorySession, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) {
    try await greeting?(session, clock)
  }
}
