// SPDX-License-Identifier: Apache-2.0
//
// A row is a line.
// swift-format-ignore-file

import AccessoryBluetooth
import AccessoryConfiguration
import AccessoryCore
import AccessoryIO

/// The keys of a profile, by mappings. Everything else that lists them is made from these tables: see `KeyTable`.
enum ProfileKeys {
  static let profile = KeyTable("profile", "a profile", place: "the profile itself", [
    .init("name", .other("small letters, digits, `-`, `_`, `.`; up to 64"), "the profile's name; if several have the same name, only one is used", missing: "a name is missing: name: my-gadget"),
    .init("description", .text(limit: 200, called: "a description"), "for people, one line", usual: "none"),
    .init("match", .other("a rule, or a list of 1 to 64 rules of which one must match"), "which devices; see below", missing: "match is missing: the devices of this profile, for example match: {serial: A123}"),
    .init("transport", .other(""), "how it is opened; see below"),
    .init("driver", .other("`framed` ([AF1](af1.md)), `ev3`, `hm10`, `bluno`, `hm1x`, `mavlink`, [`ble-battery`](bluetooth.md#battery-and-maker-of-any-device), or the name of a described protocol" ), "the driver for its protocol", usual: "none: only its bytes can be used, by clients that know the protocol"),
    .init("protocol", .other("a protocol's name, or its description"), "the [described protocol](describing.md) that it speaks, in place of `driver`; see below"),
    .init("parameters", .other("`{battery_empty: 21.0 V, battery_full: 27.0 V}`"), "numbers that the accessory doesn't send, and that its protocol can use; see below", usual: "as the protocol has them"),
    .init("protocols", .other("a list of up to 32, without spaces"), "the names by which clients of the ExternalAccessory interface find it", usual: "none: they don't see it"),
    .init("pacing", .other("`reply` (after the last reply), `{gap: 20ms}` (also at least so long after the last request; up to `60s`), `{window: 4}` (while fewer, 1 to 255, are unanswered)" ), "when the next request may be sent", usual: "`reply`"),
    .init("policies", .other(""), "reconnecting, retrying and limits in the service; see below"),
    .init("poll", .other("`standard`, `off`, a time, or `{NAME: 10s}`"), "which readings the service requests regularly, and how often; see below", usual: "`standard`: set by its driver"),
    .init("sleep", .flag, "whether it may sleep: the service stops polling it when it doesn't answer; see below"),
    .init("units", .other("`[1, 2, 5]`, `1..16`, both (`[1..4, 9]`), or `scan`: those that answer"), "which accessories are on its line, where [several are](units.md)", usual: "none: there is only one"),
    .init("writes", allowed, "whether [commands and raw bytes that change something in it](writes.md) are permitted, if the user also gives `--write`", usual: "`refused`"),
    .init("connect", allowed, "whether the service searches for its [Bluetooth devices](bluetooth.md#profiles) and connects them by itself", usual: "`refused`: somebody must name them", since: "0.3"),
    .init("share", .other("`{pty: NAME}`, `{unix: NAME}`, both"), "where [the service offers it to other programs](sharing.md#from-the-service) of this machine, with the keys below", usual: "nowhere"),
    .init("reset", .other("`esp`, `arduino`, or a list of resets, as in a file for `--reset`"), "how [its board is reset by DTR and RTS](rfc2217.md#boards-that-are-reset-by-dtr-and-rts) when a client of `bridge --rfc2217` begins a reset", usual: "none: each change is made when it is asked for", since: "0.3"),
    .init("alarms", .other("a list of 1 to 32 rules, each with or without a name: `[battery < 20 %, hot: temperature > 45]`"), "[rules by which the service raises alarms](alarms.md)", usual: "none", since: "0.3"),
    .init("low", .other("a charge, a remaining time, or both: `15 %`, `5 min`, `15 %, 5 min`"), "from where on this UPS's battery is low for [NUT](nut.md#when-a-battery-is-low), beside what the UPS says itself", usual: "only what the UPS says", since: "0.3"),
  ])
  private static let allowed = KeyForm.words(["allowed", "refused"])

  // MARK: - Rules

  static let rule = KeyTable("rule", "a rule", place: "match", [
    .init("usb", .other(""), "by its numbers on USB"),
    .init("hid", .other("`hid: 0084:0004`"), "what it is by its HID reports, a page and a usage in hexadecimal: `0084:0004` is a UPS", since: "0.3"),
    .init("bluetooth", .other(""), "by what it is on the air", since: "0.3"),
    .init("driver", .text(limit: 64, called: "a driver's name"), "the driver that a simulator announces, like `driver: framed`"),
    .init("name", pattern, "its product string on USB; NAME in `bridge-cli list`"),
    .init("manufacturer", pattern, "its manufacturer"),
    .init("model", pattern, "its model, as a simulator announces it"),
    .init("serial", pattern, "its serial number"),
    .init("by_id", .other("`by_id: usb-Arduino_*-if00`"), "the name of its link in `/dev/serial/by-id`"),
    .init("path", .other("`path: /dev/ttyS0`, `path: /dev/serial/by-path/NAME`"), "its device node, or a link to it, or [its address on the network](network.md); every device in that place matches"),
  ])
  private static let pattern = KeyForm.other("a text, like `Uno*`")
  static let ruleUSB = KeyTable("rule_usb", "usb", place: "match: usb", [
    .init("vendor", .other("`usb: {vendor: 2341}`"), "the vendor's number, in hexadecimal as `lsusb` shows it"),
    .init("product", .other("`usb: {vendor: 0x2341, product: 0x0043}`"), "the product's number, in hexadecimal; not without the vendor's"),
    .init("interface_class", .other("`usb: {vendor: 2341, interface_class: ff}`"), "the class of one of its interfaces, in hexadecimal"),
  ])
  static let ruleBluetooth = KeyTable("rule_bluetooth", "bluetooth", place: "match: bluetooth", [
    .init("address", .other("`bluetooth: {address: \"A5:C2:37:00:11:22\"}`"), "the address of the [Bluetooth device](bluetooth.md)", since: "0.3"),
    .init("name", .other("`bluetooth: {name: JBD-*}`"), "its own name, or the one that you gave it", since: "0.3"),
    .init("service", .other("`bluetooth: {name: JBD-*, service: ff00}`"), "the UUID of a service that it advertises, of 4 or 32 digits", since: "0.3"),
    .init("manufacturer", .other("`bluetooth: {name: X*, manufacturer: 0x004c}`"), "a company whose data it sends, in hexadecimal as `bluetooth scan` shows it", since: "0.3"),
  ])

  // MARK: - Transports

  static let transport = KeyTable("transport", "transport", [
      // A device on the network has a single transport.
    .init("prefer", .words([TransportKind.terminal, .usb, .hidraw, .hidText, .ble, .rfcomm].map(\.rawValue)), "the transport, if it has several: also [HID reports](ups.md#beside-a-serial-port) and [text in them](ups.md#text-in-hid-reports)", usual: "its terminal; with Bluetooth `ble`"),
    .init("tty", .other(""), "settings of a terminal"),
    .init("usb", .other(""), "settings of USB endpoints"),
    .init("adapter", .other("`hci1`, or an address"), "the [Bluetooth adapter](bluetooth.md#addresses-and-names) that connects it, if its address names none", usual: "the one that knows it", since: "0.3"),
    .init("ble", .other(""), "settings of Bluetooth Low Energy", since: "0.3"),
    .init("rfcomm", .other(""), "settings of Bluetooth's serial ports", since: "0.3"),
    .init("esphome", .other(""), "settings of an [ESPHome node's serial port](esphome.md)", since: "0.3"),
  ])
  static let usb = KeyTable("usb", "usb", place: "transport: usb", [
    .init("interface", .whole(0...255), "the interface's number", usual: "the first vendor-specific one that fits"),
    .init("alternate", .whole(0...255), "its alternate setting", usual: "the first that fits"),
    .init("endpoints", .other(""), "its endpoints"),
    .init("shape", .choice(USBTransportConfiguration.Shape.self), "how bytes are put into transfers; see [USB endpoints](usb.md)", usual: "by the interface's class"),
  ])
  static let endpoints = KeyTable("endpoints", "endpoints", place: "transport: usb: endpoints", [
    .init("in", .other("`0x81` to `0x8f`"), "the address of the endpoint that sends, in hexadecimal", usual: "the interface's first"),
    .init("out", .other("`0x01` to `0x0f`"), "the address of the one that receives", usual: "the interface's first"),
  ])
  static let ble = KeyTable("ble", "ble", place: "transport: ble", [
    .init("service", .other("a UUID of 4 or 32 digits"), "the service with [the characteristics that carry its bytes](bluetooth.md#which-bytes)", usual: "that of a known serial port", since: "0.3"),
    .init("write", .other("likewise"), "the characteristic that is written", usual: "the only one that can be", since: "0.3"),
    .init("notify", .other("likewise"), "the characteristic that is listened to", usual: "the only one that sends", since: "0.3"),
    .init("password", .other("up to \(GATTGreeting.passwordLimit) printable ASCII characters without blanks"), "the password of a Bluno, which it wants first", usual: "the factory's, `DFRobot`", since: "0.3"),
    .init("key", .other("32 hexadecimal digits"), "the key of a device that encrypts what it [advertises](describing.md#advertisement)", usual: "none", since: "0.3"),
    .init("key_file", .other("an absolute path"), "the file that has this key and nothing else", usual: "none", since: "0.3"),
  ])
  static let rfcomm = KeyTable("rfcomm", "rfcomm", place: "transport: rfcomm", [
    .init("channel", .whole(1...30), "the channel of its serial port, where its address names none", usual: "the one that it tells", since: "0.3")
  ])
  static let esphome = KeyTable("esphome", "esphome", place: "transport: esphome", [
    .init("key_file", .other("an absolute path"), "the file with the node's key, of 44 characters, and nothing else", usual: "none: the node doesn't encrypt", since: "0.3")
  ])
  static let pacing = KeyTable("pacing", "pacing", [
    .init("gap", .milliseconds(0...60_000), "the shortest time from one request to the next"),
    .init("window", .whole(1...255), "so many requests may be unanswered"),
  ])

  // MARK: - The service

  static let policies = KeyTable("policies", "policies", [
    .init("reconnect", .other("as below"), "after the accessory was disconnected", usual: "as below"),
    .init("retry", .other("as below"), "after opening it failed", usual: "as below"),
    .init("max_attached", .other("1 to 1000, `any`"), "the maximum number of attached accessories of this kind", usual: "`any`"),
    .init("idle_close", .other("`1s` to `24h`, `never`"), "time without use after which it is closed", usual: "`never`"),
    .init("silent", .other("`ignore`, `reopen`, or as below"), "what is done with a device that is plugged in and doesn't answer", usual: "`ignore`", since: "0.3"),
  ])
  static let attempts = KeyTable("attempts", "reconnect", place: "policies: reconnect", [
    .init("enabled", .flag, "whether the service tries again", usual: "`true`"),
    .init("tries", .other("1 to 1000000, `forever`"), "how often", usual: "`3`"),
    .init("interval", pause, "time until the first try", usual: "`1s`"),
    .init("backoff", .other("1 to 10, as `1.5`"), "the factor from one pause to the next", usual: "`1`"),
    .init("longest", pause, "the longest pause", usual: "`1m`, or `interval` if that is longer"),
  ])
  static let silent = KeyTable("silent", "silent (or ignore, or reopen)", place: "policies: silent", [
    .init("polls", .whole(1...1_000), "after how many unanswered polls", usual: "`3`", since: "0.3"),
    .init("reset", allowed, "whether it may be reset on its USB bus", usual: "`refused`", since: "0.3"),
    .init("interval", pause, "time until it is opened again; it doubles each time", usual: "`5s`", since: "0.3"),
    .init("longest", pause, "the longest such time", usual: "`5m`, or `interval` if that is longer", since: "0.3"),
  ])
  private static let pause = KeyForm.milliseconds(10...86_400_000)
  static let share = KeyTable("share", "share", [
    .init("pty", .other("small letters, digits, `-`, `_`, `.`"), "the name of a terminal, a link in the service's folder `shared`", usual: "none"),
    .init("unix", .other("likewise"), "the name of a socket in that folder", usual: "none"),
    .init("ble", .other("at most 26 bytes"), "the name of a serial port that [phones find by Bluetooth](phone-app.md)", usual: "none", since: "0.3"),
    .init("uart", .choice(GATTUART.self), "the form of that serial port", usual: "`hm10`", since: "0.3"),
    .init("writers", .choice(ProfileSharing.Writers.self), "whose bytes reach the accessory; `one`: who writes first, until it leaves; with `none` the service goes on asking it meanwhile", usual: "`many`"),
    .init("unplug", .choice(ProfileSharing.Unplug.self), "what programs see when it is unplugged; with `keep` they stay and go on when it is back", usual: "`hang-up`"),
    .init("write", .flag, "whether they ask to [change something in it](writes.md), where bytes may; `writes: allowed` is needed, too"),
  ])

  static let all = [
    ruleUSB, ruleBluetooth, TerminalKeys.tty, usb, ble, rfcomm, esphome, TerminalKeys.rs485, endpoints, transport, rule, policies, attempts,
    silent, pacing, share, profile,
  ]
  static let places = all.map(\.place)
}
