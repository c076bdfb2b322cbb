// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySharing
import CommandOutput

/// Prints what happens at a bridge. For people, addresses to connect to go to standard output and the rest to standard
/// error; with `--json` everything goes to standard output. Unread events don't stop the bridge: some are kept, and
/// others dropped.
final class BridgeView: Sendable {
  private let json: Bool
  private let hasStreams: Bool
  private let lastTrouble = Locked<String?>(nil)
  /// The name of the accessory that was opened last, and what must be done before clients may write to it.
  private let arrived = Locked<(name: String, advice: String?)?>(nil)
  /// The accessory that was opened last.
  private let device = Locked<DeviceDocument?>(nil)

  init(json: Bool, hasStreams: Bool) { (self.json, self.hasStreams) = (json, hasStreams) }

  /// Prints the endpoint at which other programs can use the accessory.
  func listening(_ endpoint: String, node: String? = nil) {
    if json { return ServiceLog.tell(document("listening", endpoint: endpoint, path: node)) }
    let text = SafeText.escape(endpoint) + (node.map { " leads to \($0)" } ?? " is open")
    hasStreams ? Output.note(text) : Output.line(text)
  }

  /// Stores the accessory that was opened. `show` prints it when the hub reports `deviceCame`.
  func opened(_ name: String, _ device: DeviceDocument, advice: String?) {
    lastTrouble.withLock { $0 = nil }
    self.device.withLock { $0 = device }
    arrived.withLock { $0 = (name, advice) }
  }

  /// Prints why the accessory can't be opened, and that the bridge waits. An error that repeats is printed once.
  func waiting(_ error: any Error) {
    let message = "\(error)"
    let isNew = lastTrouble.withLock { last in
      defer { last = message }
      return last != message
    }
    if isNew { note("waiting", "\(message); waiting for it", reason: message) }
  }

  func trouble(_ error: AccessoryError) { note("trouble", error.message, reason: error.message) }

  func show(_ news: SharingNews) {
    switch news {
    // From now on, the accessory receives the clients' bytes.
    case .deviceCame:
      guard let (name, advice) = arrived.withLock({ $0 }) else { return }
      note("opened", advice == nil ? "\(name) is open" : "\(name) is open for reading")
      guard let advice else { return }
      let reason = "raw bytes may change something in it, so what clients send is discarded"
      note(
        "read_only",
        "\(reason). To let clients write, \(advice). If they should only read, --writers none hides this note",
        reason: "\(reason); to let clients write, \(advice)")
    case .deviceWent(let reason): note("closed", "the accessory is gone: \(reason)", reason: reason)
    case .joined(let name): note("joined", "\(name) is connected", client: name)
    case .left(let name, let reason):
      note("left", "\(name) is gone" + (reason.map { ": \($0)" } ?? ""), client: name, reason: reason)
    case .refused(let name, let reason):
      note("refused", "\(name) was refused: \(reason)", client: name, reason: reason)
    case .unheard(let name):
      note("unheard", "\(name) may not write: what it sends is discarded", client: name)
    case .skipping(let name):
      note("skipping", "\(name) reads too slowly, and misses some bytes from the accessory", client: name)
    case .notAFrame(let name):
      note(
        "not_a_frame", "\(name) sent bytes that are not a frame of the accessory's protocol: they are discarded",
        client: name)
    case .frameRefused(let name, let reason):
      note("frame_refused", "a frame from \(name) was discarded: \(reason)", client: name, reason: reason)
    case .noContact(let reason): note("no_contact", reason, reason: reason)
    case .reset(let name, let sequence):
      note("reset", "\(name) started a reset: the line runs \(sequence)", client: name, reason: sequence)
    case .lineRefused(let name, let reason):
      note("line_refused", "the line can't do what \(name) asked for: \(reason)", client: name, reason: reason)
    }
  }

  private func note(
    _ event: String, _ text: String, client: String? = nil, reason: String? = nil
  ) {
    if json { return ServiceLog.tell(document(event, client: client, reason: reason)) }
    Output.note(SafeText.escape(text, limit: 1_000))
  }

  private func document(
    _ event: String, endpoint: String? = nil, path: String? = nil, client: String? = nil, reason: String? = nil
  ) -> BridgeDocument {
    BridgeDocument(
      event: event, device: device.withLock { $0 }, endpoint: endpoint, path: path,
      client: client, reason: reason)
  }
}
