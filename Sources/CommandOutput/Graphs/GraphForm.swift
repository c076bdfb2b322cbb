// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// The characters of a graph.
package enum GraphForm: Sendable, Hashable {
  /// Braille patterns, of eight dots a cell, and block elements.
  case unicode
  /// For a terminal whose locale isn't UTF-8.
  case ascii

  /// The form for this process's locale, which is the first of LC_ALL, LC_CTYPE and LANG that is set. `variable` returns the value of
  /// an environment variable.
  package static func ofLocale(_ variable: (String) -> String? = { UserDirectory.variable($0) }) -> GraphForm {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable).first?.lowercased() ?? ""
    return locale.hasSuffix("utf-8") || locale.hasSuffix("utf8") || locale.contains("utf-8@")
      || locale.contains("utf8@")
      ? .unicode : .ascii
  }
}
