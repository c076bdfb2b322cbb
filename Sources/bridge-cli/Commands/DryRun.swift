// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import CommandOutput
import Console

/// What commands would send: their bytes, what these say, and the permission that is missing, if one is.
struct DryRun {
  private let device: DeviceDocument
  private let frames: [[UInt8]]
  private let refusal: String?
  private let driver: String

  /// Of a device that a service holds. It opens nothing for this, and sends nothing.
  init(_ calls: [CommandCall], on held: HeldDevice, write: Bool) async throws {
    try held.requireDriver()
    let told = try await held.calls.preview(calls.map { Bridge.CommandCall($0) }, write: write)
    (device, frames, refusal) = (DeviceDocument(told.device), told.frames, told.refusal)
    driver = held.accessory.driver ?? ""
  }

  /// Of a device that would be opened here.
  init(_ calls: [CommandCall], of driver: Driver, on target: Target, write: Bool) throws {
    (device, frames) = (DeviceDocument(target.device), try driver.preview(of: calls, unit: target.device.unit))
    refusal = target.opener.writeRules.refusal(of: calls, isAsked: write)?.message
    self.driver = driver.name
  }

  func show(_ output: OutputOptions) {
    let texts = frames.map { text(of: $0) }
    if output.json {
      return Output.json(
        DryRunDocument(
          device, zip(frames, texts).map { DryRunDocument.Frame($0, text: $1.isEmpty ? nil : $1) }, refusal: refusal,
          remark: remark))
    }
    for (bytes, text) in zip(frames, texts) {
      let hex = bytes.map { Hexadecimal.string([$0]) }.joined(separator: " ")
      let says = text.isEmpty ? "" : "  " + SafeText.escape(text, limit: 500)
      Output.line("would send \(bytes.count) byte\(bytes.count == 1 ? "" : "s"): \(hex)\(says)")
    }
    if let refusal {
      Output.line(Style.standardOutput.yellow("it would be refused: \(SafeText.escape(refusal, limit: 500))"))
    }
    if let remark { Output.note("nothing was sent; \(remark)") } else { Output.note("nothing was sent") }
  }

  /// What may be otherwise when an accessory is there.
  private var remark: String? {
    KnownDrivers.driver(named: driver).flatMap { $0.previewRemark.isEmpty ? nil : $0.previewRemark }
  }

  /// What a frame says, where the driver's frames can be read.
  private func text(of bytes: [UInt8]) -> String {
    guard var reader = TraceFraming(driver: driver).reader else { return "" }
    let reads = reader.decode(bytes, .toDevice) + reader.idle(.toDevice) + reader.expire(.toDevice)
    return reads.compactMap { read in
      guard case .frame(let words) = read.content else { return nil }
      return words.summary.isEmpty ? words.title : "\(words.title)  \(words.summary)"
    }.joined(separator: "; ")
  }
}
