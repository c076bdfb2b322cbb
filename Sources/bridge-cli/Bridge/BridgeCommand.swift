// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessorySharing
import ArgumentParser
import CommandOutput

struct BridgeCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "bridge",
    abstract: "Lets other programs use an accessory's line.",
    discussion: """
      Opens DEVICE once and shares it among all programs that connect. If its protocol is known, whole requests are passed on, one \
      after another, and each reply goes to the program that asked; otherwise, or with --by bytes, all bytes pass unchanged to all.

      PLACE is HOST:PORT, or a port alone, which listens on 127.0.0.1. Connections are neither encrypted nor authenticated. Commands \
      that change the accessory, and raw bytes that might, need --write and a profile with `writes: allowed`. Without these, \
      clients that share bytes can only read, as with --writers none.

      EXAMPLES
        bridge-cli bridge /dev/ttyUSB0 --tcp 7000
        bridge-cli bridge /dev/ttyUSB0 --rfc2217 7001 --reset esp
        bridge-cli bridge tcp:10.0.0.7:5000 --pty ./tty
        bridge-cli bridge /dev/ttyUSB0 --ble Robot --uart hm10
        bridge-cli bridge SIM0001 --tcp 0.0.0.0:7000 --allow 192.168.1.0/24 --writers one
        echo AT | bridge-cli bridge /dev/ttyUSB0 --baud 9600 --stdio
      """)

  @OptionGroup var device: DeviceArgument
  @Option(
    help: .value("place", "Listen at this address; may be repeated, like all of these."), transform: ListeningPlace.read
  )
  var tcp: [ListeningPlace] = []
  @Option(
    help: .value("place", "Listen for clients of RFC 2217, which also control the line."),
    transform: ListeningPlace.read)
  var rfc2217: [ListeningPlace] = []
  @Option(help: .value("path", "Listen at a Unix socket."), completion: .file()) var unix: [String] = []
  @Option(help: .value("path", "Make a pseudo-terminal with a link at this path."), completion: .file())
  var pty: [String] = []
  @Option(
    help: .value("name", "Offer it to phones by Bluetooth, as a serial port with this name."))
  var ble: String?
  @Option(
    help: "The form of the serial port of --ble: hm10 (FFE0), nus (Nordic's), or bluno (DFB0).")
  var uart: GATTUART?
  @Flag(
    help: .rare("Let only paired devices use the serial port of --ble."))
  var blePaired = false
  @Flag(help: "Share the line with standard input and output.")
  var stdio = false

  @Option(help: .value("file", "Record the traffic in this file, for trace and replay."), completion: .file())
  var record: String?
  @Option(
    help: .value("net", "Let machines of this network connect, like 192.168.1.0/24."), transform: NetworkArgument.read)
  var allow: [NetworkArgument] = []
  @Option(
    help:
      "Which clients' bytes reach the accessory: none, one (the first that writes), or many.")
  var writers = SharingRules.Writers.many
  @Option(
    help: "Share frames or bytes; default: frames if the protocol is known.")
  var by: SharedUnit?
  @Option(
    help: "A client that reads too slowly: close it, skip bytes, or wait for it.")
  var slowReader = SharingRules.SlowReader.close
  @Option(help: .rare("size", "How many bytes are kept for a slow client, 4K to 64M."), transform: SizeArgument.read)
  var buffer = SizeArgument(bytes: 1 << 20)
  @Option(
    help: "After an unplug: hang-up (clients are disconnected), keep (they wait), or end.")
  var onUnplug = UnplugArgument.hangUp
  @Option(help: .rare("number", "The maximum number of clients of each endpoint.")) var maxClients = 512
  @Flag(help: .rare("Allow one client at each endpoint: a new client replaces the one that is connected."))
  var newestWins = false
  @Option(
    help: .rare("mode", "The file mode of sockets (default: 0600) and pseudo-terminals (default: the system's)."),
    transform: ModeArgument.read)
  var mode: ModeArgument?
  @Option(
    help: .rare(
      "time",
      "Keep a client that has closed its sending side until the accessory has been silent for this long; default: 500ms."
    ), transform: TimeArgument.read)
  var linger: TimeArgument?
  @Option(
    help: .value(
      "board",
      "The reset sequence to run when a client starts one: esp, arduino, a file, or none; default: the profile's."),
    completion: CompletionWords.resets)
  var reset: ResetArgument?
  @Flag(help: "Let clients change the accessory, if its profile allows it too.")
  var write = false
  @Option(
    help: .value("file", "Take the device and all options from this file."),
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if config != nil {
      let isMore =
        device.text != nil || stdio || ble != nil || ![tcp, rfc2217].allSatisfy(\.isEmpty) || !(unix + pty).isEmpty
      guard !isMore else {
        throw ValidationError("--config takes everything from the file: leave out the device and the endpoints")
      }
      return
    }
    guard !tcp.isEmpty || !rfc2217.isEmpty || !unix.isEmpty || !pty.isEmpty || ble != nil || stdio else {
      throw ValidationError(
        "name at least one endpoint: --pty ./tty, --tcp 7000, --rfc2217 7001, --unix ./line.sock, --ble NAME or --stdio"
      )
    }
    if let refusal = ble.flatMap({ GATTUARTServer.Settings($0).refusal }) { throw ValidationError("--ble: \(refusal)") }
    if ble == nil, uart != nil || blePaired { throw ValidationError("--uart and --ble-paired need --ble NAME") }
    for path in unix + pty where path.isEmpty { throw ValidationError("--unix and --pty need a path, like ./line") }
    for place in tcp + rfc2217 { try place.check(allow) }
    guard maxClients >= 1 else { throw ValidationError("--max-clients must be at least 1") }
    guard (4_096...(64 << 20)).contains(buffer.bytes) else { throw ValidationError("--buffer must be 4K to 64M") }
    if by == .frames, writers == .none {
      throw ValidationError(
        "--by frames and --writers none can't be used together: a client that shares frames sends requests")
    }
    if reset != nil, rfc2217.isEmpty {
      throw ValidationError("--reset needs clients that can set DTR and RTS: add --rfc2217")
    }
    if stdio, output.json {
      throw ValidationError("--stdio and --json can't be used together: both write to standard output")
    }
  }

  func run() async throws {
    guard let config else { return try await share() }
    var file: BridgeCommand
    do throws(ProfileProblems) {
      file = try await ShareFile.read(path: config)
    } catch {
      throw AccessoryError(error)
    }
    file.output = output
    try await file.share()
  }

  private func share() async throws {
    var rules = rules
    if let reset { rules.resets = try await reset.resets() }
    let hub = SharingHub(rules)
    if output.json { Interruption.endWithOutput() }
    defer { ServiceLog.finish() }
    let view = BridgeView(json: output.json, hasStreams: stdio)
    let talking = Task { for await news in hub.news { view.show(news) } }
    let endpoints = BridgeEndpoints(hub, view)
    let recorder = record.map { BridgeRecorder($0, view) }
    let result: Result<Void, any Error>
    do {
      let opening = opening(recorder)
      // Checked before clients can come: an endpoint that ends at once is of no use.
      try await opening.checkPermission()
      try await open(endpoints)
      try await endpoints.serve(opening, endsOnUnplug: onUnplug == .end)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await endpoints.close()
    await hub.close()
    await talking.value
    try await recorder?.close()
    try result.get()
  }

  private var rules: SharingRules {
    var rules = SharingRules()
    rules.writers = writers
    rules.slowReader = slowReader
    rules.bufferSize = buffer.bytes
    rules.unplug = onUnplug == .keep ? .keep : .hangUp
    if let linger { rules.linger = linger.duration }
    return rules
  }

  private func opening(_ recorder: BridgeRecorder?) -> BridgeOpening {
    let line = LineOptions(transport: transport, serial: serial)
    return BridgeOpening(
      text: device.text, line: line, write: write, isReadOnly: writers == .none, recorder: recorder, unit: by,
      usesProfileReset: reset == nil)
  }

  private func open(_ endpoints: BridgeEndpoints) async throws {
    let networks = allow.map(\.network)
    for place in tcp + rfc2217 where !place.isLoopback {
      Output.note(
        "any machine in \(networks.map(\.description).joined(separator: " or ")) can use the accessory at "
          + "\(place.text): the connections are neither encrypted nor authenticated")
    }
    for place in rfc2217 {
      let limit = EndpointLimit(maximum: maxClients, newestWins: newestWins)
      try await endpoints.add { hub in
        try await RFC2217Endpoint.listen(at: place.host, port: place.port, networks: networks, limit: limit, for: hub)
      }
    }
    for place in tcp {
      let limit = EndpointLimit(maximum: maxClients, newestWins: newestWins)
      try await endpoints.add { hub in
        try await NetworkEndpoint.listen(at: place.host, port: place.port, networks: networks, limit: limit, for: hub)
      }
    }
    for path in unix {
      let limit = EndpointLimit(maximum: maxClients, newestWins: newestWins)
      try await endpoints.add { hub in
        try await UnixEndpoint.listen(at: path, mode: mode?.bits ?? 0o600, limit: limit, for: hub)
      }
    }
    for path in pty { try await endpoints.add(terminalAt: path, mode: mode?.bits) }
    if let ble {
      let limit = EndpointLimit(maximum: maxClients, newestWins: newestWins)
      try await endpoints.add(GATTUARTServer.Settings(ble, uart ?? .hm10, isPaired: blePaired), limit: limit)
    }
    if stdio {
      let isOnly = tcp.isEmpty && rfc2217.isEmpty && unix.isEmpty && pty.isEmpty && ble == nil
      await endpoints.addStreams(isOnly: isOnly)
    }
  }
}

extension SharingRules.Writers: ExpressibleByArgument {}
extension SharingRules.SlowReader: ExpressibleByArgument {}
extension SharedUnit: ExpressibleByArgument {}
extension GATTUART: ExpressibleByArgument {}

/// The value of --on-unplug: what happens to the clients when the accessory is unplugged.
enum UnplugArgument: String, ExpressibleByArgument, CaseIterable {
  case hangUp = "hang-up"
  case keep, end
}
