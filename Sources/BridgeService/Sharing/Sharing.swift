// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessorySharing

/// The sharing of an attachment's line. Used on the service's actor only.
final class Sharing {
  let line: SharedLine
  /// Ends the subscription to the tap.
  private let stop: @Sendable () -> Void
  /// The buffer of a client that shares an accessory through the service, in bytes: all clients together stay far below the limit of
  /// memory in the service's unit.
  static let bufferSize = 1 << 17

  /// A hub for the control socket's clients.
  struct Hub: Sendable {
    let hub: SharingHub
    let connecting: Task<Void, Never>

    /// Adds a client to the hub, and returns when the client or the device is gone.
    func serve(_ client: any Transport, name: String) async {
      await connecting.value
      await hub.serve(client, name: name)
    }
  }

  /// The hub of the clients that only read, and the hub of those that also write; nil before the first such client.
  var readers, writers: Hub?
  var readerCount = 0
  /// The hub of the clients that share frames. It lasts as long as the loan, because the service then makes contact again.
  var frames: FramesHub?
  /// What the writers share: bytes or frames. The first writer chooses it.
  var unit = Bridge.ShareUnit.bytes
  /// The names and numbers of the writers. The line is lent while there is at least one.
  private(set) var writing: [(key: Int, name: String)] = []
  private var nextKey = 0
  /// The session with the lent device, and the keys of all attachments that are lent with it; nil while the line isn't lent.
  var lent: (session: AccessorySession, keys: [Int])?
  /// Whether the line is being lent or taken back.
  var isChanging = false
  /// Called when the line was lent, with its line control if it has one, and with nil when it is taken back.
  var onLoan: (@Sendable ((any LineControl)?) async -> Void)?

  init(taps: TapHub, io: IOThread) {
    let line = SharedLine(io: io)
    self.line = line
    stop = taps.hear { line.hear($0) }
  }

  deinit { stop() }

  /// Adds a writer. Returns its number for `remove`.
  func add(_ name: String) -> Int {
    nextKey += 1
    writing.append((nextKey, name))
    return nextKey
  }

  func remove(_ key: Int) { writing.removeAll { $0.key == key } }

  /// The names of the writers as a text for people; nil when there are none.
  var holder: String? {
    guard let first = writing.first?.name else { return nil }
    return writing.count == 1 ? first : "\(first) and \(writing.count - 1) more"
  }

  /// Ends sharing by frames, because the loan is over.
  func endFrames() {
    frames?.end()
    frames = nil
  }

  /// Ends the sharing, because the device is gone or the attachment was released. To the clients this is the end of the device.
  func end(_ error: AccessoryError?) {
    (readers, writers) = (nil, nil)
    endFrames()
    let line = line
    line.io.post { line.enter { $0.endFeeds(error) } }
  }
}
