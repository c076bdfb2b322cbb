// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import FamilyEV3

// Handles messages at the configured pace, and sends the replies.

extension EV3Simulator {
  func takeAll() {
    let frames = batch
    batch.removeAll()
    for index in 0..<frames.count where frames.outcome(at: index) == .whole && host.plug != nil {
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
        host.continuation.yield(.overrun)
        return loseHost()
      }
    }
    if configuration.pace.perMessage == .zero {
      while !waiting.isEmpty, host.plug != nil { takeNext() }
    } else {
      work()
    }
  }

  /// Handles the waiting messages one after another, each after the configured time.
  private func work() {
    guard !isBusy, !waiting.isEmpty else { return }
    isBusy = true
    after(configuration.pace.perMessage) { simulator in
      simulator.isBusy = false
      if !simulator.waiting.isEmpty { simulator.answering { simulator.takeNext() } }
      simulator.work()
    }
  }

  private func takeNext() {
    let (message, byteCount) = waiting.removeFirst()
    waitingBytes -= byteCount
    messageCount += 1
    let replies = device.take(message, now: clock.now)
    if host.faults.unplug == .request(messageCount) {
      return pullPlug(amid: try? replies.first?.encoded())
    }
    send(replies)
    wakeUp()
  }

  func send(_ replies: [EV3Message]) {
    for reply in replies { if let bytes = try? reply.encoded() { send(bytes) } }
  }

  /// Schedules a timer for a command that waits for a time.
  func wakeUp() {
    guard let deadline = device.deadline, wakeTime.map({ deadline < $0 }) ?? true else { return }
    wakeTime = deadline
    at(deadline, on: clock) { simulator in
      if simulator.wakeTime == deadline { simulator.wakeTime = nil }
      simulator.send(simulator.device.timePassed(now: simulator.clock.now))
      simulator.wakeUp()
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
