// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The device's line. The clients' requests to it run one after another, in order with the bytes before and after them.
///
/// Modem lines and line errors are read only while a client asks for notices of them.
final class HubLine: HubPart {
  /// The line's state, as far as known.
  private(set) var memory = LineMemory()
  /// Whether the line has modem lines. A pseudo-terminal has none.
  private(set) var hasModemLines = true
  /// The connected clients that have made a request to the line.
  private var users: Set<HubClient.ID> = []
  /// The last task in the queue of work on the line.
  private var lastWork: Task<Void, Never>?
  /// The timer for the next reading of the modem lines and the line errors.
  private var timer: TimerToken?
  /// The last reading of the driver's error counters.
  private(set) var lineState = LineStateWatch()

  /// After this time a client gets a reply with the last known values, even if the device hasn't finished.
  private static let answerLimit = Duration.seconds(2)
  /// How long a request waits for earlier bytes to be sent.
  private static let drainLimit = Duration.milliseconds(1_500)
  private static let breakTime = Duration.milliseconds(250)
  /// The time between two readings: 20 readings a second.
  private static let watchInterval = Duration.milliseconds(50)

  // MARK: - Requests

  /// Carries out a client's request to the line. The client's next requests wait until this one has ended and `message` was answered.
  func begin(_ request: LineRequest, of client: HubClient, answering message: COMPortMessage? = nil) {
    client.intake.isBusy = true
    client.intake.ticket += 1
    let (id, ticket, name) = (client.id, client.intake.ticket, client.name)
    users.insert(id)
    let timer = after(Self.answerLimit) { $0.line.finish(id, ticket, message) }
    enqueue { parts in
      if let refusal = await parts.line.perform(request) { parts.hub.report(.lineRefused(name, reason: refusal)) }
      parts.hub.clock.cancel(timer)
      parts.line.finish(id, ticket, message)
    }
  }

  private func finish(_ id: HubClient.ID, _ ticket: Int, _ message: COMPortMessage?) {
    guard let client = clients[id], client.intake.ticket == ticket, client.intake.isBusy else { return }
    // An answer that comes after the time limit is not given a second time.
    client.intake.ticket += 1
    client.intake.isBusy = false
    if let message { telnet.reply(telnet.answer(to: message, of: client), to: client) }
    requests.work(client)
  }

  /// Runs `body` after all earlier work on the line.
  func enqueue(_ body: @escaping @Sendable (HubParts) async -> Void) {
    // With a preferred executor, continuations resume on the I/O thread. Otherwise they resume on a pool's thread, which costs one more
    // wake-up.
    lastWork = Task(executorPreference: hub.io) { [hub, lastWork] in
      await lastWork?.value
      await hub.run(body)
    }
  }

  /// Carries out a request, or stores it until the device is back. Returns a text with the reason when the device
  /// refuses it.
  private func perform(_ request: LineRequest, isRestoring: Bool = false) async -> String? {
    guard let attached = device.attached, let control = attached.transport.line else {
      memory.note(request, isRestoring: isRestoring)
      return nil
    }
    if request.isOrdered { await drained(attached) }
    do throws(AccessoryError) {
      switch request {
      case .look: await look(attached, control)
      case .change(let changes):
        let status = try await control.change(changes)
        // The driver may set another baud rate than the requested one. Differences in other settings are ignored, since
        // a pseudo-terminal doesn't keep all of them.
        memory.note(request, isRestoring: isRestoring)
        if changes.baudRate != nil { memory.note(baudRate: status.baudRate) }
        // A terminal that was created in the meantime has the earlier settings.
        terminals.followAll()
      case .set(let raised, let lowered): try await control.set(raising: raised, lowering: lowered)
      case .setBreak(let isOn): try await control.setBreak(isOn)
      case .pulse: try await control.sendBreak(for: Self.breakTime, clock: clock)
      case .purge(let buffers): try await control.purge(buffers)
      }
      if case .change = request {} else { memory.note(request, isRestoring: isRestoring) }
      return nil
    } catch {
      switch (error.kind, request) {
      // A device without modem lines, such as a pseudo-terminal. An error would keep programs from opening it.
      case (.unsupported, .set), (.disconnected, _), (.cancelled, _): memory.note(request, isRestoring: isRestoring)
      case (.unsupported, .pulse), (.unsupported, .setBreak), (.unsupported, .purge): break
      default: return error.message
      }
      return nil
    }
  }

  /// Returns when the device has sent all queued bytes, as far as that can be known, or after `drainLimit`.
  func drained(_ attached: AttachedDevice) async {
    let limit = clock.now + Self.drainLimit
    let output = attached.transport.output
    if output.queuedCount > 0 {
      let (end, continuation) = AsyncStream<Void>.makeStream()
      output.onEmpty { continuation.finish() }
      let timer = clock.schedule(at: limit) { continuation.finish() }
      for await _ in end {}
      clock.cancel(timer)
    }
    // The baud rate of a pseudo-terminal doesn't limit its speed, so there is nothing to wait for.
    guard hasModemLines else { return }
    let due = min(limit, attached.busyUntil)
    if due > clock.now { await clock.sleep(for: due - clock.now) }
  }

  // MARK: - Device and clients

  /// The device is open: reads the line's state, and repeats the clients' changes.
  func opened(_ transport: any Transport, _ control: any LineControl) {
    enqueue { await $0.line.start(transport, control) }
  }

  private func start(_ transport: any Transport, _ control: any LineControl) async {
    if device.attached(transport) != nil, let status = try? await control.status() {
      hasModemLines = status.modemLines != nil
      lineState = LineStateWatch()
      for request in memory.opened(status) + terminals.settingsMadeBefore() { _ = await perform(request) }
    }
    guard let attached = device.attached(transport) else { return }
    device.becomeReady(attached)
    terminals.followAll()
    terminals.watchAll()
    telnet.notifyAll()
    watch()
  }

  /// Repeats the clients' changes after the line was opened again with its usual settings.
  func wasReopened() async {
    guard let transport = device.attached?.transport, let control = transport.line else { return }
    await lastWork?.value
    guard device.attached(transport) != nil, let status = try? await control.status() else { return }
    for request in memory.opened(status) {
      switch request {
      case .change(let changes): _ = try? await control.change(changes)
      case .set(let raised, let lowered): try? await control.set(raising: raised, lowering: lowered)
      case .setBreak, .pulse, .purge, .look: continue
      }
      memory.note(request)
    }
  }

  /// The device is gone.
  func closed() {
    memory.closed()
    resets.forget()
    telnet.notifyAll()
  }

  /// A client uses the line, whose original state is restored when it has left.
  func isUsed(by id: HubClient.ID) { users.insert(id) }

  /// A client has left, or no longer uses the line, which `heir` uses in its place. After the last one the line's original state is
  /// restored.
  func left(by id: HubClient.ID, heir: HubClient.ID?) {
    resets.left(by: id)
    guard users.remove(id) != nil else { return }
    if let heir { users.insert(heir) }
    guard users.isEmpty else { return }
    enqueue { await $0.line.restore() }
  }

  private func restore() async {
    guard users.isEmpty else { return }
    for request in memory.restoring() { _ = await perform(request, isRestoring: true) }
    resets.forget()
    terminals.followAll()
  }

  /// Takes note of a request that is carried out by a reset.
  func note(_ request: LineRequest) { memory.note(request) }

  // MARK: - Modem lines and line errors

  /// Whether the line's errors can be read.
  var countsErrors: Bool { device.control != nil && lineState.isPossible }

  private var wantsModemLines: Bool {
    hasModemLines && clients.all.values.contains { $0.telnet?.watchesModemLines == true }
  }

  private var wantsLineState: Bool {
    lineState.isPossible && clients.all.values.contains { $0.telnet?.watchesLineState == true }
  }

  /// Reads the line regularly while a client asks for notices of its changes.
  func watch() {
    guard timer == nil, device.control != nil, wantsModemLines || wantsLineState else { return }
    timer = after(Self.watchInterval) { $0.line.lookNow() }
  }

  private func lookNow() {
    guard device.control != nil else { return timer = nil }
    Task(executorPreference: hub.io) { [hub] in await hub.run { await $0.line.look() } }
  }

  private func look() async {
    if let attached = device.attached, let control = attached.transport.line {
      if wantsModemLines { await lookAtModemLines(attached, control) }
      if wantsLineState { await look(attached, control) }
    }
    timer = nil
    watch()
  }

  private func lookAtModemLines(_ attached: AttachedDevice, _ control: any LineControl) async {
    do throws(AccessoryError) {
      let lines = try await control.modemLines()
      guard device.attached === attached else { return }
      memory.note(lines, keepsOutputs: resets.ownOutputs)
      telnet.notifyAll()
    } catch {
      // After any other error, such as a timeout of a slow adapter, the lines are read again.
      if device.attached === attached, error.kind == .unsupported { hasModemLines = false }
    }
  }

  /// Reads the error counters of the driver, and sends notices to the clients that ask for them.
  private func look(_ attached: AttachedDevice, _ control: any LineControl) async {
    let activity = try? await control.activity()
    guard device.attached === attached else { return }
    guard let activity else { return lineState.isPossible = false }
    telnet.notifyAll(lineState.take(activity))
  }

  /// The transmit registers as RFC 2217 defines them. The holding register is empty when all bytes were given to the driver, and the
  /// shift register when the driver has sent them.
  var registers: COMPortLineState {
    guard device.attached.map({ $0.transport.output.queuedCount == 0 }) ?? true else { return [] }
    return lineState.unsentCount == 0 ? [.holdingRegisterEmpty, .shiftRegisterEmpty] : .holdingRegisterEmpty
  }
}
