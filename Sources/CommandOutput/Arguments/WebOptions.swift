// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ArgumentParser

/// Where a page for browsers is served, and who may see it.
package struct WebOptions: ParsableArguments {
  @Option(
    help: .value("place", "Listen here; may be repeated; default: 127.0.0.1:8380."), transform: ListeningPlace.read)
  package var listen: [ListeningPlace] = []
  @Option(
    help: .value("net", "Let machines of this network connect; may be repeated."), transform: NetworkArgument.read)
  package var allow: [NetworkArgument] = []
  @Option(help: .value("file", "The token that browsers need is the first line of this file."), completion: .file())
  package var tokenFile: String?
  @Option(help: .value("name", "Also answer requests for this host name; may be repeated."))
  package var name: [String] = []
  @Option(help: .value("path", "The page's path at a reverse proxy, like /batteries."), transform: BasePath.read)
  package var base: BasePath?

  package init() {}

  package func validate() throws {
    for place in listen { try place.check(allow) }
    if tokenFile == "" { throw ValidationError("--token-file needs a path") }
  }

  package var places: [ListeningPlace] { listen.isEmpty ? [Self.usual] : listen }

  private static let usual = ListeningPlace(host: "127.0.0.1", port: 8_380)
}

/// The path before all pages.
package struct BasePath: FormArgument {
  package static let form = "a path of letters, digits and -._~, like /batteries,"
  /// Without a slash at its end.
  package let path: String

  package init?(argument: String) {
    guard argument.hasPrefix("/"), argument.utf8.count <= 256 else { return nil }
    var path = argument
    while path.hasSuffix("/") { path.removeLast() }
    guard path.utf8.allSatisfy({ $0.isLetterOrDigit(or: "/-._~") }), !path.contains("//") else { return nil }
    self.path = path
  }
}
