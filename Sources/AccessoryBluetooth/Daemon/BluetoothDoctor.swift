// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Finds out why Bluetooth can't be used, and what to do about it. Looks, and changes nothing.
public enum BluetoothDoctor {
  /// The kernel's folder of the switches that block radios.
  private static let switches = "/sys/class/rfkill"

  /// The report on this computer's Bluetooth; nil if the computer has no adapter and the user didn't ask about
  /// Bluetooth. If the user didn't ask, nothing in the report is a problem, because many computers have an unused
  /// adapter.
  public static func report(isAsked: Bool = false, io: IOThread = .shared) async -> PortReport? {
    let kernel = BluetoothPlace.adapters()
    guard isAsked || !kernel.isEmpty else { return nil }
    var report = PortReport(named: "bluetooth")
    for name in blocked(switches) {
      report.add(
        "radio", .problem, "\(name) is blocked: rfkill unblock bluetooth, or use the switch of this computer",
        .misconfigured)
    }
    do throws(AccessoryError) {
      let bluez = try await BlueZ.open(io: io)
      let objects = await bluez.objects
      await bluez.close()
      report.add("bluetoothd", .ok, "it is running")
      judge(objects, kernel, &report)
    } catch {
      report.add("bluetoothd", .problem, error.message, error.kind)
    }
    return isAsked ? report : withoutProblems(report)
  }

  static func withoutProblems(_ report: PortReport) -> PortReport {
    var report = report
    for index in report.findings.indices where report.findings[index].severity == .problem {
      report.findings[index].severity = .warning
      report.findings[index].kind = nil
    }
    return report
  }

  static func judge(_ objects: BluetoothObjects, _ kernel: [String], _ report: inout PortReport) {
    for adapter in objects.adaptersByName {
      let name = SafeText.escape(adapter.name)
      if adapter.isPowered {
        let place = adapter.address.map { " (\($0))" } ?? ""
        report.add("adapter", .ok, "\(name)\(place) is on")
      } else {
        report.add("adapter", .problem, "\(name) is off: bluetoothctl power on", .misconfigured)
      }
    }
    guard objects.adapters.isEmpty else { return }
    report.add(
      "adapter", .problem,
      kernel.isEmpty
        ? "this computer has no Bluetooth adapter, or its driver isn't loaded: sudo dmesg says why"
        : "bluetoothd doesn't use \(kernel.map { SafeText.escape($0) }.joined(separator: ", ")): "
          + "sudo systemctl restart bluetooth, and systemctl status bluetooth",
      .notFound)
  }

  /// The names of the Bluetooth radios that a switch blocks (rfkill(8)).
  static func blocked(_ folder: String) -> [String] {
    func text(_ path: String) -> String {
      (try? SmallFile.read(path, limit: 64)).map {
        String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      } ?? ""
    }
    return Directory.names(in: folder).sorted().compactMap { entry in
      let path = "\(folder)/\(entry)"
      guard text("\(path)/type") == "bluetooth", text("\(path)/soft") == "1" || text("\(path)/hard") == "1" else {
        return nil
      }
      return SafeText.escape(text("\(path)/name"))
    }
  }
}
