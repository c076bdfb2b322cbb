// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessorySharing
import Logging

/// The hub that shares an accessory by frames during one loan of its line.
struct FramesHub: Sendable {
  let hub: SharingHub
  /// The transport between the hub and the accessory's line.
  let feed: ShareFeed
  private let connecting: Task<Void, Never>
  private let following: Task<Void, Never>

  /// The most different messages about clients that are logged during a loan. Clients choose how many errors they cause.
  private static let messageLimit = 64

  /// A hub with these rules for the frames that pass through `feed`. `connect` attaches the feed to the line.
  init(
    _ hub: SharingHub, _ feed: ShareFeed, _ routing: FrameRouting, log: Logger, name: String,
    connect: @escaping @Sendable () async -> Void
  ) {
    (self.hub, self.feed) = (hub, feed)
    let device = SharedDevice(feed, routing: routing)
    connecting = Task {
      await hub.attach(device) { _ in }
      await connect()
    }
    let news = hub.news
    following = Task { await Self.log(news, log, name) }
  }

  private static func log(_ news: AsyncStream<SharingNews>, _ log: Logger, _ name: String) async {
    var said: Set<String> = []
    for await one in news {
      guard let text = text(one), said.count < messageLimit, said.insert(text).inserted else { continue }
      log.notice("\(name): \(SafeText.escape(text, limit: 1_000))")
    }
  }

  private static func text(_ news: SharingNews) -> String? {
    switch news {
    case .notAFrame(let name): "\(name) sent bytes that are not a frame of the accessory's protocol: they are discarded"
    case .frameRefused(let name, let reason): "a frame from \(name) was discarded: \(reason)"
    case .noContact(let reason): reason
    case .left(let name, let reason?): "\(name) is gone: \(reason)"
    case .deviceCame, .deviceWent, .joined, .left, .refused, .unheard, .skipping, .reset, .lineRefused: nil
    }
  }

  /// A closure that adds a client to the hub, and returns when the client or the device is gone.
  func server(_ name: String, allowsWrites: Bool) -> @Sendable (any Transport) async -> Void {
    let (hub, connecting) = (hub, connecting)
    return { client in
      await connecting.value
      await hub.serve(client, name: name, allowsWrites: allowsWrites)
    }
  }

  /// Ends the hub's device. Clients that are still there are disconnected.
  func end() {
    feed.end(nil)
    following.cancel()
  }
}
