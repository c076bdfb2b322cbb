// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a mirror learns of one service. A view that needs more than the latest state takes these; see
/// `ServiceMirror.Hooks`.
package enum MirrorEvent: Sendable {
  /// The service answers. The connection for calls is newer than the one of the events, so it leads to the same service.
  case begun(BridgeClient)
  /// An event of the service.
  case event(BridgeEvent)
  /// What an accessory has answered after it was connected, of a mirror that asks: as far as it says more than events
  /// that came meanwhile.
  case read(Device, MirrorAnswers)
  /// The service is gone, or can't be followed. It has kind `busy` when events were lost, because a view was too slow;
  /// then the service is followed anew and reports all its accessories.
  case ended(AccessoryError)
}
