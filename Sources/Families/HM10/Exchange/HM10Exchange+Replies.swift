// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension HM10Exchange {
  /// Handles what the module says, or data from the peer of a connection.
  public mutating func receive(
    _ batch: FrameBatch<HM10PieceKind>, at index: Int, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    guard batch.outcome(at: index) == .whole else { return }  // counted by the codec
    switch batch.header(at: index) {
    case .data:
      counters.events += 1
      effects.addEvent(.data(batch.payloadBytes(at: index)))
    case .lost: lose(now: now, effects: &effects)
    case .reply:
      let bytes = batch.payloadBytes(at: index)
      if case .detecting(let id, let next, _) = phase {
        return recognize(bytes, id, next: next, now: now, effects: &effects)
      }
      // Only a scan's output can be garbled, because device names may contain any text.
      let replies = codec.isScanning ? HM10Reply.replies(inGarbled: bytes) : [HM10Reply(decoding: bytes)]
      for reply in replies { take(reply, now: now, effects: &effects) }
    }
  }

  private mutating func addEvent(_ event: HM10Event, effects: inout Effects<HM10Answer, HM10Event>) {
    counters.events += 1
    effects.addEvent(event)
  }

  /// Handles the end of the connection.
  private mutating func lose(now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>) {
    peer = nil
    for id in unsent.removeAll() {
      effects.completions.append((id, .failure(AccessoryError(.disconnected, "\(label) has lost its connection"))))
    }
    addEvent(.lost, effects: &effects)
    sendNext(now: now, effects: &effects)
  }

  // MARK: - Contact

  private mutating func recognize(
    _ bytes: [UInt8], _ id: RequestID, next: Int, now: MonotonicTime,
    effects: inout Effects<HM10Answer, HM10Event>
  ) {
    let reply = HM10Reply(decoding: bytes)
    switch reply {
    case .discovery(let discovery):
      // The module still runs a scan for an earlier program. It answers when the scan ends, and then gets the greeting
      // again.
      let isOver = discovery == .ended
      let deadline = now + (isOver ? options.gap : Self.scanPatience)
      // The module may report the end more than once, and gets the same greeting again once.
      if isOver { repeatsGreeting = true }
      phase = .detecting(id, next: next, deadline: min(deadline, contactLimit))
      return
    case .lost: endedConnection = true
    default:
      guard let dialect = HM10Dialect(answer: bytes) else { return }
      codec.dialect = dialect
    }
    codec.disconnect()
    phase = .ready
    counters.replies += 1
    nextSending = now + options.gap
    effects.completions.append((id, .success(.reply(reply))))
  }

  // MARK: - Replies

  private mutating func take(
    _ reply: HM10Reply, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    if case .connection(.made(let address)) = reply, codec.isConnected {
      return connect(address, now: now, effects: &effects)
    }
    guard let work else {
      if reply == .lost { return lose(now: now, effects: &effects) }
      counters.unexpected += 1
      return addEvent(.other(reply), effects: &effects)
    }
    switch work.stage {
    case .asked: answer(reply, to: work, now: now, effects: &effects)
    case .scanning: scan(reply, now: now, effects: &effects)
    case .connecting:
      guard case .connection(let result) = reply, result == .failed || result == .error else {
        return addEvent(.other(reply), effects: &effects)
      }
      fail(result, now: now, effects: &effects)
    }
  }

  private mutating func answer(
    _ reply: HM10Reply, to work: Work, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    if codec.dialect == .clone, case .text = reply, let text = reply.plainText, text.hasPrefix("ERROR") {
      counters.refusals += 1
      let error = AccessoryError(
        .refused, "\(label) refuses \(work.command.name): it is a clone of an HM-10, which lacks some commands")
      return finish(.failure(error), now: now, effects: &effects)
    }
    var isAnswer = work.command.isAnswered(by: reply)
    // Leftovers of an earlier scan answer no other command.
    if case .discovery = reply, !work.command.isScan { isAnswer = false }
    guard isAnswer else { return addEvent(.other(reply), effects: &effects) }
    counters.replies += 1
    if work.command.isScan, case .discovery = reply {
      self.work?.scan.take(reply)
      self.work?.stage = .scanning(limit: now + options.scanTimeout)
      self.work?.deadline = now + options.scanPause
    } else if work.command.isConnect, case .connection(let result) = reply {
      switch result {
      case .accepted, .tryingIndex, .tryingLast:
        self.work?.stage = .connecting
        self.work?.deadline = now + options.connectTimeout
      default: fail(result, now: now, effects: &effects)
      }
    } else {
      if reply == .lost || work.endsConnection {
        peer = nil
        addEvent(.lost, effects: &effects)
      }
      finish(.success(.reply(reply)), now: now, effects: &effects)
    }
  }

  private mutating func scan(
    _ reply: HM10Reply, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    if reply == .discovery(.ended), let scan = work?.scan {
      return finish(.success(.scan(scan)), now: now, effects: &effects)
    }
    // The scan began earlier, so this is the name of a device that looks like the message.
    if case .discovery(.began) = reply { return }
    work?.deadline = now + options.scanPause
    if let neighbour = work?.scan.take(reply) { addEvent(.found(neighbour), effects: &effects) }
  }

  /// Handles a new connection, which either side may have made. Waiting commands can't reach the module any more.
  private mutating func connect(
    _ address: BluetoothAddress?, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    peer = address
    if address == nil, case .connect(let wanted, _)? = work?.command { peer = wanted }
    addEvent(.connected(peer), effects: &effects)
    let refused = queue.removeAll()
    if let work, work.command.isConnect {
      finish(.success(.connected(peer)), now: now, effects: &effects)
    } else if work != nil {
      finish(.failure(isBusy), now: now, effects: &effects)
    }
    for id in refused { effects.completions.append((id, .failure(isBusy))) }
  }

  private mutating func fail(
    _ result: HM10Reply.Connection, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    counters.refusals += 1
    let error =
      switch result {
      case .noAddress: AccessoryError(.notFound, "\(label) has no earlier connection to repeat")
      case .error:
        AccessoryError(
          .refused,
          "\(label) refuses to connect (CONNE): is it a central, and did its last scan find the device?")
      default: AccessoryError(.disconnected, "\(label) failed to connect (CONNF)")
      }
    finish(.failure(error), now: now, effects: &effects)
  }
}
