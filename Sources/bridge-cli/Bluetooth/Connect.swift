// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import ArgumentParser
import CommandOutput

struct Connect: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "connect",
    abstract: "Connects to a Bluetooth device through an HM-10, and passes bytes both ways.",
    usage: """
      bridge-cli bluetooth connect [<device>] <address> [--timeout <time>] [--json]
             bridge-cli bluetooth connect [<device>] <number> [--json]
      """,
    discussion: """
      ADDRESS is like 00:17:EA:09:09:09; NUMBER is that of the device in the last bridge-cli bluetooth scan. What you type goes to the \
      device, and what it sends is printed, until Ctrl-] or the end of the input. If the connection is lost or can't be made, the \
      command tries again three times.

      EXIT STATUS
        66  no such device was found
        69  the module is in use, or the connection failed or was lost for good
        75  the module doesn't answer
        76  the module refuses to connect
        78  no more connections are possible

      EXAMPLES
        bridge-cli bluetooth connect 1
        bridge-cli bluetooth connect /dev/ttyUSB0 00:17:EA:09:09:09 --driver hm10
        echo on | bridge-cli bluetooth connect 1 --linger 2s
      """)

  @Argument(
    help: .value("word", "The module (if there are several), and the device to connect to."),
    completion: CompletionWords.devices)
  var words: [String]
  @Option(help: .value("time", "How long to search for an address."), transform: SecondsArgument.read)
  var timeout: SecondsArgument?
  @Option(
    help: .value("time", "At the end of the input, wait until the device is silent this long; default: 1s."),
    transform: TimeArgument.read)
  var linger: TimeArgument?
  @Flag(help: "Print received bytes unchanged, also on a terminal.")
  var raw = false
  @Flag(help: "Connect to a dual-mode device.")
  var dual = false
  @OptionGroup var retry: RetryOptions
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  private var target: String { words.last ?? "" }
  private var device: String? { words.count > 1 ? words[0] : nil }

  func validate() throws {
    guard (1...2).contains(words.count) else {
      throw ValidationError("expected a module (if there are several) and the device to connect to")
    }
    guard BluetoothAddress(target) != nil || Int(target).map({ $0 > 0 }) == true else {
      throw ValidationError("\(target) is not an address, like 00:17:EA:09:09:09, or a number of the last scan")
    }
  }

  func run() async throws {
    try await OpenModule.with(device, line) { open in
      let known = RememberedScan(open.device)?.load() ?? []
      let central = try await open.start(retry.policy, known: known)
      let events = await central.events()
      let address = try await find(known, central)
      let input = ConnectInput()
      defer { input.end() }
      let session = ConnectSession(
        central: central, module: DeviceDocument(open.device), address: address, input: input, json: output.json,
        isEscaped: !raw && Style.standardOutput.isTerminal)
      defer { session.endLine() }
      do throws(RadioCentralError) {
        try await session.run(events, isDual: dual, linger: linger?.duration ?? .seconds(1))
      } catch {
        throw error.accessoryError
      }
    }
  }

  /// The address that the user's argument names: an address, or a number or name from the last scan.
  private func find(_ known: [RadioNeighbour], _ central: any RadioCentral) async throws -> BluetoothAddress {
    guard let address = BluetoothAddress(target) else {
      let number = Int(target) ?? 0
      guard known.indices.contains(number - 1) else {
        throw AccessoryError(
          .notFound,
          known.isEmpty
            ? "this module hasn't scanned yet: run bridge-cli bluetooth scan first"
            : "there is no number \(number): the last scan showed \(Amount.of(known.count, "device"))")
      }
      return known[number - 1].address
    }
    if known.contains(where: { $0.address == address }) { return address }
    let events = await central.events()
    let time = timeout?.duration ?? .seconds(10)
    let wait = WaitingLine.shared.begin("searching for \(address)", limit: time)
    defer { WaitingLine.shared.end(wait) }
    let search = Task { () -> AccessoryError? in
      do throws(AccessoryError) {
        try await central.search(for: time)
        return nil
      } catch {
        return error
      }
    }
    search: for await event in events {
      switch event {
      case .found(let neighbour) where neighbour.address == address: break search
      case .searchEnded: break search
      default: break
      }
    }
    search.cancel()
    if let failure = await search.value { throw failure }
    return address
  }
}
