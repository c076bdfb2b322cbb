// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryProtocols

extension ReplaySimulator {
  /// How a host reaches the accessory.
  public typealias Connection = SimulatorConnection

  /// What to replay, and how.
  public struct Configuration: Sendable {
    /// How a host reaches the accessory. The default is `pseudoTerminal`.
    public var connection = Connection.pseudoTerminal
    /// The recorded conversation.
    public var script: ReplayScript
    /// The speed. The default is the recorded speed.
    public var speed = ReplaySpeed.times(1)
    /// The message numbers that may differ from the recorded ones. The default is none.
    public var numbering = ReplayNumbering.none
    /// Whether the host may send more bytes after the end of the recording. The default is `false`.
    public var hostMayGoOn = false
    /// How long to wait for the next bytes of the host before the replay fails with `silence`; nil waits without limit.
    public var patience: Duration?
    /// The path of a symbolic link to the pseudo-terminal; nil for no link.
    public var link: String?
    /// The announcement, in which the path is filled in later; nil doesn't announce the accessory.
    public var announcement: Announcement?
    /// The directory for the announcement; nil for the user's default directory, which discovery reads.
    public var announcementDirectory: String?

    /// Replays this script on a pseudo-terminal that isn't announced.
    public init(_ script: ReplayScript) { self.script = script }

    var hints: DiscoveryHints {
      DiscoveryHints(link: link, announcement: announcement, directory: announcementDirectory)
    }
  }

  /// An event of a replay.
  public enum Event: SimulatorEvent {
    /// The accessory was plugged in; hosts can open it at this path.
    case pluggedIn(path: String)
    /// The accessory was unplugged, as in the recording.
    case unplugged
    /// The recording lacks this many bytes here. From now on, the bytes of the host aren't compared.
    case lost(byteCount: Int)
    /// The host didn't send the recorded bytes. The replay has ended.
    case differed(ReplayDifference)
    /// The replay reached the end of the recording, and the host sent the recorded bytes.
    case finished
    /// The accessory couldn't be plugged in again, or its transport failed. The replay has ended.
    case failed(AccessoryError)
  }

  /// The progress of a replay.
  public struct Progress: Sendable, Hashable {
    /// The number of bytes that the host has sent as recorded, and the number in the whole recording.
    public var (hostBytes, hostTotal) = (0, 0)
    /// The bytes that the host is expected to send next, up to the end of the record; empty when none are expected.
    public var awaited: [UInt8] = []
    /// The recorded time of these bytes; nil when none are expected.
    public var awaitedTime: Duration?
  }
}
