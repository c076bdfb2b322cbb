// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The parts of a page that change, each an element with its own id. They are in the page when it is loaded, and are sent again when
/// they change.
struct LiveContent: Sendable {
  /// An element of the page.
  struct Part: Sendable {
    var id: String
    /// The HTML of the whole element.
    var html: String
  }

  var title: String
  var parts: [Part] = []
  /// The ids of the list's elements, in order; nil for a page without a list.
  var order: [String]?
  /// The ages of the readings on the page, which is sent again when their texts change.
  var ages: [Duration] = []
}
