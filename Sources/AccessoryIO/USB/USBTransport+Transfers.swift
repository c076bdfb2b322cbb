// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// How bytes go through the transfers of a pair of endpoints. All of it on the I/O thread.

extension USBTransport {
  private var isOpen: Bool { if case .open = phase { true } else { false } }

  // MARK: - From the device

  /// Gives the kernel all transfers that are idle.
  func receive() {
    guard isOpen, !isPaused, inputTrouble.cure == .none, cancelling == 0 else { return }
    for transfer in receivers where !transfer.isPending {
      let result = transfer.receive(inputLength)
      guard result == 0 else { return inputFailed(result) }
      receiving += 1
    }
  }

  /// The consumer has taken what there was.
  func resume() {
    isPaused = false
    receive()
  }

  func received(_ transfer: USBTransfer, _ outcome: USBTransfer.Outcome) {
    receiving -= 1
    // What a transfer brought before it failed or was cancelled has left the device, and counts.
    if transfer.count > 0 || (outcome == .completed && input.keepsMessages) {
      isPaused = !input.append(transfer.bytes, notifying: false) || isPaused
      untold += max(1, transfer.count)
    }
    let isFull = transfer.count == transfer.length && !input.keepsMessages
    askForMore(isFull)
    arrivals = isFull && arrivals != .whole ? .full : .whole
    goOnLater()
    guard isOpen else { return }
    switch outcome {
    case .completed:
      let wasGlitch = inputTrouble.worked()
      let isPaused = isPaused
      let isStarved = receiving == 0 && receivers.count > 1 && !isPaused && inputTrouble.cure == .none
      count {
        $0.received += 1
        if wasGlitch { $0.glitches += 1 }
        if isPaused { $0.pauses += 1 }
        if isStarved { $0.starvations += 1 }
      }
      // A transfer that is not full is an answer, or the last of something: who waits for it is told before the kernel
      // gets its next one, which wakes others. But never are most of them idle.
      if isFull || receiving * 2 <= receivers.count { receive() }
    case .stalled:
      guard inputTrouble.stalled() else { return end(stalling(device.selection.input)) }
      cancel(receivers)
    case .failed: inputFailed(nil)
    case .cancelled, .gone: break
    }
    if inputTrouble.cure == .clearHalt, receiving == 0 { clearHalt(device.selection.input) }
  }

  /// Makes transfers larger while the device fills them quickly, and as usual when it doesn't.
  private func askForMore(_ isFull: Bool) {
    guard isFull else { return inputLength = usualInputLength }
    let now = io.now
    let isQuick = lastFull.map { now - $0 < USBTransportConfiguration.quickly } ?? false
    lastFull = now
    inputLength = isQuick ? receivers[0].capacity : usualInputLength
  }

  private func inputFailed(_ code: Int32?) {
    guard isOpen, !isGone(code) else { return }
    count { $0.failures += 1 }
    let isNew = inputTrouble.cure == .none
    guard let delay = inputTrouble.failed(at: io.now) else { return end(failing(code)) }
    guard isNew, inputTrouble.cure == .pause else { return }
    after(delay) {
      if $0.inputTrouble.cure == .pause { $0.inputTrouble.cured() }
      $0.receive()
    }
  }

  /// Has `goOn` called when libusb has handed over all it has: the consumer is told once.
  private func goOnLater() {
    guard !isGoingOn else { return }
    isGoingOn = true
    context.enter { $0.callBack(self) }
  }

  /// Tells the consumer what has arrived, and gives the kernel the transfers that brought it.
  ///
  /// Full transfers are a stream. Then more may be there already, and to wake the consumer takes longer than to fetch it:
  /// it is told when the loop finds no more, or when all transfers have been round once.
  func goOn() {
    isGoingOn = false
    let isStreaming = arrivals == .full && !isPaused && untold < receivers.count * (receivers.first?.capacity ?? 0)
    arrivals = .none
    if isStreaming { io.post(self) } else { tell() }
    receive()
  }

  /// The loop has looked for more: tells what waits to be told, unless more comes at once.
  func tellInTurn() {
    guard untold > 0 else { return }
    if context.enter({ $0.isPosted }) { goOnLater() } else { tell() }
  }

  private func tell() {
    guard untold > 0 else { return }
    untold = 0
    input.notify()
  }

  // MARK: - To the device

  /// Fills idle transfers with what waits and gives them to the kernel.
  func send() {
    guard isOpen, outputTrouble.cure == .none, cancelling == 0 else { return }
    while !senders.isEmpty, let transfer = senders.popLast() {
      guard let piece = nextPiece(limit: transfer.capacity) else {
        senders.append(transfer)
        return
      }
      sending.append(transfer)
      let result = writing.withUnsafeBytes { bytes in
        transfer.send(
          UnsafeRawBufferPointer(rebasing: bytes[piece.bytes]), padding: piece.padding,
          endsWithZeroPacket: piece.endsWithZeroPacket)
      }
      guard result == 0 else { return outputFailed(result) }
      sendingCount += 1
    }
  }

  private struct Piece {
    /// Where it lies in `writing`.
    var bytes: Range<Int>
    var padding = 0
    var endsWithZeroPacket = false
  }

  /// The next bytes that go into one transfer.
  private func nextPiece(limit: Int) -> Piece? {
    if writtenCount == writing.count {
      (writtenCount, nextMessage) = (0, 0)
      guard output.take(into: &writing, messages: &messages) else { return nil }
    }
    let packet = device.selection.output.maxPacketSize
    let isBulk = device.selection.output.transfer == .bulk
    var piece: Piece
    if output.keepsMessages {
      let whole = messages[nextMessage]
      let count = min(whole, limit)
      piece = Piece(bytes: writtenCount..<(writtenCount + count))
      messages[nextMessage] = whole - count
      if count == whole {
        nextMessage += 1
        if shape == .paddedMessages { piece.padding = (packet - count % packet) % packet }
        piece.endsWithZeroPacket = isBulk && (count + piece.padding) % packet == 0
      }
    } else {
      let count = min(writing.count - writtenCount, limit)
      piece = Piece(bytes: writtenCount..<(writtenCount + count))
      // The device can't see that a full packet is the last unless an empty one follows.
      piece.endsWithZeroPacket = isBulk && count % packet == 0 && writtenCount + count == writing.count
    }
    writtenCount = piece.bytes.upperBound
    return piece
  }

  func sent(_ transfer: USBTransfer, _ outcome: USBTransfer.Outcome) {
    sendingCount -= 1
    // Who waits for space is woken when the kernel has its next transfer.
    let taken = transfer.taken
    defer { output.wrote(taken) }
    let isWhole = transfer.count == transfer.length && (outcome == .completed || outcome == .cancelled)
    if isWhole {
      sending.removeAll { $0 === transfer }
      senders.append(transfer)
      let wasGlitch = outputTrouble.worked()
      count {
        $0.sent += 1
        if wasGlitch { $0.glitches += 1 }
      }
    }
    guard isOpen else { return }
    switch outcome {
    case .completed:
      if !isWhole { outputFailed(nil) }
      send()
    case .stalled:
      guard outputTrouble.stalled() else { return end(stalling(device.selection.output)) }
      cancelSending()
    case .failed: outputFailed(nil)
    case .cancelled, .gone: break
    }
    if outputTrouble.cure == .clearHalt, sendingCount == 0 { clearHalt(device.selection.output) }
  }

  /// What comes behind a transfer that was not taken waits, to stay behind it.
  private func cancelSending() { cancel(sending) }

  private func outputFailed(_ code: Int32?) {
    guard isOpen, !isGone(code) else { return }
    count { $0.failures += 1 }
    let isNew = outputTrouble.cure == .none
    guard let delay = outputTrouble.failed(at: io.now) else { return end(failing(code)) }
    cancelSending()
    guard isNew, outputTrouble.cure == .pause else { return }
    after(delay) { $0.repeatSending() }
  }

  /// Gives the kernel once more what was not taken, in order, when all of it is back.
  private func repeatSending() {
    guard isOpen, outputTrouble.cure == .pause else { return }
    // Not cured before all are back, and nothing is being cancelled in either direction: else what was written later
    // would overtake these.
    guard sendingCount == 0, cancelling == 0 else { return after(.milliseconds(5)) { $0.repeatSending() } }
    outputTrouble.cured()
    for transfer in sending {
      let result = transfer.sendRest()
      guard result == 0 else { return outputFailed(result) }
      sendingCount += 1
    }
    send()
  }

  // MARK: - Cures

  /// Ends a halt on the setup queue, since it takes a control transfer, and goes on.
  private func clearHalt(_ endpoint: USBEndpointDescription) {
    count { $0.stalls += 1 }
    setup.post { [self] in
      let result = device.clearHalt(endpoint.address)
      io.post { self.assumeIsolated { $0.cleared(endpoint, result) } }
    }
  }

  private func cleared(_ endpoint: USBEndpointDescription, _ result: Int32) {
    guard isOpen, !isGone(result) else { return }
    if endpoint.direction == .in {
      inputTrouble.cured()
      if result == 0 { receive() } else { inputFailed(result) }
    } else {
      if result == 0 {
        outputTrouble.haltCleared()
        repeatSending()
      } else {
        outputTrouble.cured()
        outputFailed(result)
      }
    }
  }

  private func after(_ delay: Duration, _ body: @escaping @Sendable (isolated USBTransport) -> Void) {
    _ = io.schedule(at: io.now + delay) { self.assumeIsolated(body) }
  }

  private func isGone(_ code: Int32?) -> Bool {
    guard code == USBTransport.noDevice else { return false }
    vanished()
    return true
  }

  private func stalling(_ endpoint: USBEndpointDescription) -> AccessoryError {
    AccessoryError(
      .refused,
      "\(label) refuses on endpoint 0x\(String(endpoint.address, radix: 16)), again and again (stall): "
        + "it may want another interface, or another protocol")
  }

  private func failing(_ code: Int32?) -> AccessoryError {
    if let code { return AccessoryError(libusb: code, "transferring to or from \(label)", label: label) }
    return AccessoryError(
      .ioFailure, "transfers to and from \(label) fail again and again: look at the cable, and at dmesg")
  }
}
