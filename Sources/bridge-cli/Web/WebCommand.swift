// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryExport
import AccessoryIO
import AccessoryWeb
import ArgumentParser
import CommandOutput

struct WebCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "web",
    abstract: "Serves a page that shows all accessories in a browser, and follows them.",
    discussion: """
      The page only shows. The readings come from the service (bridge-cli serve), while somebody looks. PLACE is HOST:PORT, or a port \
      alone, which listens on 127.0.0.1. Where other machines can connect, the page needs a token: a browser asks for it as the \
      password, with any user name. The connection isn't encrypted; a reverse proxy can do that.

      EXAMPLES
        bridge-cli web
        bridge-cli web --listen 0.0.0.0:8380 --allow 192.168.1.0/24 --name gateway.local --token-file ./token
        bridge-cli web --name house.example --base /batteries
      """)

  @Option(
    help: .value("place", "Listen here; may be repeated; default: 127.0.0.1:8380."), transform: ListeningPlace.read)
  var listen: [ListeningPlace] = []
  @Option(
    help: .value("net", "Let machines of this network connect; may be repeated."), transform: NetworkArgument.read)
  var allow: [NetworkArgument] = []
  @Option(help: .value("file", "The token that browsers need is the first line of this file."), completion: .file())
  var tokenFile: String?
  @Option(help: .value("name", "Also answer requests for this host name; may be repeated.")) var name: [String] = []
  @Option(help: .value("path", "The page's path at a reverse proxy, like /batteries."), transform: BasePath.read)
  var base: BasePath?
  @OptionGroup var services: ExportedServices
  @OptionGroup var output: OutputOptions

  func validate() throws {
    for place in listen { try place.check(allow) }
    if tokenFile == "" { throw ValidationError("--token-file needs a path") }
  }

  func run() async throws {
    if output.json { Interruption.endWithOutput() }
    defer { ServiceLog.finish() }
    let view = ExportView(json: output.json)
    var settings = WebSite.Settings(title: WebSite.titleOfThisMachine, version: BridgeCLI.version)
    settings.hosts = HostNames(name + listen.map(\.host))
    settings.base = base?.path ?? ""
    settings.token = try await token()
    settings.note = { view.trouble(AccessoryError(.permissionDenied, $0)) }
    let site = WebSite(settings) { [services] in ServiceTopFeed(services.places, isOwn: false) }
    let server = site.server()
    let places = listen.isEmpty ? [try ListeningPlace.read("8380")] : listen
    for place in places {
      place.note(allow)
      let open = try await server.listen(
        at: place.host, port: place.port, networks: allow.map(\.network), onRefused: { view.refused($0) })
      view.listening("http://\(open.network)\(settings.base)/")
    }
    await OneShot<Void>().value(whenCancelled: ())
    await server.close()
    await site.close()
    throw CancellationError()
  }

  private func token() async throws -> WebToken? {
    if let path = tokenFile ?? WebToken.credentialPath() {
      return try await SetupQueue(label: "token").run { () throws(AccessoryError) in try WebToken.read(path) }
    }
    guard let open = listen.first(where: { !$0.isLoopback }) else { return nil }
    throw UsageError(
      "other machines can connect to \(open.text): name a file with a token, like --token-file ./token (openssl rand -hex 24 "
        + "makes one)")
  }
}

/// The path before all pages.
struct BasePath: FormArgument {
  static let form = "a path of letters, digits and -._~, like /batteries,"
  /// Without a slash at its end.
  let path: String

  init?(argument: String) {
    guard argument.hasPrefix("/"), argument.utf8.count <= 256 else { return nil }
    var path = argument
    while path.hasSuffix("/") { path.removeLast() }
    let isPlain = path.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/-._~".utf8.contains(byte)
      }
    }
    guard isPlain, !path.contains("//") else { return nil }
    self.path = path
  }
}

extension ServiceTopFeed: WebFeed {
  func history(of key: String, _ names: [String]) async -> [ReadingSeries] {
    guard let (client, place) = await client(for: key) else { return [] }
    defer { client.close() }
    return (try? await client.device(place).history(names))?.series ?? []
  }

  func commands(of key: String) async -> [CommandDescription] {
    guard let (client, place) = await client(for: key) else { return [] }
    defer { client.close() }
    return (try? await client.device(place).commands())?.commands ?? []
  }
}
