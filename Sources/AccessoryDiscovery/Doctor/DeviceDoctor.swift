// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc

/// Finds out why a device can't be opened or may not work well, and how to fix that, with commands to copy.
///
/// The commands are made of numbers and of names that the kernel gives; nothing that a device says of itself is in them.
public enum DeviceDoctor {
  /// Looks at a device, at its `address`. Changes nothing. May block: call it where that is allowed.
  ///
  /// `service` says who has the device open for others, where a service has: that is in nobody's way.
  public static func report(on device: Device, heldBy service: String? = nil) -> PortReport {
    var report = PortReport(device.address, isSimulated: device.source == .simulator)
    if let service { report.replaceHolder(service) }
    guard device.source == .udev else { return report }
    if let usb = device.usb { replacePermission(&report, usb, device.address) }
    lookAtUdev(device, &report)
    if let usb = device.usb {
      lookAtDrivers(device, usb, service, &report)
      lookAtPower(usb, &report)
    }
    lookAtRivals(device, isHeld: service != nil, &report)
    return report
  }

  /// For a node of usbfs a group isn't the way: a udev rule gives access to the user at the seat.
  private static func replacePermission(
    _ report: inout PortReport, _ usb: USBIdentity, _ address: DeviceAddress
  ) {
    guard let index = report.findings.firstIndex(where: { $0.subject == "permission" && $0.severity == .problem })
    else { return }
    if case .terminal(let path) = address {
      // Where there is a group that may open it, who joins that needs no rule.
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
    report.findings[index].message =
      "you may not write to \(usb.node): "
      + rule(usb, "access", 70, #"MODE="0660", GROUP="plugdev", TAG+="uaccess""#)
      + ", then plug it in again (plugdev: sudo groupadd -f plugdev && sudo usermod -aG plugdev $USER, and log in again)"
  }

  private static func lookAtUdev(_ device: Device, _ report: inout PortReport) {
    if !UdevLibrary.isRunning {
      report.add(
        "udev", .warning,
        "udev doesn't run here: there are no names by-id, permissions are the kernel's, and rules have no effect")
    } else if !device.isInitialized {
      report.add("udev", .warning, "udev hasn't finished with it: udevadm settle waits until it has")
    } else {
      report.add("udev", .ok, "its rules have been applied")
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
          "no driver has interface \(number), which is a serial port by its class: sudo modprobe cdc_acm")
      case nil:
        if device.address.transport == .usb { report.add("driver", .ok, "interface \(number) is free") }
      case "usbfs" where service != nil:
        report.add("driver", .ok, "the service has interface \(number) through usbfs")
      case "usbfs":
        report.add(
          "driver", .warning, "a program has interface \(number) through usbfs: end it (sudo fuser -v \(usb.node))")
      case let driver?:
        report.add("driver", severity(driver, device), message(driver, interface, device, usb))
      }
    }
  }

  /// CDC's abstract control model, which cdc_acm makes a terminal of (USB CDC PSTN 1.2, table 1).
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
    guard device.address.transport == .usb else { return "\(driver) has interface \(number)" }
    if driver == "usbhid" {
      return "usbhid has interface \(number): it is taken from it while the device is open, and given back"
    }
    let terminal = device.terminal.map { ", and \($0) is gone meanwhile" } ?? ""
    var text =
      "\(driver) has interface \(number): it is taken from it while the device is open, and given back\(terminal)"
    let configuration = usb.configuration.map { "\(usb.port):\($0).\(number)" }
    if let configuration, isPlain(driver), isPlain(configuration) {
      text +=
        "; to take it away for good until it is plugged in again: "
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
        return report.add("autosuspend", .ok, "the kernel doesn't suspend it")
      }
      let after = delay.map { " after \($0) ms" } ?? ""
      let now =
        isPlain(usb.devpath) ? "echo on | sudo tee \(directory)/control; for good: " : ""
      report.add(
        "autosuspend", .warning,
        "the kernel may suspend it when it is quiet\(after), and some accessories don't wake up well: \(now)"
          + rule(usb, "power", 70, #"ATTR{power/control}="on""#))
    case "on": report.add("autosuspend", .ok, "the kernel doesn't suspend it")
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
        report.add("ModemManager", .ok, "it is told to leave this alone")
      } else if PortReport.isRunning("ModemManager") {
        let cure =
          device.usb.map { ": " + rule($0, "no-modem", 70, #"ENV{ID_MM_DEVICE_IGNORE}="1""#) }
          ?? ": sudo systemctl mask --now ModemManager"
        report.add(
          "ModemManager", .warning,
          "it runs, and may take this for a modem and talk to it for some seconds after it is plugged in\(cure)")
      } else {
        report.add("ModemManager", .ok, "it doesn't run")
      }
    }
    guard let usb = device.usb else { return }
    let isClaimed = UdevLibrary.properties(ofDevice: usb.devpath)["BRLTTY_BRAILLE_DRIVER"] != nil
    if isClaimed || (!isHeld && PortReport.isRunning("brltty") && usb.interfaces.contains { $0.driver == "usbfs" }) {
      report.add(
        "brltty", .warning,
        "it takes devices with these numbers for Braille displays, and their terminals away. If you use none: "
          + "sudo systemctl mask --now brltty.service brltty-udev.service, then plug it in again")
    } else {
      report.add("brltty", .ok, "it doesn't claim this")
    }
  }

  // MARK: - Commands

  /// The commands that add a rule for devices of these numbers, and apply it.
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

  /// Whether a name can stand in a command as it is.
  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count < 512
      && name.utf8.allSatisfy {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
          || (UInt8(ascii: "-")...UInt8(ascii: ":")).contains($0)
          || $0 == UInt8(ascii: "_")
      }
  }
}
