// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An event of one service. A view that needs more than the latest state uses these; see `ServiceMirror.Hooks`.
package enum MirrorEvent: Sendable {
  /// The service answers. The connection for calls is newer than the one of the events, so it leads to the same service.
  case begun(BridgeClient)
  /// An event of the service.
  case event(BridgeEvent)
  /// The replies of an accessory that was connected, from a mirror that makes requests. Contains only what is newer
  /// than events.
  case read(Device, MirrorAnswers)
  /// The service is gone, or can't be followed. It has kind `busy` when events were lost, because a view was too slow;
  /// the mirror then follows the service again, which reports all its accessories.
  case ended(AccessoryError)
}
