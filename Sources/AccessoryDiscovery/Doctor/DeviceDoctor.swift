// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc

/// Finds out why a device can't be opened or may not work well. Its advice contains commands to copy.
///
/// The commands consist of numbers and of names that the kernel provides; they contain no text from the device.
public enum DeviceDoctor {
  /// Checks a device at its `address`. Changes nothing. May block: call it on a thread that may wait.
  ///
  /// `service` is the finding about the service that has the device open, nil when no service has. A service isn't a
  /// problem, because it shares the device.
  public static func report(on device: Device, heldBy service: String? = nil) -> PortReport {
    var report = PortReport(device.address, isSimulated: device.source == .simulator)
    if let service { report.replaceHolder(service) }
    guard device.source == .udev, device.address.files == nil else { return report }
    if let usb = device.usb { replacePermission(&report, usb, device.address) }
    lookAtUdev(device, &report)
    if let usb = device.usb {
      lookAtDrivers(device, usb, service, &report)
      lookAtReportDescriptor(device, usb, &report)
      lookAtPower(usb, &report)
    }
    lookAtRivals(device, isHeld: service != nil, &report)
    return report
  }

  /// Replaces the advice to join a group, which doesn't help with usbfs nodes: a udev rule gives access to the user who
  /// is logged in locally.
  private static func replacePermission(
    _ report: inout PortReport, _ usb: USBIdentity, _ address: DeviceAddress
  ) {
    guard let index = report.findings.firstIndex(where: { $0.subject == "permission" && $0.severity == .problem })
    else { return }
    if case .terminal(let path) = address {
      // If a group may open the terminal, joining that group is enough, and no rule is needed.
      var file = stat()
      guard stat(path, &file) == 0, file.st_gid == 0 || file.st_mode & (S_IRGRP | S_IWGRP) != S_IRGRP | S_IWGRP else {
        return
      }
      report.findings[index].message =
        "\(report.path) may be opened by its owner only: "
        + rule(
          usb, "access", 70, #"MODE="0660", GROUP="dialout", TAG+="uaccess""#,
          match: ("SUBSYSTEM==\"tty\"", "ATTRS"))
        + ", then plug it in again (dialout: sudo usermod -aG dialout $USER, and log in again)"
      return
    }
    if [.hidraw, .hidText].contains(address.transport) {
      let rules = address.transport == .hidraw ? "the package's udev rules give UPSs" : "profile udev-rules gives it"
      report.findings[index].message =
        "\(report.path) is root's: \(rules) to the group accessory-bridge and to the person at the "
        + "screen (uaccess; over SSH nobody sits there, and the group counts). Without the package: "
        + rule(
          usb, "access", 70, #"MODE="0660", GROUP="plugdev", TAG+="uaccess""#,
          match: (#"SUBSYSTEM=="hidraw""#, "ATTRS"))
        + ", then plug it in again (plugdev: sudo groupadd -f plugdev && sudo usermod -aG plugdev $USER, and log in again)"
      return
    }
    report.findings[index].message =
      "you may not write to \(usb.node): "
      + rule(usb, "access", 70, #"MODE="0660", GROUP="plugdev", TAG+="uaccess""#)
      + ", then plug it in again (plugdev: sudo groupadd -f plugdev && sudo usermod -aG plugdev $USER, and log in again)"
  }

  private static func lookAtUdev(_ device: Device, _ report: inout PortReport) {
    if !UdevLibrary.isRunning {
      report.add(
        "udev", .warning,
        "udev isn't running: there are no names in /dev/serial/by-id, and udev rules have no effect")
    } else if !device.isInitialized {
      report.add("udev", .warning, "udev is still setting up this device: udevadm settle waits until it has finished")
    } else {
      report.add("udev", .ok, "the udev rules have been applied")
    }
  }

  // MARK: - Drivers

  private static func lookAtDrivers(
    _ device: Device, _ usb: USBIdentity, _ service: String?, _ report: inout PortReport
  ) {
    for interface in usb.interfaces {
      let number = interface.description.number
      switch interface.driver {
      case nil where isSerial(interface.description):
        report.add(
          "driver", device.address.transport == .terminal ? .ok : .warning,
          "interface \(number) is a serial port (CDC ACM) without a driver: sudo modprobe cdc_acm")
      case nil:
        if device.address.transport == .usb { report.add("driver", .ok, "interface \(number) is free") }
      case "usbfs" where service != nil:
        report.add("driver", .ok, "the service uses interface \(number) through usbfs")
      case "usbfs":
        report.add(
          "driver", .warning,
          "another program uses interface \(number) through usbfs: end it (sudo fuser -v \(usb.node) shows it)")
      case let driver?:
        report.add("driver", severity(driver, device), message(driver, interface, device, usb))
      }
    }
  }

  /// CDC's abstract control model, for which cdc_acm provides a terminal (USB CDC PSTN 1.2, table 1).
  private static func isSerial(_ interface: USBInterfaceDescription) -> Bool {
    interface.function.code == 2 && interface.function.subclass == 2
  }

  private static func severity(_ driver: String, _ device: Device) -> PortReport.Finding.Severity {
    device.address.transport == .terminal || driver == "usbhid" ? .ok : .warning
  }

  private static func message(
    _ driver: String, _ interface: USBInterface, _ device: Device, _ usb: USBIdentity
  ) -> String {
    let number = interface.description.number
    guard device.address.transport == .usb else { return "the kernel's driver \(driver) uses interface \(number)" }
    if driver == "usbhid" {
      return
        "the kernel's driver usbhid uses interface \(number): it is detached while the device is open, and attached "
        + "again afterwards"
    }
    let terminal = device.terminal.map { "; \($0) doesn't exist meanwhile" } ?? ""
    var text =
      "the kernel's driver \(driver) uses interface \(number): it is detached while the device is open, and attached "
      + "again afterwards\(terminal)"
    let configuration = usb.configuration.map { "\(usb.port):\($0).\(number)" }
    if let configuration, isPlain(driver), isPlain(configuration) {
      text +=
        ". To detach the driver until the device is plugged in again: "
        + "echo \(configuration) | sudo tee /sys/bus/usb/drivers/\(driver)/unbind"
    }
    return text
  }

  // MARK: - Power

  private static func lookAtPower(_ usb: USBIdentity, _ report: inout PortReport) {
    let directory = "/sys\(usb.devpath)/power"
    func read(_ name: String) -> String? {
      (try? SmallFile.read("\(directory)/\(name)", limit: 64)).map {
        String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      }
    }
    switch read("control") {
    case "auto":
      let delay = read("autosuspend_delay_ms").flatMap { Int($0) }
      if let delay, delay < 0 {
        return report.add("autosuspend", .ok, "the kernel doesn't suspend this device")
      }
      let after = delay.map { " after \($0) ms" } ?? ""
      let now =
        isPlain(usb.devpath) ? "echo on | sudo tee \(directory)/control; for good: " : ""
      report.add(
        "autosuspend", .warning,
        "the kernel may suspend this device when it is idle\(after), and some accessories don't resume well: \(now)"
          + rule(usb, "power", 70, #"ATTR{power/control}="on""#))
    case "on": report.add("autosuspend", .ok, "the kernel doesn't suspend this device")
    default: break
    }
  }

  // MARK: - Other programs

  private static func lookAtRivals(_ device: Device, isHeld: Bool, _ report: inout PortReport) {
    if let terminal = device.terminal {
      let properties = UdevLibrary.properties(ofTerminal: terminal)
      let isIgnored =
        properties["ID_MM_DEVICE_IGNORE"] == "1" || properties["ID_MM_PORT_IGNORE"] == "1"
        || device.usb.map { UdevLibrary.properties(ofDevice: $0.devpath)["ID_MM_DEVICE_IGNORE"] == "1" } ?? false
      if isIgnored {
        report.add("ModemManager", .ok, "a udev rule tells it to ignore this device")
      } else if PortReport.isRunning("ModemManager") {
        let cure =
          device.usb.map { ": " + rule($0, "no-modem", 70, #"ENV{ID_MM_DEVICE_IGNORE}="1""#) }
          ?? ": sudo systemctl mask --now ModemManager"
        report.add(
          "ModemManager", .warning,
          "it is running, and may send modem commands to this device for some seconds after it is plugged in\(cure)")
      } else {
        report.add("ModemManager", .ok, "it isn't running")
      }
    }
    guard let usb = device.usb else { return }
    lookAtUPSPrograms(device, usb, &report)
    let isClaimed = UdevLibrary.properties(ofDevice: usb.devpath)["BRLTTY_BRAILLE_DRIVER"] != nil
    if isClaimed || (!isHeld && PortReport.isRunning("brltty") && usb.interfaces.contains { $0.driver == "usbfs" }) {
      report.add(
        "brltty", .warning,
        "it treats devices with this vendor and product number as Braille displays, and removes their serial ports. "
          + "If you have no Braille display: "
          + "sudo systemctl mask --now brltty.service brltty-udev.service, then plug it in again")
    } else {
      report.add("brltty", .ok, "it doesn't use this device")
    }
  }

  /// Programs that take a UPS away from the kernel's driver, by the names of their processes, and the units to be stopped.
  private static let upsPrograms = [
    ("usbhid-ups", "NUT's usbhid-ups", nutUnits), ("nutdrv_qx", "NUT's nutdrv_qx", nutUnits),
    ("apcupsd", "apcupsd", "apcupsd"),
  ]
  private static let nutUnits = "nut-driver.target nut-server"

  /// NUT and apcupsd detach the kernel's driver, so that the node of a UPS vanishes while they run.
  private static func lookAtUPSPrograms(_ device: Device, _ usb: USBIdentity, _ report: inout PortReport) {
    let reports = usb.interfaces.filter { $0.description.function.code == USBClass.humanInterface }
    guard device.hid != nil || reports.contains(where: { $0.driver == "usbfs" || $0.driver == nil }) else { return }
    let running = upsPrograms.filter { PortReport.isRunning($0.0) }
    for (_, name, units) in running {
      report.add(
        "UPS program", .warning,
        "\(name) is running, and takes UPSs away from the kernel's driver: while it has this one, there is no node to open. "
          + "Use one or the other; to end it: sudo systemctl disable --now \(units). upsmon can stay: bridge-cli export nut serves it"
      )
    }
    if running.isEmpty, device.hid != nil { report.add("UPS program", .ok, "neither NUT's drivers nor apcupsd run") }
  }

  // MARK: - Commands

  /// The commands that add and apply a udev rule for devices with these ids.
  private static func rule(
    _ usb: USBIdentity, _ name: String, _ order: Int, _ action: String,
    match: (subsystem: String, attributes: String) = (#"SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device""#, "ATTR")
  ) -> String {
    let (vendor, product) = (Hexadecimal.string(usb.vendorID), Hexadecimal.string(usb.productID))
    return "echo '\(match.subsystem), \(match.attributes){idVendor}==\"\(vendor)\", "
      + "\(match.attributes){idProduct}==\"\(product)\", \(action)' | sudo tee /etc/udev/rules.d/\(order)-\(vendor)-\(product)-\(name).rules"
      + " && sudo udevadm control --reload && sudo udevadm trigger --attr-match=idVendor=\(vendor)"
      + " --attr-match=idProduct=\(product)"
  }

  /// Whether a name is safe in a command without quoting.
  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count < 512
      && name.utf8.allSatisfy {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
          || (UInt8(ascii: "-")...UInt8(ascii: ":")).contains($0)
          || $0 == UInt8(ascii: "_")
      }
  }
}
