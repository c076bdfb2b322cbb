// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols
import ArgumentParser
import CommandOutput

struct SendFile: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "send",
    abstract: "Sends a file to an accessory.",
    discussion: """
      On an AF1 accessory, PATH is the name of the file; default: its name here. On an EV3 brick, PATH is below ../apps, ../prjs \
      or ../tools. After an unplug the command waits for the accessory, and sends the rest. After Ctrl-C the accessory discards \
      the part that it has received.

      EXAMPLES
        bridge-cli file send ACC0042 firmware.bin --kind firmware
        bridge-cli file send EV3 tst.rbf ../prjs/tst/tst.rbf
      """)

  @OptionGroup var target: FileTarget
  @Argument(help: "The file on this machine.", completion: .file()) var file: String
  @Argument(help: "The path or name of the file on the accessory.", completion: CompletionWords.nothing) var path:
    String?
  @Option(help: "For an AF1 accessory: the kind of the file.") var kind: FileKind?
  @OptionGroup var transfer: TransferOptions

  func validate() throws {
    if path == "" { throw ValidationError("PATH is empty: leave it out, or give the path on the accessory") }
  }

  func run() async throws {
    let content = try await DiskFile.open(file)
    let path = path ?? String(file.split(separator: "/").last ?? "")
    let report = try await transfer.carry(self) { files in
      try files.makeSendTransfer(content, to: path, as: kind)
    }
    // An accessory without a checksum command takes only small files, so the file's MD5 is computed here.
    let md5 = report.crc32 == nil ? MD5.hexadecimal(try await content.bytes(at: 0, count: content.count)) : nil
    var view = TransferView(report: report, path: path, file: file, size: content.count, md5: md5)
    if report.crc32 != nil { view.kind = kind ?? .other }
    view.show(output)
  }
}

extension FileKind: ExpressibleByArgument {}

/// The result of a transfer.
struct TransferView {
  let report: TransferReport
  let path, file: String
  let size: Int
  let md5: String?
  var kind: FileKind?

  func show(_ output: OutputOptions) {
    let crc32 = report.crc32.map { Hexadecimal.string($0) }
    if output.json {
      return Output.json(
        TransferDocument(
          device: report.device, path: path, file: file, size_bytes: size, md5: md5,
          kind: kind?.rawValue, crc32: crc32, resumptions: report.resumptions))
    }
    let sum = crc32.map { "CRC-32 \($0)" } ?? md5.map { "MD5 \($0)" } ?? "no checksum"
    Output.line("\(SafeText.escape(file, limit: 1_000)): \(Amount.bytes(size)), \(sum)")
  }
}
