// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A car that is driven by HM-1X control frames: the `hm1x` driver.
///
/// It says nothing, and keeps doing what the last frame says. Its lights are in every frame, so they are remembered here.
public actor HM1XCar {
  /// The name by which profiles and announcements ask for this driver.
  public static let driverName = "hm1x"

  /// The link, for what goes beyond this driver.
  public nonisolated let link: Link<LineExchange>
  private nonisolated let clock: any TimerClock
  /// Who takes the frames: a car that splits at colons needs them without any.
  public var receiver: HM1XFrame.Receiver

  /// The frame that was sent last.
  public private(set) var frame: HM1XFrame
  /// Whether a frame has been sent.
  private(set) var isTold = false

  /// The car's name for people.
  public nonisolated var label: String { link.label }

  /// Time from one frame to the next while it is driven for a time.
  public static let interval = Duration.milliseconds(100)

  private init(_ link: Link<LineExchange>, receiver: HM1XFrame.Receiver, clock: any TimerClock) {
    self.link = link
    self.receiver = receiver
    self.clock = clock
    frame = .standing
  }

  /// Takes the car at the other end of `session`, which belongs to it from now on. Nothing is sent: whether somebody is
  /// there isn't known. Throws `disconnected`.
  public static func open(
    _ session: AccessorySession, receiver: HM1XFrame.Receiver = .window, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> HM1XCar {
    let link = try await Link.open(session, rules: LineExchange(label: session.label), clock: clock)
    return HM1XCar(link, receiver: receiver, clock: clock)
  }

  /// Sends a frame once; returns when it is on its way. Throws `busy`, `disconnected`.
  public func send(_ frame: HM1XFrame) async throws(AccessoryError) {
    self.frame = frame
    _ = try await link.request(LineRequest(frame.encoded(for: receiver), name: "a frame"))
    isTold = true
  }

  /// Steers and accelerates with the lights as they are, −255…255 each. With a `time` the frame is sent again and again
  /// for so long, as a remote control does, and then the car is stopped, also when the task is cancelled meanwhile.
  ///
  /// Throws `misconfigured` for what can't be, and what `send` throws.
  public func drive(steering: Int, acceleration: Int, for time: Duration? = nil) async throws(AccessoryError) {
    let next = try made(steering: steering, acceleration: acceleration, frame.headlights, frame.brakeLights)
    try await send(next)
    guard let time else { return }
    let end = clock.now + time
    while clock.now < end, !Task.isCancelled {
      await clock.sleep(for: min(Self.interval, end - clock.now))
      if clock.now < end, !Task.isCancelled { try await send(frame) }
    }
    // By a task of its own: one that is cancelled sends nothing any more.
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

  /// Stops, with the lights as they are. Throws what `send` throws.
  public func stop() async throws(AccessoryError) {
    try await send(try made(steering: 0, acceleration: 0, frame.headlights, frame.brakeLights))
  }

  /// Switches lights; nil leaves one as it is. Throws what `send` throws.
  public func setLights(headlights: Bool? = nil, brakeLights: Bool? = nil) async throws(AccessoryError) {
    var next = frame
    if let headlights { next.headlights = headlights }
    if let brakeLights { next.brakeLights = brakeLights }
    try await send(next)
  }

  /// From now on frames are for another receiver.
  public func setReceiver(_ receiver: HM1XFrame.Receiver) { self.receiver = receiver }

  private func made(
    steering: Int, acceleration: Int, _ headlights: Bool, _ brakeLights: Bool
  ) throws(AccessoryError) -> HM1XFrame {
    do throws(HM1XFrameError) {
      return try HM1XFrame(
        steering: steering, acceleration: acceleration, headlights: headlights, brakeLights: brakeLights)
    } catch {
      throw AccessoryError(.misconfigured, "that can't be sent to \(label): \(error)")
    }
  }

  /// Closes the link; returns when the device is free for others. The car keeps doing what it was told last.
  public func close() async { await link.close() }
}

extension HM1XFrame {
  /// Standing still, without lights.
  static let standing: HM1XFrame = {
    do {
      return try HM1XFrame(steering: 0, acceleration: 0)
    } catch {
      preconditionFailure("\(error)")  // zero is within the range
    }
  }()
}
