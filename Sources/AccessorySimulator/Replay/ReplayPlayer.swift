// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The accessory's side of a recorded conversation, as a value without a clock. Its owner passes in what the host does
/// and the current time, and carries out the actions that `next` returns.
///
/// Bytes of the accessory are sent when two conditions hold: the host has sent everything that it sent before them in the
/// recording, and the recorded pause since the previous step has passed. The pause is skipped when the host is ahead,
/// which means that it has already sent bytes that were recorded later. While no host is connected, bytes of the
/// accessory and all later steps wait.
struct ReplayPlayer: Sendable {
  /// An action of the accessory.
  enum Action: Sendable, Hashable {
    case send([UInt8])
    case unplug
    case plugIn
    case lose(byteCount: Int)
  }

  private let steps: [ReplayScript.TimedStep]
  private let speed: ReplaySpeed
  private(set) var host: ReplayHost
  private let accessory: ReplayAccessory
  private var position = 0
  /// The number of bytes from the host and from the accessory in the steps before `position`.
  private var (hostCount, accessoryCount) = (0, 0)
  /// A moment of the clock and the recorded time that corresponds to it; nil until the first host connects.
  private var anchor: (now: MonotonicTime, recorded: Duration)?
  /// Whether a host is connected, or has the terminal open.
  private(set) var hasHost = false
  /// The accessory isn't unplugged before this moment.
  private var unplugAfter: MonotonicTime?

  /// The pause after a host has opened the line. Many programs discard the input right after they open a serial port.
  static let openingPause = Duration.milliseconds(100)
  /// The time between the accessory's last bytes and an unplug, in which the host can read them.
  static let readingPause = Duration.milliseconds(200)

  init(
    _ script: ReplayScript, speed: ReplaySpeed = .times(1), numbering: ReplayNumbering = .none, mayGoOn: Bool = false
  ) {
    steps = script.steps
    self.speed = speed
    host = ReplayHost(script, numbering, mayGoOn: mayGoOn)
    accessory = ReplayAccessory(script, numbering)
  }

  /// Whether all steps are done.
  var isOver: Bool { position == steps.count }

  /// Reports that a host has connected. Bytes of the accessory that waited for a host are sent after `pause`.
  mutating func hostCame(at now: MonotonicTime, pause: Duration = openingPause) {
    guard !hasHost else { return }
    hasHost = true
    guard let anchor else { return self.anchor = (now + pause, .zero) }
    guard steps.indices.contains(position), case .accessory = steps[position].step else { return }
    let wait = now + pause - due(anchor)
    if wait > .zero { self.anchor = (anchor.now + wait, anchor.recorded) }
  }

  /// Reports that the host has disconnected.
  mutating func hostWent() { hasHost = false }

  /// Takes bytes that the host sent.
  mutating func take(_ bytes: [UInt8]) { host.take(bytes) }

  /// When to call `next` again; nil when the next step depends on the host.
  var deadline: MonotonicTime? {
    guard let anchor, steps.indices.contains(position) else { return nil }
    switch steps[position].step {
    case .host: return nil
    case .accessory: return hasHost ? due(anchor) : nil
    case .unplug: return hasHost ? max(due(anchor), unplugAfter ?? due(anchor)) : due(anchor)
    case .plugIn, .loss: return due(anchor)
    }
  }

  private func due(_ anchor: (now: MonotonicTime, recorded: Duration)) -> MonotonicTime {
    anchor.now + speed.pause(steps[position].time - anchor.recorded)
  }

  /// Whether the host has already sent bytes that were recorded after this step.
  private var isHostAhead: Bool { host.isChecking && host.matchedCount > hostCount }

  /// The next action that is due; nil when none is. Call this until it returns nil.
  mutating func next(at now: MonotonicTime) -> Action? {
    while steps.indices.contains(position), host.difference == nil {
      let (time, step) = (steps[position].time, steps[position].step)
      if case .host(let bytes) = step {
        guard !host.isChecking || host.matchedCount >= hostCount + bytes.count else { return nil }
        hostCount += bytes.count
        // After a gap, the replay doesn't wait for the host and keeps the recorded times.
        if host.isChecking { anchor = (now, time) }
        position += 1
        continue
      }
      guard let deadline, now >= deadline || isHostAhead else { return nil }
      anchor = (isHostAhead ? now : deadline, time)
      position += 1
      switch step {
      case .host: break
      case .accessory(let bytes):
        let start = accessoryCount
        accessoryCount += bytes.count
        unplugAfter = now + Self.readingPause
        return .send(accessory.bytes(start..<accessoryCount, host.numbers))
      case .unplug:
        host.pass(loss: false)
        hasHost = false
        return .unplug
      case .plugIn: return .plugIn
      case .loss(let count):
        host.pass(loss: true)
        return .lose(byteCount: count)
      }
    }
    return nil
  }
}

/// The bytes of the accessory, with the message numbers that the present host uses.
struct ReplayAccessory: Sendable {
  private let numbering: ReplayNumbering
  private var stream: [UInt8] = []
  private var frames: [NumberedFrame] = []

  init(_ script: ReplayScript, _ numbering: ReplayNumbering) {
    self.numbering = numbering
    var start = 0
    for timed in script.steps {
      switch timed.step {
      case .accessory(let bytes): stream += bytes
      case .unplug, .loss:
        endPart(from: start)
        start = stream.count
      case .host, .plugIn: break
      }
    }
    endPart(from: start)
  }

  private mutating func endPart(from start: Int) {
    frames += numbering.frames(Array(stream[start...])).filter(\.isReply).map { frame in
      var frame = frame
      frame.range = (frame.range.lowerBound + start)..<(frame.range.upperBound + start)
      frame.numberStart += start
      return frame
    }
  }

  /// The bytes in `range` of the stream. Each reply gets the number of the host's request.
  func bytes(_ range: Range<Int>, _ numbers: [UInt16: UInt16]) -> [UInt8] {
    var bytes = Array(stream[range])
    var index = firstFrame(endingBehind: range.lowerBound)
    while index < frames.count, frames[index].range.lowerBound < range.upperBound {
      let frame = frames[index]
      index += 1
      guard let number = numbers[frame.number], number != frame.number else { continue }
      let changed = numbering.renumbered(stream[frame.range], frame, to: number)
      let common = frame.range.clamped(to: range)
      for place in common { bytes[place - range.lowerBound] = changed[place - frame.range.lowerBound] }
    }
    return bytes
  }

  private func firstFrame(endingBehind place: Int) -> Int {
    var (low, high) = (0, frames.count)
    while low < high {
      let middle = (low + high) / 2
      if frames[middle].range.upperBound > place { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
