// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

/// The state of an autopilot: the last message of each kind with its time, and for each battery its own messages.
struct AutopilotPicture: Sendable {
  /// A message's content, and when it arrived.
  struct Told<Content: Sendable>: Sendable {
    var content: Content
    var time: MonotonicTime
  }

  /// The most batteries that are stored, because the ids come from the accessory.
  static let mostBatteries = 16

  private(set) var heartbeat: Told<MAVLinkHeartbeat>?
  private(set) var system: Told<MAVLinkSystemStatus>?
  private(set) var batteries: [UInt8: Told<MAVLinkBatteryStatus>] = [:]
  private(set) var infos: [UInt8: MAVLinkBatteryInfo] = [:]
  private(set) var version: MAVLinkAutopilotVersion?
  private(set) var severity: MAVLinkStatusText?
  /// The last text, up to its last piece that has arrived.
  private(set) var text: [UInt8] = []
  /// The number of the text's next piece; nil when the text is complete, or when a piece was lost.
  private var nextPiece: Int?

  /// Stores the content of a message.
  mutating func take(_ message: MAVLinkMessage, at time: MonotonicTime) {
    switch message {
    case .heartbeat(let heartbeat): self.heartbeat = Told(content: heartbeat, time: time)
    case .systemStatus(let system): self.system = Told(content: system, time: time)
    case .batteryStatus(let status):
      guard batteries[status.id] != nil || batteries.count < Self.mostBatteries else { return }
      batteries[status.id] = Told(content: status, time: time)
    case .batteryInfo(let info):
      guard infos[info.id] != nil || infos.count < Self.mostBatteries else { return }
      infos[info.id] = info
    case .autopilotVersion(let version): self.version = version
    case .statusText(let piece): take(piece)
    case .command, .acknowledgement: break
    }
  }

  /// Stores a piece of a text. A long text is sent in pieces, all of which are full except the last.
  private mutating func take(_ piece: MAVLinkStatusText) {
    if piece.id != 0, piece.piece > 0, piece.id == severity?.id {
      guard let next = nextPiece, next == Int(piece.piece) else { return }
      text = Array((text + piece.bytes).prefix(ReadingLimits.textBytes))
    } else {
      text = piece.bytes
    }
    severity = piece
    nextPiece = piece.id != 0 && piece.bytes.count == MAVLinkStatusText.byteCount ? Int(piece.piece) + 1 : nil
  }

  /// The same state without expired messages. Messages that never change are kept, and so is the last text.
  func fresh(now: MonotonicTime) -> AutopilotPicture {
    func isFresh(_ time: MonotonicTime) -> Bool { now - time <= MAVLinkAutopilot.freshness }
    var picture = self
    if let heartbeat, !isFresh(heartbeat.time) { picture.heartbeat = nil }
    if let system, !isFresh(system.time) { picture.system = nil }
    picture.batteries = batteries.filter { isFresh($0.value.time) }
    return picture
  }

  /// The accessory's main battery, which is the one with the lowest id.
  var mainBattery: MAVLinkBatteryStatus? { batteries.min { $0.key < $1.key }?.value.content }

  /// The other batteries, sorted by id.
  var otherBatteries: [MAVLinkBatteryStatus] {
    batteries.sorted { $0.key < $1.key }.dropFirst().map(\.value.content)
  }
}

/// An `AutopilotPicture` behind a lock.
final class SharedAutopilotPicture: Sendable {
  private let picture = Locked(AutopilotPicture())

  /// Stores the content of a message, and returns the state then, without expired messages.
  @discardableResult
  func take(_ message: MAVLinkMessage, at time: MonotonicTime) -> AutopilotPicture {
    picture.withLock { picture in
      picture.take(message, at: time)
      return picture.fresh(now: time)
    }
  }

  /// The current state, without expired messages.
  func fresh(now: MonotonicTime) -> AutopilotPicture { picture.withLock { $0.fresh(now: now) } }
}
