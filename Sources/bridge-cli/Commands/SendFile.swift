// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols
import ArgumentParser
import CommandOutput

struct SendFile: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "send-file",
    abstract: "Sends a file to an accessory.",
    discussion: """
      To an AF1 accessory: PATH is the name that it is told, FILE's own unless given. In the end the accessory compares \
      the checksum.

      To a brick: PATH is where it goes, below ../apps, ../prjs or ../tools; folders that are missing are made.

      On a terminal a bar shows how far it is; with --json a document at every whole percent, and the result at the end. \
      When the accessory goes meanwhile, or restarts, it is waited for, and the rest is sent when it is back. Ctrl-C has \
      the accessory forget what it got; a second one ends at once.

      EXAMPLES
        bridge-cli send-file ACC0042 firmware.bin --kind firmware
        bridge-cli send-file /dev/ttyUSB0 logo.png --kind image --json
        bridge-cli send-file EV3 tst.rbf ../prjs/tst/tst.rbf
      """)

  @Argument(help: ArgumentHelp("The accessory.", valueName: "device"), completion: CompletionWords.devices)
  var device: String
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The file here.", completion: .file()) var file: String
  @Argument(help: "Where it goes, or what the accessory is to call it.", completion: CompletionWords.nothing) var path:
    String?
  @Option(help: "To an AF1 accessory: what the file is; other unless given.") var kind: FileKind?
  @OptionGroup var transfer: TransferOptions

  func validate() throws {
    if path == "" { throw ValidationError("an empty PATH is none: leave it out, or say where the file goes") }
  }

  func run() async throws {
    let content = try await DiskFile(file)
    let path = path ?? String(file.split(separator: "/").last ?? "")
    let carried = try await transfer.carry(self) { held, watcher in
      try await held.send(content, to: path, as: kind, watcher)
    } make: { files in
      try files.sending(content, to: path, as: kind)
    }
    // An accessory that compares no checksum has taken a small file.
    let md5 = carried.crc32 == nil ? MD5.hexadecimal(try await content.bytes(at: 0, count: content.count)) : nil
    var view = TransferView(carried: carried, path: path, file: file, size: content.count, md5: md5)
    if carried.crc32 != nil { view.kind = kind ?? .other }
    view.show(output)
  }
}

extension FileKind: ExpressibleByArgument {}

/// What has become of a file.
struct TransferView {
  let carried: Carried
  let path, file: String
  let size: Int
  let md5: String?
  var kind: FileKind?

  func show(_ output: OutputOptions) {
    let crc32 = carried.crc32.map { Hexadecimal.string($0) }
    if output.json {
      return Output.json(
        TransferDocument(
          device: carried.device, path: path, file: file, size_bytes: size, md5: OrNull(md5),
          kind: OrNull(kind?.rawValue), crc32: OrNull(crc32), resumptions: carried.resumptions))
    }
    let sum = crc32.map { "CRC-32 \($0)" } ?? md5.map { "MD5 \($0)" } ?? "no checksum"
    Output.line("\(SafeText.escape(file, limit: 1_000)): \(size) bytes, \(sum)")
  }
}
