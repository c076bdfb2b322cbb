// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The device's line, on behalf of clients: what they ask is done one after another, in order with the bytes around it.
extension SharingHub {
  /// After this time a client is answered with what is known, whatever the device is doing.
  private static let answerLimit = Duration.seconds(2)
  /// How long bytes that were sent before are waited for.
  private static let drainLimit = Duration.milliseconds(1_500)
  private static let breakTime = Duration.milliseconds(250)
  /// How often modem lines are looked at while somebody wants to know of them.
  private static let watchInterval = Duration.milliseconds(50)

  /// Whether a client may change the line's settings: as it may write, but this doesn't make it the writer.
  func mayChange(_ sharer: Sharer) -> Bool {
    switch rules.writers {
    case .many: true
    case .one: writer == nil || writer == sharer.id
    case .none: false
    }
  }

  /// Does what a client asks, and goes on with what it says behind that; `message` is answered.
  func begin(_ request: LineRequest, of sharer: Sharer, answering message: COMPortMessage? = nil) {
    sharer.isBusy = true
    sharer.ticket += 1
    let (id, ticket, name) = (sharer.id, sharer.ticket, sharer.name)
    lineUsers.insert(id)
    let timer = clock.schedule(at: clock.now + Self.answerLimit) { [weak self] in
      self?.onThread { $0.finish(id, ticket, message) }
    }
    enqueue { hub in
      if let refusal = await hub.perform(request) { hub.tell(.lineRefused(name, reason: refusal)) }
      hub.clock.cancel(timer)
      hub.finish(id, ticket, message)
    }
  }

  private func finish(_ id: Sharer.ID, _ ticket: Int, _ message: COMPortMessage?) {
    guard let sharer = sharers[id], sharer.ticket == ticket, sharer.isBusy else { return }
    sharer.isBusy = false
    if let message { reply(memory.answer(to: message), to: sharer) }
    work(sharer)
  }

  /// Runs `body` behind what was asked of the line before.
  private func enqueue(_ body: @escaping @Sendable (isolated SharingHub) async -> Void) {
    let previous = lineWork
    lineWork = Task {
      await previous?.value
      await body(self)
    }
  }

  /// Does a request, or remembers it for when the device is back. Returns why not, where it can't be done.
  private func perform(_ request: LineRequest, isRestoring: Bool = false) async -> String? {
    guard let transport = device, let line = transport.line else {
      memory.note(request, isRestoring: isRestoring)
      return nil
    }
    if request.isOrdered { await drained(transport) }
    do throws(AccessoryError) {
      switch request {
      case .change(let changes):
        let status = try await line.change(changes)
        // The speed may be another one than was asked for. A pseudo-terminal keeps less than it takes, and means no harm.
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
      // A device without modem lines, as a pseudo-terminal: nobody is kept from opening it by that.
      case (.unsupported, .set), (.disconnected, _), (.cancelled, _): memory.note(request, isRestoring: isRestoring)
      case (.unsupported, .pulse), (.unsupported, .setBreak), (.unsupported, .purge): break
      default: return error.message
      }
      return nil
    }
  }

  /// Returns when the device has sent what it was given, or probably has, or after a while.
  private func drained(_ transport: any Transport) async {
    let limit = clock.now + Self.drainLimit
    if transport.output.queuedCount > 0 {
      let waiter = DrainWaiter()
      transport.output.onEmpty { waiter.finish() }
      let timer = clock.schedule(at: limit) { waiter.finish() }
      await waiter.wait()
      clock.cancel(timer)
    }
    let due = min(limit, lineBusyUntil)
    if due > clock.now { await clock.sleep(for: due - clock.now) }
  }

  // MARK: - With the device and the clients

  /// The device is open: looks how its line is, and makes what clients have changed again.
  func lineOpened(_ transport: any Transport) {
    guard let line = transport.line else { return }
    enqueue { hub in
      if hub.device === transport, let status = try? await line.status() {
        hub.hasModemLines = status.modemLines != nil
        for request in hub.memory.opened(status) { _ = await hub.perform(request) }
      }
      guard hub.device === transport else { return }
      hub.isDeviceReady = true
      hub.deviceHasSpace(transport)
      hub.terminalsFollow()
      hub.notifyAll()
      hub.watchLines()
    }
  }

  func lineClosed() {
    memory.closed()
    notifyAll()
  }

  /// A client has left, or wants nothing of the line any more. With the last one all is put back.
  func lineLeft(by id: Sharer.ID) {
    guard lineUsers.remove(id) != nil, lineUsers.isEmpty else { return }
    enqueue { hub in
      guard hub.lineUsers.isEmpty else { return }
      for request in hub.memory.restoring() { _ = await hub.perform(request, isRestoring: true) }
      hub.terminalsFollow()
    }
  }

  // MARK: - Modem lines

  /// Looks at the modem lines for as long as a client wants to know of them.
  func watchLines() {
    guard lineTimer == nil, hasModemLines, device?.line != nil,
      sharers.values.contains(where: { $0.telnet?.watchesModemLines == true })
    else { return }
    lineTimer = clock.schedule(at: clock.now + Self.watchInterval) { [weak self] in self?.onThread { $0.lookAtLines() }
    }
  }

  private func lookAtLines() {
    guard let transport = device, let line = transport.line else { return lineTimer = nil }
    Task {
      let lines = try? await line.modemLines()
      lineTimer = nil
      guard device === transport else { return watchLines() }
      if let lines {
        memory.note(lines)
        notifyAll()
      } else {
        hasModemLines = false
      }
      watchLines()
    }
  }
}

/// Resumes one task, once; what comes first counts.
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
