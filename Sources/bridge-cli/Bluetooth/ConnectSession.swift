// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import CommandOutput
import Console

/// A connection through a module: standard input is sent to the other device, and what the device sends is written to
/// standard output.
final class ConnectSession: Sendable {
  let central: any RadioCentral
  let module: DeviceDocument
  let address: BluetoothAddress
  let input: ConnectInput
  let json: Bool
  /// Whether received bytes are escaped, so that a terminal doesn't act on them.
  let isEscaped: Bool

  /// Why the session ends on this side: the end of the input, or the escape key.
  private enum End: Sendable {
    case input, escape
  }

  private static let escape: UInt8 = 0x1D

  /// Connects, and passes bytes on until the input ends or the connection is lost for good.
  func run(
    _ events: AsyncStream<RadioCentralEvent>, isDual: Bool, linger: Duration
  ) async throws(RadioCentralError) {
    let (ends, continuation) = AsyncStream<End>.makeStream()
    let receiving = Task { await receive(events) }
    defer { receiving.cancel() }
    do {
      try await central.connect(to: address, isDual: isDual)
    } catch {
      // The receiving task finishes first, so that events that have come until now are printed before the error.
      receiving.cancel()
      _ = await receiving.value
      throw error
    }
    let sending = Task { await send(continuation) }
    defer { sending.cancel() }
    let outcome: RadioCentralError? = await withTaskGroup(of: RadioCentralError?.self) { group in
      group.addTask { [self] in
        // Ends when the connection is lost for good, or when the task group is cancelled.
        await receiving.value ? .failed(AccessoryError(.disconnected, "the connection to \(address) was lost")) : nil
      }
      group.addTask { [self] in
        for await end in ends {
          if end == .input { await quiet(linger) }
          return nil
        }
        return nil
      }
      let first = await group.next() ?? nil
      receiving.cancel()
      group.cancelAll()
      continuation.finish()
      return first
    }
    // Use a separate task, because a cancelled task can't send.
    if outcome == nil { await Task { [self] in try? await central.disconnect(from: address) }.value }
    if let outcome { throw outcome }
  }

  private func send(_ ends: AsyncStream<End>.Continuation) async {
    while let bytes = await input.next() {
      if Task.isCancelled { return }
      let escape = input.isTerminal ? bytes.firstIndex(of: Self.escape) : nil
      let rest = Array(bytes[..<(escape ?? bytes.count)])
      do throws(RadioCentralError) {
        if !rest.isEmpty { try await central.send(rest, to: address) }
      } catch {
        note(
          "not_sent", "\(Amount.of(rest.count, "byte", is: ("was", "were"))) not sent: \(error.accessoryError.message)")
      }
      if escape != nil {
        ends.yield(.escape)
        return
      }
    }
    ends.yield(.input)
  }

  /// Waits until nothing has been received for `time`.
  private func quiet(_ time: Duration) async {
    let clock = IOThread.shared
    while !Task.isCancelled {
      let last = lastArrival.withLock { $0 }
      let left = last + time - clock.now
      if left <= .zero { return }
      await clock.sleep(for: left)
    }
  }

  /// Whether the text printed last didn't end with a newline.
  private let isAmidLine = Locked(false)
  /// When bytes were received last.
  private let lastArrival = Locked(IOThread.shared.now)
  /// The decoder of received text, and the number of pieces received.
  private let received = Locked((text: ReceivedText(), count: 0))
  /// How long an incomplete UTF-8 character waits for its remaining bytes.
  private static let characterTimeout = Duration.milliseconds(50)

  init(
    central: any RadioCentral, module: DeviceDocument, address: BluetoothAddress, input: ConnectInput, json: Bool,
    isEscaped: Bool
  ) {
    self.isEscaped = isEscaped
    self.module = module
    self.central = central
    self.address = address
    self.input = input
    self.json = json
  }

  /// Shows the events. Returns true when the connection is given up, and false when the task is cancelled.
  private func receive(_ events: AsyncStream<RadioCentralEvent>) async -> Bool {
    for await event in events {
      switch event {
      case .received(let bytes, _):
        lastArrival.withLock { $0 = IOThread.shared.now }
        if json {
          Output.json(
            ConnectionDocument(
              event: "received", device: module, address: address.description, hex: Hexadecimal.string(bytes)))
        } else if isEscaped {
          showEscaped(bytes)
        } else {
          Output.bytes(bytes)
          isAmidLine.withLock { $0 = bytes.last != UInt8(ascii: "\n") }
        }
      case .connected(_, let isAgain):
        // The quiet period starts at the connection, not at bytes received before.
        lastArrival.withLock { $0 = IOThread.shared.now }
        let leave = input.isTerminal && !isAgain ? "; Ctrl-] ends it" : ""
        note(isAgain ? "connected_again" : "connected", "connected\(isAgain ? " again" : "") to \(address)\(leave)")
      case .attemptFailed(_, let error, let left):
        let next =
          left == 0 ? "" : left > 1_000_000 ? ", trying again" : ", \(left) more \(left == 1 ? "try" : "tries")"
        note("attempt_failed", error.message + next)
      case .lost: note("lost", "the connection was lost")
      case .gaveUp:
        note("gave_up", "gave up: the connection can't be restored")
        return true
      default: break
      }
    }
    return false
  }

  /// Prints bytes as text, with everything escaped that a terminal would act on.
  private func showEscaped(_ bytes: [UInt8]) {
    let (pieces, pending) = received.withLock { received in
      received.count += 1
      return (received.text.take(bytes), received.text.isPending ? received.count : nil)
    }
    show(pieces)
    guard let pending else { return }
    let clock = IOThread.shared
    _ = clock.schedule(at: clock.now + Self.characterTimeout) { [weak self] in
      self?.flush(ifCount: { $0 == pending })
    }
  }

  /// Prints the bytes of an incomplete character that are still held back.
  private func flush(ifCount isRight: (Int) -> Bool = { _ in true }) {
    show(received.withLock { isRight($0.count) ? $0.text.flush() : [] })
  }

  private func show(_ pieces: [ReceivedText.Piece]) {
    for piece in pieces {
      switch piece {
      case .text(let text): Output.text(text)
      case .newline: Output.text("\n")
      }
      isAmidLine.withLock { $0 = piece != .newline }
    }
  }

  /// Ends an unfinished line on a terminal, so that the next output doesn't follow what the other device sent.
  func endLine() {
    flush()
    let isAmid = isAmidLine.withLock { isAmid in
      defer { isAmid = false }
      return isAmid
    }
    if isAmid, Style.standardOutput.isTerminal { Output.text("\n") }
  }

  private func note(_ event: String, _ text: String) {
    if json {
      Output.json(ConnectionDocument(event: event, device: module, address: address.description, message: text))
    } else {
      endLine()
      Output.note(SafeText.escape(text, limit: 400))
    }
  }
}

struct ConnectionDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.connectionEvent
  let event: String
  let time = WallClock.seconds
  /// The module, not the device that it is connected to.
  let device: DeviceDocument
  let address: String
  var message: String?
  var hex: String?
}
