// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore

/// Writes a profile as text, with all settings, including defaults. Reading the text gives the same profile.
public enum ProfileText {
  /// The YAML text. It ends with a line feed.
  public static func text(_ profile: Profile) -> String {
    var lines = ["name: \(profile.name)"]
    if let description = profile.description { lines.append("description: \(Quoted.whole(description))") }
    lines.append("match:")
    lines += profile.rules.flatMap(rule)
    lines.append("transport:")
    if let way = profile.transport.preferredTransport { lines.append("  prefer: \(way.rawValue)") }
    lines +=
      terminal(profile.transport.terminal) + usb(profile.transport.usb) + bluetooth(profile.transport)
      + node(profile.transport)
    if let text = profile.described?.text {
      lines += ["protocol:", String(text.dropLast())]
    } else if let driver = profile.driver {
      lines.append("driver: \(Quoted.whole(driver))")
    }
    if !profile.parameters.isEmpty {
      lines.append("parameters:")
      lines += profile.parameters.sorted { $0.key < $1.key }.map { "  \($0.key): \(NumberText.text($0.value))" }
    }
    if !profile.protocolStrings.isEmpty {
      lines.append("protocols:")
      lines += profile.protocolStrings.map { "  - \(Quoted.whole($0))" }
    }
    lines.append("pacing: \(pacing(profile))")
    lines.append("poll: \(polls(profile.polls))")
    lines.append("sleep: \(profile.polls.letsSleep)")
    if let units = profile.units { lines.append("units: \(text(units))") }
    lines.append("writes: \(profile.allowsWrites ? "allowed" : "refused")")
    if profile.rules.contains(where: { $0.bluetooth != nil }) {
      lines.append("connect: \(profile.allowsConnecting ? "allowed" : "refused")")
    }
    if let sharing = profile.sharing { lines.append("share: \(text(sharing))") }
    if let reset = profile.reset {
      lines += reset.text.map { ["reset:", String($0.dropLast())] } ?? ["reset: \(reset.name ?? "")"]
    }
    if let limit = profile.lowLimit { lines.append("low: \(limit)") }
    if !profile.alarms.isEmpty {
      lines.append("alarms:")
      lines += profile.alarms.map { "  - \(Quoted.whole($0.description))" }
    }
    lines.append("policies:")
    lines += attempts("reconnect", profile.policies.reconnect) + attempts("retry", profile.policies.retry)
    lines.append("  max_attached: \(profile.policies.maximumAttached.map(String.init) ?? "any")")
    lines.append("  idle_close: \(profile.policies.idleClose.map(TimeText.text) ?? "never")")
    if let recovery = profile.policies.recovery {
      lines.append(
        "  silent: {polls: \(recovery.polls), reset: \(recovery.resetsBus ? "allowed" : "refused"), "
          + "interval: \(TimeText.text(recovery.interval)), longest: \(TimeText.text(recovery.longestInterval))}")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The text of a profile with the settings of another, `model`, but with the name, the match rules and the alarms of its own. Settings
  /// that a profile has by itself are left out.
  package static func text(_ own: Profile, like model: Profile, drivers: DriverLibrary) -> String {
    var profile = model
    (profile.name, profile.rules, profile.alarms) = (own.name, own.rules, own.alarms)
    profile.allowsConnecting = own.allowsConnecting || model.allowsConnecting
    profile.origin = own.origin
    let whole = text(profile)
    let usual = sections(text(Profile(name: "", rules: [])))
    let brief = sections(whole).filter { !usual.contains($0) }.joined()
    let read = try? ProfileReader.read(Array(brief.utf8), file: "", drivers: drivers, protocols: drivers.protocols)
    return read == profile ? brief : whole
  }

  /// The text in parts, each of which begins with a key.
  private static func sections(_ text: String) -> [String] {
    text.split(separator: "\n").reduce(into: []) { sections, line in
      if line.first == " ", !sections.isEmpty {
        sections[sections.count - 1] += line + "\n"
      } else {
        sections.append(line + "\n")
      }
    }
  }

  private static func rule(_ rule: DeviceRule) -> [String] {
    var lines: [String] = []
    let numbers = [
      rule.usbVendor.map { "vendor: 0x\(HexNumber.text($0))" },
      rule.usbProduct.map { "product: 0x\(HexNumber.text($0))" },
      rule.interfaceClass.map { "interface_class: 0x\(HexNumber.text($0))" },
    ].compactMap { $0 }
    if !numbers.isEmpty { lines.append("usb: {\(numbers.joined(separator: ", "))}") }
    if let usage = rule.hidUsage { lines.append("hid: \(usage)") }
    if let bluetooth = rule.bluetooth {
      let parts = [
        bluetooth.address.map { "address: \(Quoted.whole($0.description))" },
        bluetooth.name.map { "name: \(Quoted.whole($0.text))" },
        bluetooth.service.map { "service: \(Quoted.whole($0.description))" },
        bluetooth.manufacturer.map { "manufacturer: 0x\(HexNumber.text($0))" },
      ].compactMap { $0 }
      lines.append("bluetooth: {\(parts.joined(separator: ", "))}")
    }
    let texts = [
      ("driver", rule.driver), ("name", rule.name?.text), ("manufacturer", rule.manufacturer?.text),
      ("model", rule.model?.text), ("serial", rule.serialNumber?.text), ("by_id", rule.byID?.text),
      ("path", rule.path),
    ]
    for (key, text) in texts {
      if let text { lines.append("\(key): \(Quoted.whole(text))") }
    }
    return lines.enumerated().map { ($0 == 0 ? "  - " : "    ") + $1 }
  }

  private static func terminal(_ settings: TerminalSettings) -> [String] {
    var lines = [
      "  tty:", "    baud: \(settings.baudRate)", "    data_bits: \(settings.dataBits)",
      "    parity: \(settings.parity.rawValue)", "    stop_bits: \(settings.stopBits)",
      "    flow: \(settings.flowControl.rawValue)", "    dtr: \(settings.dtr.rawValue)",
      "    rts: \(settings.rts.rawValue)",
    ]
    if let rs485 = settings.rs485 {
      lines += [
        "    rs485:", "      rts: \(rs485.rtsOnSend ? "high" : "low")",
        "      rts_after: \(rs485.rtsAfterSend ? "high" : "low")",
        "      before: \(rs485.delayBeforeSend.inMilliseconds)ms",
        "      after: \(rs485.delayAfterSend.inMilliseconds)ms", "      receive: \(rs485.receivesWhileSending)",
      ]
    }
    return lines + ["    low_latency: \(settings.lowLatency)", "    settle: \(TimeText.text(settings.settle))"]
  }

  /// Writes the settings for USB. Those that are found from the descriptors are left out.
  private static func usb(_ settings: USBSettings) -> [String] {
    var lines: [String] = []
    if let interface = settings.interface { lines.append("    interface: \(interface)") }
    if let alternate = settings.alternateSetting { lines.append("    alternate: \(alternate)") }
    let endpoints = [
      settings.inEndpoint.map { "in: 0x\(HexNumber.text($0))" },
      settings.outEndpoint.map { "out: 0x\(HexNumber.text($0))" },
    ].compactMap { $0 }
    if !endpoints.isEmpty { lines.append("    endpoints: {\(endpoints.joined(separator: ", "))}") }
    if let shape = settings.shape { lines.append("    shape: \(shape.rawValue)") }
    return lines.isEmpty ? [] : ["  usb:"] + lines
  }

  /// Writes the settings for Bluetooth, likewise.
  private static func bluetooth(_ settings: TransportSettings) -> [String] {
    let gatt = [("service", settings.gatt.service), ("write", settings.gatt.write), ("notify", settings.gatt.notify)]
    var named = gatt.compactMap { key, uuid in uuid.map { "    \(key): \(Quoted.whole($0.description))" } }
    if let password = settings.gatt.password { named.append("    password: \(Quoted.whole(password))") }
    switch settings.advertisementKey {
    case .bytes(let key)?: named.append("    key: \(Hexadecimal.string(key))")
    case .file(let path)?: named.append("    key_file: \(Quoted.whole(path))")
    case nil: break
    }
    return (settings.bluetoothAdapter.map { ["  adapter: \(Quoted.whole($0.description))"] } ?? [])
      + (named.isEmpty ? [] : ["  ble:"] + named)
      + (settings.rfcommChannel.map { ["  rfcomm: {channel: \($0)}"] } ?? [])
  }

  private static func node(_ settings: TransportSettings) -> [String] {
    settings.nodeKeyFile.map { ["  esphome: {key_file: \(Quoted.whole($0))}"] } ?? []
  }

  private static func pacing(_ profile: Profile) -> String {
    switch profile.pacing {
    case .reply: "reply"
    case .gap(let time): "{gap: \(TimeText.text(time))}"
    case .window(let count): "{window: \(count)}"
    }
  }

  private static func polls(_ policy: PollPolicy) -> String {
    func text(_ interval: PollPolicy.Interval) -> String { interval.duration.map(TimeText.text) ?? "off" }
    if policy.named.isEmpty { return policy.all.map(text) ?? "standard" }
    let named = policy.named.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }
    return "{\(named.joined(separator: ", "))}"
  }

  private static func text(_ sharing: ProfileSharing) -> String {
    var entries = [sharing.terminal.map { "pty: \($0)" }, sharing.socket.map { "unix: \($0)" }].compactMap { $0 }
    if let name = sharing.airName { entries += ["ble: \(Quoted.whole(name))", "uart: \(sharing.airForm.rawValue)"] }
    entries += ["writers: \(sharing.writers.rawValue)", "unplug: \(sharing.unplug.rawValue)"]
    if sharing.asksToWrite { entries.append("write: true") }
    return "{\(entries.joined(separator: ", "))}"
  }

  private static func text(_ units: UnitChoice) -> String {
    guard case .list(let units) = units else { return "scan" }
    return "[\(units.map(String.init).joined(separator: ", "))]"
  }

  private static func attempts(_ name: String, _ policy: RetryPolicy) -> [String] {
    let (whole, thousandths) = policy.backoffThousandths.quotientAndRemainder(dividingBy: 1_000)
    let digits = String(thousandths)
    let decimals = thousandths == 0 ? "" : "." + String(repeating: "0", count: 3 - digits.count) + digits
    return [
      "  \(name):", "    enabled: \(policy.isEnabled)", "    tries: \(policy.tries.map(String.init) ?? "forever")",
      "    interval: \(TimeText.text(policy.interval))", "    backoff: \(whole)\(decimals)",
      "    longest: \(TimeText.text(policy.longestInterval))",
    ]
  }
}
