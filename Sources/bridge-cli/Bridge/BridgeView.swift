// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessorySharing
import CommandOutput

/// Says what happens at a bridge: where it listens on standard output, all else on standard error; as JSON, all on standard
/// output.
final class BridgeView: Sendable {
  private let json: Bool
  private let hasStreams: Bool
  private let lastTrouble = Locked<String?>(nil)
  /// The accessory that was open last.
  private let device = Locked<DeviceDocument?>(nil)

  init(json: Bool, hasStreams: Bool) { (self.json, self.hasStreams) = (json, hasStreams) }

  /// Others find the accessory there.
  func listening(_ endpoint: String, node: String? = nil) {
    if json { return Output.json(document("listening", endpoint: endpoint, path: node)) }
    let text = SafeText.escape(endpoint) + (node.map { " leads to \($0)" } ?? " is open")
    hasStreams ? Output.note(text) : Output.line(text)
  }

  func opened(_ name: String, _ device: DeviceDocument) {
    lastTrouble.withLock { $0 = nil }
    self.device.withLock { $0 = device }
    note("opened", "\(name) is open")
  }

  /// The accessory can't be opened now, and is waited for.
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
    case .deviceCame: break
    case .deviceWent(let reason): note("closed", "the accessory is gone: \(reason)", reason: reason)
    case .joined(let name): note("joined", "\(name) is connected", client: name)
    case .left(let name, let reason):
      note("left", "\(name) is gone" + (reason.map { ": \($0)" } ?? ""), client: name, reason: reason)
    case .refused(let name, let reason):
      note("refused", "\(name) was turned away: \(reason)", client: name, reason: reason)
    case .unheard(let name):
      note("unheard", "\(name) may not write: what it sends is thrown away", client: name)
    case .skipping(let name):
      note("skipping", "\(name) is too slow, and misses some of what the accessory sends", client: name)
    case .lineRefused(let name, let reason):
      note("line_refused", "\(name) asked for what the line can't do: \(reason)", client: name, reason: reason)
    }
  }

  private func note(
    _ event: String, _ text: String, client: String? = nil, reason: String? = nil
  ) {
    if json { return Output.json(document(event, client: client, reason: reason)) }
    Output.note(SafeText.escape(text, limit: 1_000))
  }

  private func document(
    _ event: String, endpoint: String? = nil, path: String? = nil, client: String? = nil, reason: String? = nil
  ) -> BridgeDocument {
    BridgeDocument(
      event: event, device: OrNull(device.withLock { $0 }), endpoint: OrNull(endpoint), path: OrNull(path),
      client: OrNull(client), reason: OrNull(reason))
  }
}

/// Something that happened at a bridge.
struct BridgeDocument: Encodable {
  let schema = DocumentSchema.name
  let event: String
  let time = WallClock.seconds
  /// The accessory; null until it was opened.
  let device: OrNull<DeviceDocument>
  let endpoint, path, client, reason: OrNull<String>
}
