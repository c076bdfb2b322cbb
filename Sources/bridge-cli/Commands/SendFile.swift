// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import ArgumentParser

struct SendFile: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
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

  @Argument(help: ArgumentHelp("The accessory.", valueName: "device")) var device: String
  @Argument(help: "The file here.") var file: String
  @Argument(help: "Where it goes, or what the accessory is to call it.") var path: String?
  @Option(help: "To an AF1 accessory: what the file is; other unless given.") var kind: FileKind?
  @OptionGroup var transfer: TransferOptions
  @OptionGroup var line: LineOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if path == "" { throw ValidationError("an empty PATH is none: leave it out, or say where the file goes") }
  }

  func run() async throws {
    let source = try await FileSource(file)
    let bar = ProgressBar(json: output.json)
    var sending: Sending?
    var device: Device?
    try await transfer.run(self.device, line, bar) { attachment in
      device = attachment.device
      if sending == nil { sending = try await Sending(source, to: attachment, self) }
      try await sending?.run(on: attachment, bar)
    }
    bar.clear()
    guard let device, let sending else { return }
    sending.view(device, file: file).show(output)
  }
}

/// What a file is to an AF1 accessory.
enum FileKind: String, ExpressibleByArgument, CaseIterable {
  case firmware, image, other

  var kind: FramedTransfer.Kind {
    switch self {
    case .firmware: .firmware
    case .image: .image
    case .other: .other
    }
  }
}

/// A file on its way to an accessory of some kind.
private enum Sending {
  case framed(FramedTransfer, FileKind)
  case brick(EV3Download)

  /// What bricks can have at most, by far.
  private static let brickLimit = 64 << 20

  init(_ source: FileSource, to attachment: Attachment, _ command: SendFile) async throws {
    let label = attachment.accessory.label
    switch attachment.accessory {
    case is FramedAccessory:
      let kind = command.kind ?? .other
      let name = command.path ?? String(command.file.split(separator: "/").last ?? "")
      self = .framed(try await FramedTransfer(source, kind: kind.kind, name: name), kind)
    case is EV3Brick:
      guard let path = command.path else {
        throw UsageError(
          description: "\(label) wants to know where the file goes: add a PATH, like ../prjs/tst/tst.rbf")
      }
      guard command.kind == nil else {
        throw UsageError(description: "--kind is for AF1 accessories: to \(label) the PATH says what a file is")
      }
      guard source.size <= Self.brickLimit else {
        throw AccessoryError(.misconfigured, "\(command.file) has more than \(Self.brickLimit) bytes")
      }
      self = .brick(EV3Download(try await source.read(0..<source.size), to: path))
    default: throw AccessoryError(.unsupported, "\(label) takes no files that this command knows of")
    }
  }

  mutating func run(on attachment: Attachment, _ bar: ProgressBar) async throws {
    let progress: TransferProgress = { bar.show($0, $1) }
    switch (self, attachment.accessory) {
    case (.framed(var transfer, let kind), let accessory as FramedAccessory):
      // What has got there counts, also when the rest doesn't.
      defer { self = .framed(transfer, kind) }
      try await transfer.run(on: accessory, progress: progress)
    case (.brick(var download), let brick as EV3Brick):
      defer { self = .brick(download) }
      try await download.run(on: brick, progress: progress)
    default: throw AccessoryError(.disconnected, "another accessory is at \(attachment.accessory.label) now")
    }
  }

  func view(_ device: Device, file: String) -> TransferView {
    switch self {
    case .framed(let transfer, let kind):
      TransferView(
        device: device, path: transfer.announcement.name, file: file, size: transfer.source.size,
        sum: .crc32(transfer.announcement.checksum, kind.rawValue), resumptions: transfer.resumptions)
    case .brick(let download):
      TransferView(
        device: device, path: download.path, file: file, size: download.bytes.count,
        sum: .md5(MD5.hexadecimal(download.bytes)), resumptions: download.resumptions)
    }
  }
}

/// What has become of a file.
struct TransferView {
  /// By what its contents are compared.
  enum Sum {
    case md5(String)
    /// With what the file is.
    case crc32(UInt32, String)
  }

  let device: Device
  let path, file: String
  let size: Int
  let sum: Sum
  let resumptions: Int

  func show(_ output: OutputOptions) {
    let (md5, kind, crc32): (String?, String?, String?) =
      switch sum {
      case .md5(let sum): (sum, nil, nil)
      case .crc32(let sum, let kind): (nil, kind, Hexadecimal.string(sum))
      }
    if output.json {
      return Output.json(
        TransferDocument(
          device: DeviceDocument(device), path: path, file: file, size_bytes: size, md5: OrNull(md5),
          kind: OrNull(kind), crc32: OrNull(crc32), resumptions: resumptions))
    }
    let text = md5.map { "MD5 \($0)" } ?? "CRC-32 \(crc32 ?? "")"
    Output.line("\(SafeText.escape(file, limit: 1_000)): \(size) bytes, \(text)")
  }
}
