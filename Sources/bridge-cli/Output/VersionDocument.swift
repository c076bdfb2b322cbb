// SPDX-License-Identifier: Apache-2.0

import CommandOutput

/// The command's version in JSON, for `--version --json`.
struct VersionDocument: Encodable {
  let document = DocumentKind.version
  let schema = DocumentSchema.name
  let program = BridgeCLI.name
  let version = BridgeCLI.version

  /// Whether the command line asks for it.
  static func isWanted(_ words: [String] = OldSpellings.words) -> Bool {
    words == ["--version", "--json"] || words == ["--json", "--version"]
  }
}
