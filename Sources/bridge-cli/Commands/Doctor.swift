// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryExport
import AccessoryIO
import ArgumentParser
import CommandOutput

struct Doctor: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Explains why a port can't be opened, and how to fix it.",
    discussion: """
      Changes nothing. Without a device it checks every port. Ports without problems are counted in one line.

      EXAMPLES
        bridge-cli doctor
        bridge-cli doctor /dev/ttyUSB0 --details
      """)

  @OptionGroup var device: DeviceArgument
  @Flag(help: "Show every check, also for ports without problems.")
  var details = false
  @OptionGroup var transport: TransportOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let reports = try await reports()
    if output.json {
      Output.json(DoctorDocument(reports.map(\.report)))
    } else {
      DoctorView.lines(reports, details: details, columns: Output.columns).forEach(Output.line)
    }
    if let finding = reports.flatMap(\.report.findings).first(where: { $0.kind != nil }), let kind = finding.kind {
      throw ExitCode(ExitStatus.of(kind))
    }
  }

  private func reports() async throws -> [DoctorView.Patient] {
    let patients: [Device]
    do {
      patients = try await self.patients()
    } catch ResolutionError.noMatch(let text, _) where text.lowercased().hasPrefix("usb:") {
      return [
        DoctorView.Patient(
          PortReport(
            missing: text,
            "no device with these numbers is plugged in: lsusb shows the devices that the kernel knows, and sudo dmesg "
              + "its messages about a device that it can't use"))
      ]
    }
    let held = await ServiceEntry.all(at: ServicePlace.all(), replyTimeout: .seconds(2)).held
    let reports = await SetupQueue(label: "doctor").run {
      patients.map { patient in Self.report(on: patient, held.filter { $0.device.isOnLine(of: patient) }) }
    }
    // Everything includes the adapter; a device on the air depends on it.
    guard device.text == nil || patients.contains(where: { $0.address.transport.isBluetooth }) else {
      return reports
    }
    let bluetooth = await BluetoothDoctor.report(isAsked: device.text != nil)
    let announcement = device.text == nil ? await AvahiDoctor.reportIfUsed() : nil
    return reports + [bluetooth, announcement].compactMap { $0.map { DoctorView.Patient($0) } }
  }

  /// `held`: the accessories at this device that services have open or wait for.
  private static func report(on device: Device, _ held: [ServiceEntry]) -> DoctorView.Patient {
    let holder = held.first { [.opening, .attached, .lent].contains($0.accessory.state) }
    var report = DeviceDoctor.report(on: device, heldBy: holder.map(text))
    for waiting in held where waiting.accessory.state == .waiting || waiting.accessory.state == .failed {
      guard let problem = waiting.accessory.problem else { continue }
      report.add(
        "service", .warning,
        "the service at \(waiting.socketPath) "
          + (waiting.accessory.state == .waiting ? "waits for it: " : "no longer tries to open it: ") + problem.message)
    }
    return DoctorView.Patient(report, holder: holder?.accessory.state)
  }

  private static func text(_ held: ServiceEntry) -> String {
    let borrower = held.accessory.state == .lent ? held.accessory.holder.map { " and lends it to \($0)" } ?? "" : ""
    return "the service at \(held.socketPath) has it open\(borrower); commands go through the service; to close it: "
      + "bridge-cli attach --end \(held.accessory.device.id)"
  }

  private func patients() async throws -> [Device] {
    if let text = device.text {
      var name = DeviceName(text)
      name.searches = .names
      let devices = (try? await KnownDevices.devices(for: name, lines: true)) ?? []
      return [try transport.choose(try patient(name, among: devices), label: text)]
    }
    let devices = try await KnownDevices.source().devices().filter {
      // Every user may read the kernel's files: there is nothing to find out.
      $0.mayBeAccessory && $0.address.files == nil
    }
    let known = Set(devices.map(\.address))
    let ports = SerialPorts.paths().map { DeviceAddress.terminal($0) }.filter { !known.contains($0) }
    return ports.map { Device($0, source: .named) } + devices
  }

  private func patient(_ name: DeviceName, among devices: [Device]) throws(ResolutionError) -> Device {
    do throws(ResolutionError) {
      return try name.device(among: devices, by: transport.wanted)
    } catch {
      // `doctor` also reports on a path that doesn't exist.
      guard case .noMatch(let text, _) = error, !text.lowercased().hasPrefix("usb:"), let path = name.path else {
        throw error
      }
      return Device(.node(path), source: .named)
    }
  }
}

struct DoctorDocument: Encodable {
  struct Report: Encodable {
    let path: String
    let findings: [Finding]
  }

  struct Finding: Encodable {
    let subject, severity, message: String
    let kind: String?
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.doctor
  let ports: [Report]

  init(_ reports: [PortReport]) {
    ports = reports.map { report in
      Report(
        path: report.path,
        findings: report.findings.map {
          Finding(
            subject: $0.subject, severity: $0.severity.rawValue, message: $0.message,
            kind: $0.kind?.rawValue)
        })
    }
  }
}
