// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO
import CommandOutput

extension WebSite {
  /// Serves the site as a command, until it is interrupted. `title` and `version` appear on the pages; `feed` is called whenever
  /// somebody starts to look. Throws `misconfigured` if other machines could connect, or commands are allowed, without a token, and
  /// the errors of reading the token's file and of listening.
  package static func serve(
    _ options: WebOptions, _ view: ExportView, title: String, version: String, allowsCommands: Bool = false,
    feed: @escaping @Sendable () async throws(AccessoryError) -> any WebFeed
  ) async throws {
    var settings = Settings(title: title, version: version)
    settings.hosts = HostNames(options.name + options.listen.map(\.host))
    settings.base = options.base?.path ?? ""
    settings.token = try await token(options)
    settings.allowsCommands = allowsCommands
    if allowsCommands, settings.token == nil {
      throw AccessoryError(
        .misconfigured,
        "commands are for people with the token: name a file with one, like --token-file ./token (openssl rand -hex 24 makes one)"
      )
    }
    settings.note = { view.refused(because: $0) }
    settings.performed = { view.performed(by: $0, $1) }
    let site = WebSite(settings, feed: feed)
    let server = site.server()
    for place in options.places {
      place.note(options.allow)
      let open = try await server.listen(
        at: place.host, port: place.port, networks: options.allow.map(\.network), onRefused: { view.refused($0) })
      view.listening("http://\(open.network)\(settings.base)/")
    }
    await OneShot<Void>().value(whenCancelled: ())
    await server.close()
    await site.close()
    throw CancellationError()
  }

  private static func token(_ options: WebOptions) async throws(AccessoryError) -> WebToken? {
    if let path = options.tokenFile ?? WebToken.credentialPath() {
      return try await SetupQueue(label: "token").run { () throws(AccessoryError) in try WebToken.read(path) }
    }
    guard let open = options.listen.first(where: { !$0.isLoopback }) else { return nil }
    throw AccessoryError(
      .misconfigured,
      "other machines can connect to \(open.text): name a file with a token, like --token-file ./token (openssl rand -hex 24 "
        + "makes one)")
  }
}
