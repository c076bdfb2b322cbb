// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import ArgumentParser
import Glibc

/// Options of commands that carry files.
struct TransferOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("When it is interrupted, how long to wait for the accessory to come back.", valueName: "time"),
    transform: TimeArgument.read)
  var patience: TimeArgument?

  /// Carries a file, and shows how far it is: through the service that holds the accessory, by `held`; or by the transfer
  /// that `make` gives. When the accessory goes meanwhile, it is opened again as soon as it is back, and the transfer goes
  /// on.
  func carry(
    _ options: FileOptions, held: (HeldDevice, TransferWatcher) async throws -> Carried,
    make: (any AccessoryFiles) throws -> any FileTransfer
  ) async throws -> Carried {
    let watcher = TransferWatcher(
      device: options.device, patience: patience?.duration ?? .seconds(10),
      bar: ProgressBar(isShown: !options.output.json))
    defer { watcher.bar.clear() }
    if let device = try await HeldDevice.find(options.device, options.line) { return try await held(device, watcher) }
    var begun: (any FileTransfer)?
    var deadline: MonotonicTime?
    while true {
      do {
        return try await options.with { files in
          guard let open = files as? OpenFiles else { throw AccessoryError(.busy, "a service has taken the accessory") }
          deadline = nil
          var transfer = try begun ?? make(open.files)
          defer { begun = transfer }
          try await transfer.run(on: open.attachment.accessory) { watcher.bar.show($0, $1) }
          return Carried(device: open.document, resumptions: transfer.resumptions, md5: transfer.md5)
        }
      } catch {
        // What was never there is not waited for.
        let isGone = (error as? AccessoryError)?.kind == .disconnected
        guard isGone || deadline != nil, watcher.patience > .zero else { throw error }
        let now = IOThread.shared.now
        if deadline == nil { watcher.interrupted() }
        let end = deadline ?? now + watcher.patience
        deadline = end
        guard now < end, !Task.isCancelled else { throw error }
        await IOThread.shared.sleep(for: .milliseconds(250))
      }
    }
  }
}

struct GetFile: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Gets a file from an accessory.",
    discussion: """
      When the accessory goes meanwhile, it is waited for, and the rest is got when it is back.

      EXAMPLES
        bridge-cli get-file EV3 ../prjs/tst/tst.rbf
        bridge-cli get-file EV3 ../prjs/tst/log.rtf ./log.txt --force
      """)

  @OptionGroup var files: FileOptions
  @Argument(help: "The accessory's file.") var path: String
  @Argument(help: "Where to put it; else under its own name here.") var file: String?
  @Flag(help: "Replace a file that is there.") var force = false
  @OptionGroup var transfer: TransferOptions
  var output: OutputOptions { files.output }

  private var place: String { file ?? String(path.split(separator: "/").last ?? "") }

  func validate() throws {
    guard !["", ".", ".."].contains(place) else { throw ValidationError("\(path) is no file's path") }
  }

  func run() async throws {
    if !force, access(place, F_OK) == 0 {
      throw AccessoryError(.misconfigured, "\(place) exists: choose another place, or say --force")
    }
    let content = MemoryFile()
    let carried = try await transfer.carry(files) { held, watcher in
      try await held.get(path, into: content, watcher)
    } make: { files in
      try files.getting(path, limit: LocalFile.limit, into: content)
    }
    let bytes = content.bytes
    if let md5 = carried.md5, md5 != MD5.hexadecimal(bytes) {
      throw AccessoryError(.badData, "\(path) has changed while it was got from \(files.device): get it once more")
    }
    try LocalFile.write(bytes, to: place, replacing: force)
    TransferView.show(bytes, carried, path: path, file: place, output)
  }
}

struct SendFile: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Sends a file to an accessory.",
    discussion: """
      On a brick, files may go below ../apps, ../prjs and ../tools; folders that are missing are made. When the accessory \
      goes meanwhile, it is waited for, and the rest is sent when it is back.

      EXAMPLES
        bridge-cli send-file EV3 tst.rbf ../prjs/tst/tst.rbf
      """)

  @OptionGroup var files: FileOptions
  @Argument(help: "The file here.") var file: String
  @Argument(help: "Where it goes.") var path: String
  @OptionGroup var transfer: TransferOptions
  var output: OutputOptions { files.output }

  func run() async throws {
    let bytes = try LocalFile.read(file)
    let content = MemoryFile(bytes)
    let carried = try await transfer.carry(files) { held, watcher in
      try await held.send(content, to: path, watcher)
    } make: { files in
      try files.sending(content, to: path)
    }
    TransferView.show(bytes, carried, path: path, file: file, output)
  }
}

enum TransferView {
  static func show(
    _ bytes: [UInt8], _ carried: Carried, path: String, file: String, _ output: OutputOptions
  ) {
    let sum = MD5.hexadecimal(bytes)
    if output.json {
      return Output.json(
        TransferDocument(
          device: carried.device, path: path, file: file, size_bytes: bytes.count, md5: sum,
          resumptions: carried.resumptions))
    }
    Output.line("\(SafeText.escape(file)): \(bytes.count) bytes, MD5 \(sum)")
  }
}
