// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

/// The keys of each mapping in a profile.
extension KnownKeys {
  static let profile = [
    "name", "description", "match", "transport", "driver", "protocol", "parameters", "protocols", "pacing",
    "policies", "poll", "sleep", "units", "writes", "connect", "share", "reset", "alarms", "low",
  ]
  static let rule = ["usb", "hid", "bluetooth", "driver", "name", "manufacturer", "model", "serial", "by_id", "path"]
  static let ruleUSB = ["vendor", "product", "interface_class"]
  static let ruleBluetooth = ["address", "name", "service", "manufacturer"]
  static let transport = ["prefer", "tty", "usb", "adapter", "ble", "rfcomm"]
  static let tty = [
    "baud", "data_bits", "parity", "stop_bits", "flow", "dtr", "rts", "rs485", "low_latency", "settle",
  ]
  static let rs485 = ["rts", "rts_after", "before", "after", "receive"]
  static let usb = ["interface", "alternate", "endpoints", "shape"]
  static let endpoints = ["in", "out"]
  static let ble = ["service", "write", "notify", "password", "key", "key_file"]
  static let rfcomm = ["channel"]
  static let share = ["pty", "unix", "ble", "uart", "writers", "unplug", "write"]
  static let pacing = ["gap", "window"]
  static let policies = ["reconnect", "retry", "max_attached", "idle_close", "silent"]
  static let silent = ["polls", "reset", "interval", "longest"]
  static let attempts = ["enabled", "tries", "interval", "backoff", "longest"]

  static let places: [Place] = [
    ("match: usb", ruleUSB), ("match: bluetooth", ruleBluetooth), ("transport: tty", tty), ("transport: usb", usb),
    ("transport: ble", ble), ("transport: rfcomm", rfcomm), ("transport: tty: rs485", rs485),
    ("transport", transport), ("match", rule), ("policies", policies), ("policies: reconnect", attempts),
    ("policies: silent", silent),
    ("pacing", pacing), ("share", share), ("the profile itself", profile),
  ]
}
