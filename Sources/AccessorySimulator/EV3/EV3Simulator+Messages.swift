// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

// Handles messages at the configured pace, and sends the replies.

extension EV3Simulator {
  func takeAll() {
    let frames = batch
    batch.removeAll()
    for index in 0..<frames.count where frames.outcome(at: index) == .whole && socket != nil {
      // A frame that is longer than the firmware's buffer can't be a message.
      let payload = frames.payloadBytes(at: index)
      guard payload.count <= EV3Limits.messageBehindLength, let message = try? EV3Message(decoding: payload) else {
        continue
      }
      waiting.append((message, payload.count + 2))
      waitingBytes += payload.count + 2
      let pace = configuration.pace
      if waiting.count > pace.mostMessages ?? .max || waitingBytes > pace.mostBytes ?? .max {
        overruns += 1
        continuation.yield(.overrun)
        return dropLink()
      }
    }
    if configuration.pace.perMessage == .zero {
      while !waiting.isEmpty, socket != nil { takeNext() }
    } else {
      work()
    }
  }

  private func dropLink() {
    guard let transport = socket?.transport, socket?.isNetwork == true else { return unplug() }
    lose(transport)
  }

  /// Handles the waiting messages one after another, each after the configured time.
  private func work() {
    guard !isBusy, !waiting.isEmpty else { return }
    isBusy = true
    after(configuration.pace.perMessage) { simulator in
      simulator.isBusy = false
      if !simulator.waiting.isEmpty { simulator.takeNext() }
      simulator.work()
    }
  }

  private func takeNext() {
    let (message, byteCount) = waiting.removeFirst()
    waitingBytes -= byteCount
    messageCount += 1
    let replies = device.take(message, now: clock.now)
    if configuration.faults.unplug == .request(messageCount) {
      // In the middle of the reply, if there is one.
      if let bytes = try? replies.first?.encoded() { offer(Array(bytes[..<(bytes.count / 2)])) }
      return unplug()
    }
    send(replies)
    wakeUp()
  }

  func send(_ replies: [EV3Message]) {
    for reply in replies {
      guard let bytes = try? reply.encoded(), let frame = line.pass(bytes) else { continue }
      if configuration.faults.delay > .zero {
        afterThisPlug(configuration.faults.delay) { $0.offer(frame) }
      } else {
        offer(frame)
      }
    }
  }

  private func offer(_ bytes: [UInt8]) { _ = socket?.transport?.output.offer(bytes) }

  /// Schedules a timer for a command that waits for a time.
  func wakeUp() {
    guard let deadline = device.deadline, wakeTime.map({ deadline < $0 }) ?? true else { return }
    wakeTime = deadline
    _ = clock.schedule(at: deadline) { [weak self] in
      self?.post { simulator in
        if simulator.wakeTime == deadline { simulator.wakeTime = nil }
        simulator.send(simulator.device.timePassed(now: simulator.clock.now))
        simulator.wakeUp()
      }
    }
  }

  // MARK: - User actions

  /// Presses or releases a button.
  public func press(_ button: EV3Button, _ isDown: Bool = true) {
    send(device.press(button, isDown, now: clock.now))
    wakeUp()
  }

  /// Sets the values of a sensor.
  public func setSensor(_ port: EV3Port, _ values: [Float]) {
    device.configuration.sensors[port]?.values = Array(values.prefix(8))
  }

  /// Stores a file in the brick.
  public func put(_ bytes: [UInt8], at path: String) { device.files.put(bytes, at: path) }
}
