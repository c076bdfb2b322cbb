// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// What an autopilot has told, and when: the last message of each kind, of each battery its own.
struct AutopilotPicture: Sendable {
  /// Something that was told.
  struct Told<Content: Sendable>: Sendable {
    var content: Content
    var time: MonotonicTime
  }

  /// Batteries that are remembered; their ids come from the line.
  static let mostBatteries = 16

  private(set) var heartbeat: Told<MAVLinkHeartbeat>?
  private(set) var system: Told<MAVLinkSystemStatus>?
  private(set) var batteries: [UInt8: Told<MAVLinkBatteryStatus>] = [:]
  private(set) var infos: [UInt8: MAVLinkBatteryInfo] = [:]
  private(set) var version: MAVLinkAutopilotVersion?
  private(set) var severity: MAVLinkStatusText?
  /// The last text, as far as it has come.
  private(set) var text: [UInt8] = []
  /// The piece of it that comes next; nil when it isn't in pieces, or one was lost.
  private var nextPiece: Int?

  /// Takes what a message says in the place of what was known.
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

  /// A long text comes in pieces, all but the last of which are full.
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

  /// The same without what was told too long ago to be true still. What doesn't change is kept, and so is the last text.
  func fresh(now: MonotonicTime) -> AutopilotPicture {
    func isFresh(_ time: MonotonicTime) -> Bool { now - time <= MAVLinkAutopilot.freshness }
    var picture = self
    if let heartbeat, !isFresh(heartbeat.time) { picture.heartbeat = nil }
    if let system, !isFresh(system.time) { picture.system = nil }
    picture.batteries = batteries.filter { isFresh($0.value.time) }
    return picture
  }

  /// The battery that is the accessory's: that with the lowest id.
  var mainBattery: MAVLinkBatteryStatus? { batteries.min { $0.key < $1.key }?.value.content }

  /// The others, by their ids.
  var otherBatteries: [MAVLinkBatteryStatus] {
    batteries.sorted { $0.key < $1.key }.dropFirst().map(\.value.content)
  }
}

/// A picture that several tasks share.
final class SharedAutopilotPicture: Sendable {
  private let picture = Locked(AutopilotPicture())

  func take(_ message: MAVLinkMessage, at time: MonotonicTime) { picture.withLock { $0.take(message, at: time) } }

  /// What is known and true still.
  func fresh(now: MonotonicTime) -> AutopilotPicture { picture.withLock { $0.fresh(now: now) } }
}
