// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import ArgumentParser
import CommandOutput
import Glibc
import SystemPackage

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
    if mkdir(folder, 0o755) != 0, errno != EEXIST {
      throw AccessoryError(errno: Errno(rawValue: errno), "making \(folder)")
    }
    for page in manual.pages { try write(page.text, to: folder + "/" + page.file) }
  }

  private static func write(_ text: String, to path: String) throws(AccessoryError) {
    guard let file = fopen(path, "we") else { throw AccessoryError(errno: Errno(rawValue: errno), "making \(path)") }
    let isWritten = fputs(text, file) >= 0
    let isClosed = fclose(file) == 0
    guard isWritten, isClosed else { throw AccessoryError(errno: Errno(rawValue: errno), "writing \(path)") }
  }
}
