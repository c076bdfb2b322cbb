// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

/// An accessory that is spoken with over one link, which says what it is called, when it goes, and how it is closed.
///
/// The least that a driver of one's own needs: `link`, and those of `identify`, `status` and `battery` that its protocol
/// has.
public protocol LinkedAccessory: Accessory {
  /// The rules of its protocol.
  associatedtype Rules: Exchange
  /// The link, for what goes beyond this driver.
  var link: Link<Rules> { get }
}

extension LinkedAccessory {
  /// The link's.
  public var label: String { link.label }

  /// Every event is something that only its driver knows.
  public func news() -> EventStream<AccessoryNews> { link.news() }

  /// Closes the link; returns when the device is free for others.
  public func close() async { await link.close() }
}

extension Link {
  /// The link's events from now on in the terms that all accessories share, as `Accessory.news` wants them: throws the
  /// link's error when the accessory goes, and ends normally when the link is closed here.
  public func news(
    _ meaning: @escaping @Sendable (Rules.Event) -> AccessoryNews = { _ in .other }
  ) -> EventStream<AccessoryNews> { events().converted(meaning) }
}
