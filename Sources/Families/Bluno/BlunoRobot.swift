// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A robot with a Bluno board, at its USB port: the `bluno` driver.
///
/// The robot accepts tasks, keys, speeds and texts, and answers none of them; `texts` has what it sends by itself. The
/// board's radio has AT commands of its own. In AT mode nothing reaches the robot.
public actor BlunoRobot {
  /// The driver's name in profiles and in the announcements of simulators.
  public static let driverName = "bluno"

  /// The link, for requests and events that this driver has no function for.
  public nonisolated let link: Link<LineExchange>
  private nonisolated let clock: any TimerClock
  /// How long an answer in AT mode may take.
  private let timeout: Duration
  private var isInATMode = false
  /// When bytes were written last that nothing has answered.
  private var lastWrite: MonotonicTime?
  /// For what enters and leaves AT mode: a message to the robot in between would be lost, and so would the end of the other's answers.
  private nonisolated let turns = Turns()

  /// The robot's name in messages to the user.
  public nonisolated var label: String { link.label }

  /// The radio takes `+++` as a command only where there is a pause before and after it. Otherwise it reaches the robot as text.
  private static let pause = Duration.milliseconds(50)
  /// How often the command AT is sent until the radio answers.
  private static let tries = 3

  private init(_ link: Link<LineExchange>, timeout: Duration, clock: any TimerClock) {
    self.link = link
    self.timeout = timeout
    self.clock = clock
  }

  /// Opens the robot at the other end of `session`. The robot owns the session from now on. Nothing is sent, so this
  /// succeeds even if no robot is there. `timeout` is how long an answer in AT mode may take.
  ///
  /// Throws `disconnected`.
  public static func open(
    _ session: AccessorySession, timeout: Duration = .seconds(1), clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> BlunoRobot {
    let link = try await Link.open(session, rules: LineExchange(label: session.label), clock: clock)
    return BlunoRobot(link, timeout: timeout, clock: clock)
  }

  // MARK: - The robot

  /// Sends a message, encoded as in the user's remote control. Returns when it was written. Leaves AT mode first.
  ///
  /// Throws `misconfigured` for a message that can't be encoded, `busy`, `disconnected`.
  public func send(_ message: BlunoMessage, by remote: BlunoRemote = BlunoRemote()) async throws(AccessoryError) {
    try await alone { () throws(AccessoryError) in try await deliver(message, by: remote) }
  }

  /// Runs `body` when all other conversations with the radio and messages to the robot are over.
  func alone<Value: Sendable>(
    _ body: () async throws(AccessoryError) -> Value
  ) async throws(AccessoryError) -> Value {
    try await turns.take(body)
  }

  /// Sends a message within a conversation; see `send`.
  func deliver(_ message: BlunoMessage, by remote: BlunoRemote) async throws(AccessoryError) {
    let bytes = try checking { () throws(BlunoError) in try remote.bytes(of: message) }
    try await leaveATMode()
    try await write(bytes, "a message")
  }

  /// Writes bytes that nothing answers. What is written before or after them without a pause would be read as one with them.
  private func write(_ bytes: [UInt8], _ name: String, isToggle: Bool = false) async throws(AccessoryError) {
    if isToggle { await keepPause() }
    _ = try await link.request(LineRequest(bytes, name: name))
    lastWrite = clock.now
    if isToggle { await keepPause() }
  }

  private func keepPause() async {
    guard let last = lastWrite else { return }
    lastWrite = nil
    let rest = last + Self.pause - clock.now
    if rest > .zero { await clock.sleep(for: rest) }
  }

  /// The texts that the robot sends from now on: a line, or bytes that came without a pause. Empty texts and lone line
  /// feeds are left out. Escape a text before you show it. The stream throws the link's error when the robot goes, and
  /// ends normally when the link is closed.
  public nonisolated func texts() -> EventStream<[UInt8]> {
    link.events().converted { BlunoMessage.isShown($0) ? $0 : nil }
  }

  // MARK: - The radio

  /// Sends an AT command to the board's radio and returns its reply. Enters AT mode first. The radio stays in AT mode
  /// until `send` or `leaveATMode`.
  ///
  /// Throws `timedOut` when the radio doesn't answer, `misconfigured` for an argument that isn't valid, `busy`, `disconnected`.
  @discardableResult
  public func ask(_ command: BlunoCommand) async throws(AccessoryError) -> BlunoReply {
    let bytes = try checking { () throws(BlunoError) in try command.encoded() }
    switch command {
    case .toggle:
      throw AccessoryError(.misconfigured, "+++ is not a command: AT mode is entered and left automatically")
    case .exit:
      try await leaveATMode()
      return .ok
    default: break
    }
    try await enterATMode()
    let name = command == .restart ? "AT+RESTART" : String(decoding: bytes.dropLast(2), as: UTF8.self)
    let answer = try await link.request(LineRequest(bytes, name: name, timeout: timeout)) ?? []
    if command == .restart { isInATMode = false }
    return BlunoReply(decoding: answer)
  }

  /// The value of a radio parameter. Throws what `ask` throws, and `badData`.
  public func text(of parameter: BlunoParameter) async throws(AccessoryError) -> String {
    guard case .value(let text) = try await ask(.ask(parameter)) else {
      throw AccessoryError(.badData, "\(label) sent an invalid reply to AT+\(parameter.rawValue)=?")
    }
    return text
  }

  /// Changes a parameter of the radio. Throws what `ask` throws, and `refused` when the radio doesn't accept the value.
  public func set(_ parameter: BlunoParameter, to value: String) async throws(AccessoryError) {
    let reply = try await ask(.set(parameter, value))
    guard reply == .ok else { throw AccessoryError(.refused, "\(label) refuses AT+\(parameter.rawValue)=") }
  }

  private func enterATMode() async throws(AccessoryError) {
    if isInATMode { return }
    let toggle = try checking { () throws(BlunoError) in try BlunoCommand.toggle.encoded() }
    let attention = try checking { () throws(BlunoError) in try BlunoCommand.attention.encoded() }
    var isThere = false
    await keepPause()
    do throws(AccessoryError) {
      _ = try await link.request(
        LineRequest(toggle, name: "+++", timeout: timeout) { BlunoReply(decoding: $0) == .enteredATMode })
    } catch {
      // Some radios don't answer this command; and a radio that already was in AT mode has left it now.
      guard error.kind == .timedOut else { throw error }
    }
    for count in 1...Self.tries where !isThere {
      do throws(AccessoryError) {
        _ = try await link.request(
          LineRequest(attention, name: "AT", timeout: timeout) { BlunoReply(decoding: $0) == .ok })
        isThere = true
      } catch {
        guard error.kind == .timedOut else { throw error }
        guard count < Self.tries else {
          throw AccessoryError(.timedOut, "\(label) doesn't enter AT mode: is it a Bluno, and is this its USB port?")
        }
        if count == 1 { try await write(toggle, "+++", isToggle: true) }
      }
    }
    isInATMode = true
  }

  /// Leaves AT mode, if the radio is in it, so that the robot receives what is sent. Throws what `ask` throws.
  public func leaveATMode() async throws(AccessoryError) {
    guard isInATMode else { return }
    isInATMode = false
    let exit = try checking { () throws(BlunoError) in try BlunoCommand.exit.encoded() }
    do throws(AccessoryError) {
      _ = try await link.request(
        LineRequest(exit, name: "AT+EXIT", timeout: timeout) { BlunoReply(decoding: $0) == .ok })
    } catch {
      guard error.kind == .timedOut else { throw error }
      // Firmware before 1.8 doesn't know AT+EXIT.
      let toggle = try checking { () throws(BlunoError) in try BlunoCommand.toggle.encoded() }
      try await write(toggle, "+++", isToggle: true)
    }
  }

  private func checking<Value>(_ body: () throws(BlunoError) -> Value) throws(AccessoryError) -> Value {
    do throws(BlunoError) {
      return try body()
    } catch {
      throw AccessoryError(.misconfigured, "the command can't be sent to \(label): \(error)")
    }
  }

  /// Leaves AT mode, if possible, and closes the link. Returns when the device is free for others.
  public func close() async {
    // In a task of its own, because a cancelled task can't send.
    await Task { try? await leaveATMode() }.value
    await link.close()
  }
}
