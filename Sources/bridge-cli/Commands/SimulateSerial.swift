// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessorySimulator
import CommandOutput
import Glibc

/// Runs a simulator, and shows what happens to it, for people or for programs.
struct SimulatorView {
  let json: Bool
  let serial: String
  let seed: UInt64
  let link: String?
  /// Whether people are told the seed.
  let showsSeed: Bool

  init(json: Bool, start: SimulatorStart, link: String?, showsSeed: Bool = false) {
    (self.json, self.link, self.showsSeed) = (json, link, showsSeed)
    (serial, seed) = (start.serialNumber, start.seed)
  }

  /// Runs the simulator until it is interrupted, or unplugged for good. SIGUSR1 calls `signal`. `news` turns an event into text for people
  /// and fields of JSON; nil hides the event.
  func run<Hosted: Simulator>(
    _ simulator: Hosted, comesBack: Bool, onSignal signal: (@Sendable (Hosted) async -> Void)? = nil,
    news: (Hosted.Event) -> SimulatorNews?
  ) async throws {
    let handler = signal.flatMap { signal in
      try? Signals([SIGUSR1]) { _ in Task { await signal(simulator) } }
    }
    try await simulator.plugIn()
    await withTaskCancellationHandler {
      for await event in simulator.events {
        show(news(event))
        if event == .unplugged, !comesBack { break }
      }
    } onCancel: {
      Task { await simulator.stop() }
    }
    await simulator.stop()
    withExtendedLifetime(handler) {}
  }

  func show(_ news: SimulatorNews?) {
    guard let news else { return }
    guard json else {
      Output.line(text(of: news))
      if news.path != nil, showsSeed { Output.line("seed \(seed)") }
      return
    }
    Output.json(SimulatorDocument(news, serial: serial, seed: seed, link: link))
  }

  private func text(of news: SimulatorNews) -> String {
    if let state = news.state { return LineView.state(state) }
    guard let path = news.path else { return news.line }
    let link = link.map { ", linked from \(SafeText.escape($0))" } ?? ""
    return "\(SafeText.escape(serial)) is plugged in at \(path)\(link)"
  }
}

/// Serial numbers for simulated accessories.
enum SimulatedSerial {
  /// What the user chose, or the first of PREFIX1, PREFIX2, … that no simulator uses, with the number padded to `digits`
  /// digits. `usb`: nor any USB device of this machine.
  static func chosen(
    _ choice: String? = nil, or prefix: String, digits: Int, usb: Bool = false
  ) async throws -> String {
    if let choice { return choice }
    let announced = try await SimulatorSource().devices().compactMap(\.serialNumber)
    let taken = Set(announced + (usb ? usbSerialNumbers() : []))
    for number in 1...999_999 {
      let text = String(number)
      let candidate = prefix + String(repeating: "0", count: max(0, digits - text.count)) + text
      if !taken.contains(candidate) { return candidate }
    }
    return prefix
  }

  /// The serial numbers of all USB devices that are plugged in.
  private static func usbSerialNumbers() -> [String] {
    let devices = "/sys/bus/usb/devices"
    return Directory.names(in: devices).compactMap { name in
      (try? SmallFile.read("\(devices)/\(name)/serial", limit: 1_024)).map {
        String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      }
    }
  }
}
