// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A car that HM-1X control frames drive: the `hm1x` driver.
///
/// The car sends nothing, and follows the last frame until the next one. Every frame also sets the lights, so their
/// state is stored here.
public actor HM1XCar {
  /// The driver's name in profiles and in the announcements of simulators.
  public static let driverName = "hm1x"

  /// The link, for requests and events that this driver has no function for.
  public nonisolated let link: Link<LineExchange>
  private nonisolated let clock: any TimerClock
  /// The kind of receiver in the car. For one that splits at colons, frames are encoded without a colon before their end.
  public var receiver: HM1XFrame.Receiver

  /// The last frame that was sent.
  public private(set) var frame: HM1XFrame
  /// Whether a frame has been sent.
  private(set) var hasSentFrame = false

  /// The car's name in messages to the user.
  public nonisolated var label: String { link.label }

  /// The time between two frames while the car is driven for a time.
  public static let interval = Duration.milliseconds(100)

  private init(_ link: Link<LineExchange>, receiver: HM1XFrame.Receiver, clock: any TimerClock) {
    self.link = link
    self.receiver = receiver
    self.clock = clock
    frame = .standing
  }

  /// Opens the car at the other end of `session`. The car owns the session from now on. Nothing is sent, so this
  /// succeeds even if no car is there. Throws `disconnected`.
  public static func open(
    _ session: AccessorySession, receiver: HM1XFrame.Receiver = .window, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> HM1XCar {
    let link = try await Link.open(session, rules: LineExchange(label: session.label), clock: clock)
    return HM1XCar(link, receiver: receiver, clock: clock)
  }

  /// Sends a frame once. Returns when it was written. Throws `busy`, `disconnected`.
  public func send(_ frame: HM1XFrame) async throws(AccessoryError) {
    self.frame = frame
    _ = try await link.request(LineRequest(frame.encoded(for: receiver), name: "a frame"))
    hasSentFrame = true
  }

  /// Steers and accelerates, with −255…255 each; the lights stay as they are. With a `time`, the frame is repeated for
  /// that time, as a remote control does, and then the car is stopped, also when the task is cancelled.
  ///
  /// Throws `misconfigured` for a value out of range, and what `send` throws.
  public func drive(steering: Int, acceleration: Int, for time: Duration? = nil) async throws(AccessoryError) {
    let next = try made(steering: steering, acceleration: acceleration, frame.headlights, frame.brakeLights)
    try await send(next)
    guard let time else { return }
    let end = clock.now + time
    while clock.now < end, !Task.isCancelled {
      await clock.sleep(for: min(Self.interval, end - clock.now))
      if clock.now < end, !Task.isCancelled { try await send(frame) }
    }
    // In a task of its own, because a cancelled task can't send.
    let failure = await Task { () -> AccessoryError? in
      do throws(AccessoryError) {
        try await stop()
        return nil
      } catch {
        return error
      }
    }.value
    if let failure { throw failure }
  }

  /// Stops the car; the lights stay as they are. Throws what `send` throws.
  public func stop() async throws(AccessoryError) {
    try await send(try made(steering: 0, acceleration: 0, frame.headlights, frame.brakeLights))
  }

  /// Switches lights; nil leaves a light as it is. Throws what `send` throws.
  public func setLights(headlights: Bool? = nil, brakeLights: Bool? = nil) async throws(AccessoryError) {
    var next = frame
    if let headlights { next.headlights = headlights }
    if let brakeLights { next.brakeLights = brakeLights }
    try await send(next)
  }

  /// Sets the kind of receiver for all following frames.
  public func setReceiver(_ receiver: HM1XFrame.Receiver) { self.receiver = receiver }

  private func made(
    steering: Int, acceleration: Int, _ headlights: Bool, _ brakeLights: Bool
  ) throws(AccessoryError) -> HM1XFrame {
    do throws(HM1XFrameError) {
      return try HM1XFrame(
        steering: steering, acceleration: acceleration, headlights: headlights, brakeLights: brakeLights)
    } catch {
      throw AccessoryError(.misconfigured, "the command can't be sent to \(label): \(error)")
    }
  }

  /// Closes the link. Returns when the device is free for others. The car keeps following the last frame.
  public func close() async { await link.close() }
}

extension HM1XFrame {
  /// A frame for a standing car without lights.
  static let standing: HM1XFrame = {
    do {
      return try HM1XFrame(steering: 0, acceleration: 0)
    } catch {
      preconditionFailure("\(error)")  // zero is within the range
    }
  }()
}
