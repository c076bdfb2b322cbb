// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The device's line. The clients' requests to it run one after another, in order with the bytes before and after them.
extension SharingHub {
  /// After this time a client gets a reply with the last known values, even if the device hasn't finished.
  private static let answerLimit = Duration.seconds(2)
  /// How long a request waits for earlier bytes to be sent.
  private static let drainLimit = Duration.milliseconds(1_500)
  private static let breakTime = Duration.milliseconds(250)

  /// Whether a client may change the line's settings: like writing, but without making the client the only writer.
  func mayChange(_ client: HubClient) -> Bool {
    switch writers {
    case .many: true
    case .one: writer == nil || writer == client.id
    case .none: false
    }
  }

  /// Carries out a client's request to the line. The client's next requests wait until this one has ended and `message` was answered.
  func begin(_ request: LineRequest, of client: HubClient, answering message: COMPortMessage? = nil) {
    client.isBusy = true
    client.ticket += 1
    let (id, ticket, name) = (client.id, client.ticket, client.name)
    lineUsers.insert(id)
    let timer = clock.schedule(at: clock.now + Self.answerLimit) { [weak self] in
      self?.onThread { $0.finish(id, ticket, message) }
    }
    enqueue { hub in
      if let refusal = await hub.perform(request) { hub.report(.lineRefused(name, reason: refusal)) }
      hub.clock.cancel(timer)
      hub.finish(id, ticket, message)
    }
  }

  private func finish(_ id: HubClient.ID, _ ticket: Int, _ message: COMPortMessage?) {
    guard let client = clients[id], client.ticket == ticket, client.isBusy else { return }
    // An answer that comes after the time limit is not given a second time.
    client.ticket += 1
    client.isBusy = false
    if let message { reply(answer(to: message, of: client), to: client) }
    work(client)
  }

  /// Runs `body` after all earlier work on the line.
  func enqueue(_ body: @escaping @Sendable (isolated SharingHub) async -> Void) {
    let previous = lineWork
    // With a preferred executor, continuations resume on the I/O thread. Otherwise they resume on a pool's thread, which costs one more
    // wake-up.
    lineWork = Task(executorPreference: io) {
      await previous?.value
      await body(self)
    }
  }

  /// Carries out a request, or stores it until the device is back. Returns a text with the reason when the device
  /// refuses it.
  private func perform(_ request: LineRequest, isRestoring: Bool = false) async -> String? {
    guard let transport = device, let line = transport.line else {
      memory.note(request, isRestoring: isRestoring)
      return nil
    }
    if request.isOrdered { await drained(transport) }
    do throws(AccessoryError) {
      switch request {
      case .look: await lookAtLineState(transport, line)
      case .change(let changes):
        let status = try await line.change(changes)
        // The driver may set another baud rate than the requested one. Differences in other settings are ignored, since
        // a pseudo-terminal doesn't keep all of them.
        memory.note(request, isRestoring: isRestoring)
        if changes.baudRate != nil { memory.note(baudRate: status.baudRate) }
      case .set(let raised, let lowered): try await line.set(raising: raised, lowering: lowered)
      case .setBreak(let isOn): try await line.setBreak(isOn)
      case .pulse: try await line.sendBreak(for: Self.breakTime, clock: clock)
      case .purge(let buffers): try await line.purge(buffers)
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
  func drained(_ transport: any Transport) async {
    let limit = clock.now + Self.drainLimit
    if transport.output.queuedCount > 0 {
      let waiter = DrainWaiter()
      transport.output.onEmpty { waiter.finish() }
      let timer = clock.schedule(at: limit) { waiter.finish() }
      await waiter.wait()
      clock.cancel(timer)
    }
    // The baud rate of a pseudo-terminal doesn't limit its speed, so there is nothing to wait for.
    guard hasModemLines else { return }
    let due = min(limit, lineBusyUntil)
    if due > clock.now { await clock.sleep(for: due - clock.now) }
  }

  // MARK: - Device and clients

  /// The device is open: reads the line's state, and repeats the clients' changes.
  func lineOpened(_ transport: any Transport) {
    guard let line = transport.line else { return }
    enqueue { hub in
      if hub.device === transport, let status = try? await line.status() {
        hub.hasModemLines = status.modemLines != nil
        hub.lineState = LineStateWatch()
        for request in hub.memory.opened(status) + hub.settingsMadeBefore() { _ = await hub.perform(request) }
      }
      guard hub.device === transport else { return }
      hub.isDeviceReady = true
      hub.deviceHasSpace(transport)
      hub.terminalsFollow()
      hub.watchOpenTerminals()
      hub.notifyAll()
      hub.watchLines()
    }
  }

  func lineClosed() {
    memory.closed()
    forgetResets()
    notifyAll()
  }

  /// A client has left, or no longer uses the line. After the last one the line's original state is restored.
  func lineLeft(by id: HubClient.ID) {
    resetLeft(by: id)
    guard lineUsers.remove(id) != nil, lineUsers.isEmpty else { return }
    enqueue { hub in
      guard hub.lineUsers.isEmpty else { return }
      for request in hub.memory.restoring() { _ = await hub.perform(request, isRestoring: true) }
      hub.forgetResets()
      hub.terminalsFollow()
    }
  }
}

/// Resumes one task, once; the first call counts.
private final class DrainWaiter: Sendable {
  private let state = Locked<(isDone: Bool, continuation: CheckedContinuation<Void, Never>?)>((false, nil))

  func finish() {
    let continuation = state.withLock { state in
      defer { state = (true, nil) }
      return state.continuation
    }
    continuation?.resume()
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if !state.isDone { state.continuation = continuation }
        return state.isDone
      }
      if isDone { continuation.resume() }
    }
  }
}
