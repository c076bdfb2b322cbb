// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension HM10Exchange {
  /// Takes what the module says, or what the other side of a connection sends.
  public mutating func receive(
    _ batch: FrameBatch<HM10Part>, at index: Int, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    guard batch.outcome(at: index) == .whole else { return }  // counted by the codec
    switch batch.header(at: index) {
    case .data:
      counters.events += 1
      effects.tell(.data(batch.payloadBytes(at: index)))
    case .lost: lose(now: now, effects: &effects)
    case .reply:
      let bytes = batch.payloadBytes(at: index)
      if case .detecting(let id, let next, _) = phase {
        return recognize(bytes, id, next: next, now: now, effects: &effects)
      }
      // Only what a scan tells can be garbled by strangers' names.
      let replies = codec.isScanning ? HM10Reply.replies(inGarbled: bytes) : [HM10Reply(decoding: bytes)]
      for reply in replies { take(reply, now: now, effects: &effects) }
    }
  }

  private mutating func tell(_ event: HM10Event, effects: inout Effects<HM10Answer, HM10Event>) {
    counters.events += 1
    effects.tell(event)
  }

  /// The connection is no more.
  private mutating func lose(now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>) {
    peer = nil
    for id in unsent.removeAll() {
      effects.completions.append((id, .failure(AccessoryError(.disconnected, "\(label) has lost its connection"))))
    }
    tell(.lost, effects: &effects)
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
      // The module still runs a scan for an earlier program. It answers when that ends, and is then sent the greeting
      // again.
      let isOver = discovery == .ended
      let deadline = now + (isOver ? options.gap : Self.scanPatience)
      // It may say so more than once, and is sent the same greeting once.
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
      return tell(.told(reply), effects: &effects)
    }
    switch work.stage {
    case .asked: answer(reply, to: work, now: now, effects: &effects)
    case .scanning: scan(reply, now: now, effects: &effects)
    case .connecting:
      guard case .connection(let result) = reply, result == .failed || result == .error else {
        return tell(.told(reply), effects: &effects)
      }
      fail(result, now: now, effects: &effects)
    }
  }

  private mutating func answer(
    _ reply: HM10Reply, to work: Work, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    if codec.dialect == .clone, case .text = reply, let text = reply.plainText, text.hasPrefix("ERROR") {
      counters.refusals += 1
      let error = AccessoryError(.refused, "\(label) refuses \(work.command.name): a clone of an HM-10 knows less")
      return finish(.failure(error), now: now, effects: &effects)
    }
    var isAnswer = work.command.isAnswered(by: reply)
    // The rest of an earlier scan answers nothing.
    if case .discovery = reply, !work.command.isScan { isAnswer = false }
    guard isAnswer else { return tell(.told(reply), effects: &effects) }
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
        tell(.lost, effects: &effects)
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
    // A scan that began anew was a name.
    if case .discovery(.began) = reply { return }
    work?.deadline = now + options.scanPause
    if let neighbour = work?.scan.take(reply) { tell(.found(neighbour), effects: &effects) }
  }

  /// A connection was made, by either side: waiting commands can't reach the module any more.
  private mutating func connect(
    _ address: BluetoothAddress?, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    peer = address
    if address == nil, case .connect(let wanted, _)? = work?.command { peer = wanted }
    tell(.connected(peer), effects: &effects)
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
      case .noAddress: AccessoryError(.notFound, "\(label) was connected to nobody before")
      case .error:
        AccessoryError(
          .refused,
          "\(label) doesn't try to connect (CONNE): is it a central, and was the device found by its last scan?")
      default: AccessoryError(.disconnected, "\(label) tried to connect in vain (CONNF)")
      }
    finish(.failure(error), now: now, effects: &effects)
  }
}
