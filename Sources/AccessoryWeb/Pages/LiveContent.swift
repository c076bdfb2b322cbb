// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The parts of a page that change, each an element with an identity of its own. They are in the page when it is loaded, and are
/// sent again when they change.
struct LiveContent: Sendable {
  /// An element of the page.
  struct Part: Sendable {
    var id: String
    /// The whole element.
    var html: String
  }

  var title: String
  var parts: [Part] = []
  /// The identities of the elements of the list, in order; nil for a page without a list.
  var order: [String]?
  /// The ages that the page shows: it changes when their texts do.
  var ages: [Duration] = []
}
