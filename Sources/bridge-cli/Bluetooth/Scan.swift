// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryProtocols
import ArgumentParser
import CommandOutput

struct Scan: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Lists nearby Bluetooth devices, the strongest signal first.",
    discussion: """
      With --ble or --classic this computer's own Bluetooth adapter looks for them; ble: and an address from the list is then a \
      DEVICE for other commands. Without these options an HM-10 module looks for them: bluetooth connect takes a number of its \
      list. A module in the peripheral role changes to the central role, and keeps it.

      EXAMPLES
        bridge-cli bluetooth scan
        bridge-cli bluetooth scan --ble
        bridge-cli bluetooth scan /dev/ttyUSB0 --driver hm10 --timeout 20s
      """)

  @OptionGroup var device: DeviceArgument
  @Flag(help: "Look for Bluetooth Low Energy devices with this computer's own adapter.")
  var ble = false
  @Flag(help: "Look for Bluetooth Classic devices with this computer's own adapter.")
  var classic = false
  @Option(
    help: .value("name", "The adapter for --ble and --classic: its name, like hci1, or its address."),
    completion: CompletionWords.adapters, transform: AdapterArgument.read)
  var adapter: AdapterArgument?
  @Option(help: .value("time", "How long to scan."), transform: SecondsArgument.read) var timeout: SecondsArgument?
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  private static let standardTime = Duration.seconds(5)

  func validate() throws {
    if let timeout, timeout.duration < .milliseconds(100) || timeout.duration > .seconds(3_600) {
      throw ValidationError("--timeout must be 100ms to 60m")
    }
    if ble, classic { throw ValidationError("--ble and --classic can't be used together") }
    if adapter != nil, !ble, !classic { throw ValidationError("--adapter needs --ble or --classic") }
    if ble || classic, device.text != nil || line.saysSomething {
      throw ValidationError(
        "with \(ble ? "--ble" : "--classic") this computer's own adapter scans: leave out the device")
    }
  }

  func run() async throws {
    if ble || classic {
      // A classic inquiry takes ten seconds.
      let time = timeout?.duration ?? (ble ? Self.standardTime : .seconds(12))
      return try await AirScan(
        kind: ble ? .lowEnergy : .classic, adapter: adapter?.name, time: time, isJSON: output.json
      ).run()
    }
    do {
      try await scanByModule()
    } catch let error as ResolutionError where device.text == nil {
      throw UsageError(
        "it isn't clear which HM-10 module is to scan (\(error)); with --ble or --classic this computer's own adapter scans"
      )
    }
  }

  private func scanByModule() async throws {
    try await OpenModule.with(device.text, line) { open in
      let central = try await open.start()
      let events = await central.events()
      let module = DeviceDocument(open.device)
      let list = NeighbourList(isLive: !output.json && Style.standardOutput.isTerminal)
      let showing = Task {
        for await event in events {
          guard case .found(let neighbour) = event else { continue }
          if output.json {
            Output.json(ScanEventDocument(device: module, neighbour: .init(neighbour)))
          } else {
            list.draw(await central.strongestFirst.map { NeighbourRow($0) })
          }
        }
      }
      let failure: AccessoryError?
      do throws(AccessoryError) {
        let time = timeout?.duration ?? Self.standardTime
        try await WaitingLine.during("scanning", limit: time) { () async throws(AccessoryError) in
          try await central.search(for: time)
        }
        failure = nil
      } catch {
        failure = error
      }
      let found = await central.strongestFirst
      await central.stop()
      await showing.value
      RememberedScan(open.device)?.save(found)
      if output.json {
        if failure == nil {
          Output.json(ScanDocument(device: module, neighbours: found.map { .init($0) }))
        }
      } else {
        list.finish(found.map { NeighbourRow($0) })
      }
      if let failure { throw failure }
      // An interrupted scan has shown and stored what it found, but it still ends with the status of an interruption.
      try AccessoryWait.checkInterruption()
    }
  }
}

/// The name of a Bluetooth adapter on the command line.
struct AdapterArgument: FormArgument {
  static let form = "the name of a Bluetooth adapter, like hci1, or its address"
  let name: BluetoothAdapterName

  init?(argument: String) {
    guard let name = BluetoothAdapterName(argument) else { return nil }
    self.name = name
  }
}

/// A device found by a scan, in JSON.
struct NeighbourDocument: Encodable {
  let address: String
  let address_type, rssi_dbm: Int?
  let name: String?

  init(_ neighbour: RadioNeighbour) {
    address = neighbour.address.description
    address_type = neighbour.addressType
    rssi_dbm = neighbour.signalStrength
    name = neighbour.name
  }
}

struct ScanEventDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.scanFound
  let event = "found"
  let time = WallClock.seconds
  /// The module that scanned.
  let device: DeviceDocument
  let neighbour: NeighbourDocument
}

struct ScanDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.scanEnded
  let event = "ended"
  let time = WallClock.seconds
  /// The module that scanned.
  let device: DeviceDocument
  let neighbours: [NeighbourDocument]
}
