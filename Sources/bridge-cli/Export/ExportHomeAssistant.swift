// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO
import ArgumentParser
import CommandOutput

struct ExportHomeAssistant: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "home-assistant",
    abstract: "Lets Home Assistant find this machine's accessories by itself, without a broker.",
    discussion: """
      Home Assistant sees an ESPHome device, and each accessory as a device of it, with its readings. It can send the commands that service.yaml permits to \
      clients that may only read. The connection is encrypted; type the key when Home Assistant asks for it.

      EXAMPLES
        bridge-cli export home-assistant
        bridge-cli export home-assistant --show-key
        bridge-cli export home-assistant --listen 0.0.0.0:6053 --allow 192.168.1.7
        bridge-cli export home-assistant --port zigbee=/dev/ttyUSB0
      """)

  @Option(
    help: .value("place", "Listen here; may be repeated; default: 6053 at all addresses."),
    transform: ListeningPlace.read)
  var listen: [ListeningPlace] = []
  @Option(
    help: .value("net", "Let machines of this network connect; may be repeated; default: private networks."),
    transform: NetworkArgument.read)
  var allow: [NetworkArgument] = []
  @Option(
    help: .value("name=device", "Offer a serial port to Home Assistant's integrations; may be repeated."),
    transform: OfferedPort.read)
  var port: [OfferedPort] = []
  @Flag(help: "Let clients of a port change the accessory there, if its profile allows it too.")
  var write = false
  @Option(help: .value("name", "The name in the network; default: bridge- and 8 digits of this machine's identity."))
  var name: String?
  @Option(
    help: .rare(
      "file",
      "Take ports, write, listen, allow and name from this file, where no option says them; default: home-assistant.yaml beside service.yaml."
    ),
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?
  @Option(help: .value("dir", "Keep the key and what Home Assistant knows in this folder."), completion: .directory)
  var state: String?
  @Flag(help: "Don't encrypt. Only programs on this machine can connect then.")
  var plain = false
  @Flag(help: "Show the key, and end.")
  var showKey = false
  @OptionGroup var services: ExportedServices
  @OptionGroup var output: OutputOptions

  /// The port of the native API, as ESPHome's documentation has it.
  private static let port: UInt16 = 6_053

  func validate() throws {
    if let name, !Self.isHostLabel(name) {
      throw ValidationError(
        "\(SafeText.escape(name)) can't be a name in the network: it has 1 to 31 letters in lower case, digits and -")
    }
    for place in listen {
      if plain, !place.isLoopback {
        throw ValidationError(
          "--plain is for this machine alone, and others can connect to \(place.text): leave --plain or the host out")
      }
    }
    if let problem = OfferedPort.problem(port) { throw ValidationError("--port: \(problem)") }
    if state == "" { throw ValidationError("--state needs a folder") }
  }

  func run() async throws {
    let folder = try folder()
    if showKey {
      let key = try await SetupQueue(label: folder).run { () throws(AccessoryError) in
        try BoxIdentity.readKey(in: folder)
      }
      return KeyView(json: output.json).show(key)
    }
    if output.json { Interruption.endWithOutput() }
    defer { ServiceLog.finish() }
    var command = self
    if let file = try await HomeAssistantFile.read(config) {
      command.take(file)
      try command.validate()
    }
    try await command.serve(folder)
  }

  /// Takes what a file says and no option does.
  private mutating func take(_ file: ExportHomeAssistant) {
    (port, listen) = (port.isEmpty ? file.port : port, listen.isEmpty ? file.listen : listen)
    (allow, name, write) = (allow.isEmpty ? file.allow : allow, name ?? file.name, write || file.write)
  }

  private func serve(_ folder: String) async throws {
    let identity = try await SetupQueue(label: folder).run { () throws(AccessoryError) in
      try BoxIdentity.open(in: folder, instance: name ?? "")
    }
    let view = ExportView(json: output.json)
    let host = MachineIdentity.hostName()
    let settings = HomeAssistantBox.Settings(
      identity, name: name, friendlyName: host.isEmpty ? "Accessory Bridge" : "Accessory Bridge on \(host)",
      version: BridgeCLI.version, isPlain: plain)
    let feed = ReadingsFeed(alarms: true, also: [.lists, .freshness, .commands])
    let ports = port.isEmpty ? nil : OfferedPorts(port, write: write) { view.trouble($0, isWaiting: false) }
    let box = try await HomeAssistantBox(settings, feed, folder: folder, ports: ports) { Self.tell($0, view) }
    let networks = plain ? [] : allow.isEmpty ? IPNetwork.privateNetworks : allow.map(\.network)
    var networkPort: UInt16?
    for place in places {
      let place = try await box.listen(at: place.host, port: place.port, networks: networks) { view.refused($0) }
      view.listening("esphome://\(place.network)")
      if !place.address.isLoopback { networkPort = networkPort ?? place.port }
    }
    if identity.isNew, !plain { KeyView(json: output.json).tellNew(identity.keyText) }
    let announcement = networkPort.map { Self.announce(settings.announcement(port: $0), view) }
    let running = Task { await box.run() }
    await services.follow(with: feed, view)
    running.cancel()
    await announcement?.close()
    await box.close()
    throw CancellationError()
  }

  private var places: [(host: String, port: UInt16)] {
    if !listen.isEmpty { return listen.map { ($0.host, $0.port) } }
    return [(plain ? "127.0.0.1" : "::", Self.port)]
  }

  /// Where the key is: that of the unit, for root.
  private func folder() throws(AccessoryError) -> String {
    if let state { return state }
    let own = StateFile.folder(of: "accessory-bridge")
    guard let own else {
      throw AccessoryError(
        .misconfigured,
        "none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set, so there is no place for the key: name one with --state"
      )
    }
    return showKey ? BoxIdentity.folder(own: own) : own
  }

  private static func isHostLabel(_ text: String) -> Bool {
    (1...31).contains(text.utf8.count) && !text.hasPrefix("-") && !text.hasSuffix("-")
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (0x30...0x39).contains(byte)
          || byte == UInt8(ascii: "-")
      }
  }

  /// Lets Home Assistant find this machine, and says whether it does.
  private static func announce(_ service: AnnouncedService, _ view: ExportView) -> ServiceAnnouncement {
    let announcement = ServiceAnnouncement(service)
    Task {
      for await state in announcement.states {
        let isMade = state == .announced
        let advice = isMade ? "" : "; meanwhile add ESPHome in Home Assistant by hand: host, port \(service.port), key"
        view.announced(state.text(service) + advice, isTrouble: !isMade)
      }
    }
    Task { await announcement.start() }
    return announcement
  }

  private static func tell(_ news: HomeAssistantBox.News, _ view: ExportView) {
    switch news {
    case .connected(let client, let address): view.joined(client, from: address)
    case .ended(let address, let reason): view.left(address, because: reason)
    case .performed(let command, let accessory, let error):
      view.performed(by: "Home Assistant", "\(command) for \(accessory): \(error?.message ?? "done")")
    case .trouble(let error): view.trouble(error, isWaiting: false)
    }
  }
}
