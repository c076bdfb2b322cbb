// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import ArgumentParser
import CommandOutput

/// `--generate-manual FOLDER` writes the manual's pages, for `make man`. Like `--generate-completion-script` it isn't in the
/// help.
enum ManualCommand {
  /// The folder that the command line names; nil without the option.
  static func folder(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> String? {
    arguments.count == 2 && arguments[0] == "--generate-manual" ? arguments[1] : nil
  }

  /// Writes the pages into a folder, and creates the folder if it doesn't exist.
  static func write(into folder: String) throws(AccessoryError) {
    guard let document = try? JSON(Array(BridgeFleet._dumpHelp().utf8)),
      let manual = ManualPages(document, usages: [:], date: ManualDate.text)
    else { throw AccessoryError(.ioFailure, "this bridge-fleet can't list its commands") }
    try manual.write(into: folder)
  }
}
