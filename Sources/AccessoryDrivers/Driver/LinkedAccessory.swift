// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

/// An accessory with one link, which supplies its label and its news, and closes it.
///
/// This is the smallest basis for a driver of your own: implement `link`, and those of `identify`, `status` and
/// `battery` that the protocol has.
public protocol LinkedAccessory: Accessory {
  /// The protocol's rules for requests and replies.
  associatedtype Rules: Exchange
  /// The link, for requests and events that this driver has no function for.
  var link: Link<Rules> { get }
}

extension LinkedAccessory {
  /// The link's label.
  public var label: String { link.label }

  /// The link's events, all as `other`.
  public func news() -> EventStream<AccessoryNews> { link.news() }

  /// Closes the link. Returns when the device is free for others.
  public func close() async { await link.close() }
}

extension Link {
  /// The link's events from now on, converted by `meaning`. The stream throws the link's error when the accessory goes,
  /// and ends normally when the link is closed.
  public func news(
    _ meaning: @escaping @Sendable (Rules.Event) -> AccessoryNews = { _ in .other }
  ) -> EventStream<AccessoryNews> { events().converted(meaning) }
}
