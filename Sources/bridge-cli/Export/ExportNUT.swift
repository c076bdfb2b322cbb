// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryExport
import AccessoryIO
import ArgumentParser
import CommandOutput

struct ExportNUT: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "nut",
    abstract: "Serves accessories as UPSs with NUT's protocol, for upsc, upsmon and Home Assistant.",
    discussion: """
      Each accessory appears as a UPS, by its id or its --name. Only those named by --ups are ever reported as on battery or low, which makes upsmon shut \
      machines down: name only a UPS that powers them. Clients can't change anything.

      EXAMPLES
        bridge-cli export nut
        bridge-cli export nut --name ups=RACK-UPS --ups ups --low 30% --users nut.users
        bridge-cli export nut --listen 0.0.0.0:3493 --allow 192.168.1.0/24
      """)

  @Option(
    help: .value("place", "Listen here; may be repeated; default: 127.0.0.1:3493."), transform: ListeningPlace.read)
  var listen: [ListeningPlace] = []
  @Option(
    help: .value("net", "Let machines of this network connect; may be repeated."), transform: NetworkArgument.read)
  var allow: [NetworkArgument] = []
  @Option(
    help: .value("name", "What may make machines shut down; may be repeated."),
    completion: CompletionWords.devices)
  var ups: [String] = []
  @Option(
    help: .value("name=device", "Serve an accessory by a name, such as ups; may be repeated."),
    transform: ChosenNameArgument.read)
  var name: [ChosenNameArgument] = []
  @Option(
    help: .value(
      "limit", "When UPSs are low: 15%, 5min or both; NAME=LIMIT for one; may be repeated."),
    transform: OwnersLimitArgument.read)
  var low: [OwnersLimitArgument] = []
  @Option(help: .value("file", "Names and passwords of clients, as in NUT's upsd.users."), completion: .file())
  var users: String?
  @OptionGroup var services: ExportedServices
  @OptionGroup var output: OutputOptions

  /// The port of NUT's servers, as IANA has it.
  private static let port: UInt16 = 3_493

  func validate() throws {
    for place in listen { try place.check(allow) }
    for name in ups where name.isEmpty { throw ValidationError("--ups needs an accessory's id") }
    for (place, chosen) in name.enumerated()
    where name[..<place].contains(where: { $0.name.lowercased() == chosen.name.lowercased() }) {
      throw ValidationError("--name gives \(chosen.name) to two accessories")
    }
  }

  func run() async throws {
    if output.json { Interruption.endWithOutput() }
    defer { ServiceLog.finish() }
    let view = ExportView(json: output.json)
    var configuration = NUTSession.Configuration(upses: ups, version: BridgeCLI.version)
    configuration.names = name.map { .init(name: $0.name, device: $0.device) }
    configuration.limits = low.map { .init(name: $0.name, limit: $0.limit) }
    configuration.find = { (name, there, gone) throws(NUTSession.AmbiguousName) in
      do throws(ResolutionError) {
        let found = try DeviceName(name, lookingAtFiles: false).device(there: there, awaited: gone)
        return found.flatMap { (there + gone).contains($0) ? $0 : nil }
      } catch {
        if case .ambiguous = error { throw NUTSession.AmbiguousName() }
        return nil
      }
    }
    if let users {
      configuration.users = try await SetupQueue(label: "users").run { () throws(AccessoryError) in
        try NUTUsers.read(users)
      }
    }
    let feed = ReadingsFeed()
    let server = ExportServer(feed) { [configuration] peer in
      NUTSession(configuration, address: peer?.host ?? "?")
    }
    let places = listen.isEmpty ? [("127.0.0.1", Self.port)] : listen.map { ($0.host, $0.port) }
    for place in listen { place.note(allow) }
    for (host, port) in places {
      let place = try await server.listen(at: host, port: port, networks: allow.map(\.network)) { view.refused($0) }
      view.listening("nut:\(place.network)")
    }
    await services.follow(with: feed, view)
    await server.close()
    throw CancellationError()
  }
}

/// A name that the user has chosen for an accessory: "ups=RACK-UPS".
struct ChosenNameArgument: FormArgument {
  static let form = "a name of letters, digits, - and _, and the device that has it, like ups=RACK-UPS"
  let name, device: String

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, ExportName.isName(parts[0]), !parts[1].isEmpty else { return nil }
    (name, device) = (parts[0], parts[1])
  }
}

/// From where on a UPS's battery is low: "15%", "5min", "ups=15%,5min".
struct OwnersLimitArgument: FormArgument {
  static let form = "a charge from 1 to 99 %, a time, or both, like 15%, 5min or ups=15%,5min"
  let name: String?
  let limit: LowLimit

  init?(argument: String) {
    let parts = argument.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
    guard let limit = LowLimit(parts[parts.count - 1]) else { return nil }
    let name = parts.dropLast().joined(separator: "=")
    guard parts.count == 1 || !name.isEmpty else { return nil }
    (self.name, self.limit) = (parts.count == 1 ? nil : name, limit)
  }
}
