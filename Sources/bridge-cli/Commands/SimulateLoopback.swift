// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessorySharing
import AccessorySimulator
import ArgumentParser
import CommandOutput

struct SimulateLoopback: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "loopback",
    abstract: "Simulates a loopback plug, which sends everything back.",
    discussion: """
      With --tcp or --rfc2217 the plug listens at a port of this machine. With --rfc2217 it also prints each change of DTR, RTS and break. \
      PLACE is HOST:PORT, or a port alone.

      EXAMPLES
        bridge-cli simulate loopback --link ./plug
        bridge-cli simulate loopback --rfc2217 7001
      """)

  @Option(help: .value("place", "Listen here; may be repeated."), transform: ListeningPlace.read)
  var tcp: [ListeningPlace] = []
  @Option(
    help: .value("place", "Listen here for clients of RFC 2217; may be repeated."), transform: ListeningPlace.read)
  var rfc2217: [ListeningPlace] = []
  @Option(
    help: .rare("board", "The reset sequence to run when a client starts one: esp, arduino, none, or a file."),
    completion: CompletionWords.resets)
  var reset: ResetArgument?
  @Option(help: .value("text", "Serial number.")) var serial: String?
  @OptionGroup var options: ValueOptions<SimulatedLine>
  @OptionGroup var output: OutputOptions

  func validate() throws {
    try options.check()
    if !tcp.isEmpty || !rfc2217.isEmpty, options.values.link != nil {
      throw ValidationError("--link is for the pseudo-terminal: it can't be used with --tcp or --rfc2217")
    }
    if reset != nil, rfc2217.isEmpty {
      throw ValidationError("--reset needs clients that can set DTR and RTS: add --rfc2217")
    }
    for place in tcp + rfc2217 where !place.isLoopback {
      throw ValidationError("\(place.text) is not a loopback address: use 127.0.0.1 or ::1")
    }
    if let serial, !(1...64).contains(serial.utf8.count) { throw ValidationError("--serial must have 1 to 64 bytes") }
  }

  func run() async throws {
    let line = options.values
    let start = try await SimulatorStart(
      serialNumber: SimulatedSerial.chosen(serial, or: "LOOP", digits: 4), seed: line.seed ?? .random(in: 0 ... .max))
    guard tcp.isEmpty, rfc2217.isEmpty else { return try await listen(start) }
    let view = SimulatorView(json: output.json, start: start, link: line.link)
    let simulator = line.simulator(LoopbackDevice(serialNumber: start.serialNumber), start)
    try await view.run(simulator, comesBack: line.faults.replug != nil) { event in
      SimulatorNews.of(event) { SimulatorNews("news", $0) }
    }
  }

  private func listen(_ start: SimulatorStart) async throws {
    var rules = SharingRules()
    if let reset { rules.resets = try await reset.resets() }
    let hub = SharingHub(rules)
    let device = LoopbackPlug(label: start.serialNumber)
    var endpoints: [any SharingEndpoint] = []
    await hub.attach(device) { _ in }
    for place in rfc2217 {
      endpoints.append(try await RFC2217Endpoint.listen(at: place.host, port: place.port, for: hub))
    }
    for place in tcp { endpoints.append(try await NetworkEndpoint.listen(at: place.host, port: place.port, for: hub)) }
    let view = SimulatorView(json: output.json, start: start, link: nil)
    for endpoint in endpoints { view.show(.pluggedIn(endpoint.label)) }
    await withTaskCancellationHandler {
      var last: MonotonicTime?
      for await edge in device.loop.edges {
        let time = last.map { edge.time - $0 } ?? .zero
        last = edge.time
        let lines = edge.outputs.description + (edge.isBreaking ? ", break" : "")
        let microseconds = Int(time.inNanoseconds / 1_000)
        view.show(
          SimulatorNews("lines", "\(lines) after \(microseconds) µs", text: lines, number: microseconds))
      }
    } onCancel: {
      device.beginClose()
    }
    for endpoint in endpoints { await endpoint.close() }
    await hub.close()
  }
}
