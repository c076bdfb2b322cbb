// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import CommandOutput
import Console

/// What commands would send: the frames, their meaning, and the refusal if a permission is missing.
struct DryRun {
  private let device: DeviceDocument
  private let frames: [[UInt8]]
  private let refusal: String?
  private let driver: String

  /// A dry run. Nothing is sent, and nothing is opened for it.
  init(_ calls: [CommandCall], on found: any FoundAccessory, write: Bool) async throws {
    let preview = try await found.preview(calls, write: write)
    (device, frames, refusal) = (DeviceDocument(preview.device), preview.frames, preview.refusal)
    driver = found.driverName ?? ""
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
      Output.wrapped("would send \(Amount.bytes(bytes.count)): \(hex)\(says)", indent: 2)
    }
    if let refusal {
      Output.line(Style.standardOutput.yellow("it would be refused: \(SafeText.escape(refusal, limit: 500))"))
    }
    if let remark { Output.note("nothing was sent; \(remark)") } else { Output.note("nothing was sent") }
  }

  /// How the frames may differ when an accessory is there, if they can.
  private var remark: String? {
    KnownDrivers.driver(named: driver).flatMap { $0.previewRemark.isEmpty ? nil : $0.previewRemark }
  }

  /// The meaning of a frame, if the driver's frames can be decoded.
  private func text(of bytes: [UInt8]) -> String {
    guard var reader = TraceFraming(driver: driver).reader else { return "" }
    let reads = reader.decode(bytes, .toDevice) + reader.idle(.toDevice) + reader.expire(.toDevice)
    return reads.compactMap { read in
      guard case .frame(let words) = read.content else { return nil }
      return words.summary.isEmpty ? words.title : "\(words.title)  \(words.summary)"
    }.joined(separator: "; ")
  }
}
