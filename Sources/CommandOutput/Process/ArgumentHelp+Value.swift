// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

extension ArgumentHelp {
  /// Help on an option or argument whose value is called `name` in usage texts.
  package static func value(_ name: String, _ text: String) -> ArgumentHelp { ArgumentHelp(text, valueName: name) }
}
