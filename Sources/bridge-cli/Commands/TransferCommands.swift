// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import ArgumentParser
import Glibc
import SystemPackage

/// Options of commands that carry files.
struct TransferOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("When it is interrupted, how long to wait for the accessory to come back.", valueName: "time"),
    transform: TimeArgument.read)
  var patience: TimeArgument?

  /// Runs `body` until it is through. When the accessory goes meanwhile, it is opened again as soon as it is back, and
  /// `body` goes on.
  func run(
    _ brick: BrickOptions, _ bar: ProgressBar, _ body: (Attachment, EV3Brick) async throws -> Void
  ) async throws {
    let patience = patience?.duration ?? .seconds(10)
    var deadline: MonotonicTime?
    while true {
      do {
        return try await brick.with { attachment, brick in
          deadline = nil
          try await body(attachment, brick)
        }
      } catch {
        bar.clear()
        // What was never there is not waited for.
        let isGone = (error as? AccessoryError)?.kind == .disconnected
        guard isGone || deadline != nil, patience > .zero else { throw error }
        let now = IOThread.shared.now
        if deadline == nil { Output.note("\(brick.device) is gone: waiting for it to come back") }
        let end = deadline ?? now + patience
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

  @OptionGroup var brick: BrickOptions
  @Argument(help: "The accessory's file.") var path: String
  @Argument(help: "Where to put it; else under its own name here.") var file: String?
  @Flag(help: "Replace a file that is there.") var force = false
  @OptionGroup var transfer: TransferOptions
  var output: OutputOptions { brick.output }

  private var place: String { file ?? String(path.split(separator: "/").last ?? "") }

  func validate() throws {
    guard !["", ".", ".."].contains(place) else { throw ValidationError("\(path) is no file's path") }
  }

  func run() async throws {
    if !force, access(place, F_OK) == 0 {
      throw AccessoryError(.misconfigured, "\(place) exists: choose another place, or say --force")
    }
    var upload = EV3Upload(path)
    let bar = ProgressBar(isShown: !output.json)
    var bytes: [UInt8] = []
    var device: Device?
    try await transfer.run(brick, bar) { attachment, brick in
      device = attachment.device
      bytes = try await upload.run(on: brick) { bar.show($0, $1) }
    }
    bar.clear()
    try LocalFile.write(bytes, to: place, replacing: force)
    guard let device else { return }
    TransferView.show(bytes, device, path: path, file: place, upload.resumptions, output)
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

  @OptionGroup var brick: BrickOptions
  @Argument(help: "The file here.") var file: String
  @Argument(help: "Where it goes.") var path: String
  @OptionGroup var transfer: TransferOptions
  var output: OutputOptions { brick.output }

  func run() async throws {
    let bytes = try LocalFile.read(file)
    var download = EV3Download(bytes, to: path)
    let bar = ProgressBar(isShown: !output.json)
    var device: Device?
    try await transfer.run(brick, bar) { attachment, brick in
      device = attachment.device
      try await download.run(on: brick) { bar.show($0, $1) }
    }
    bar.clear()
    guard let device else { return }
    TransferView.show(bytes, device, path: path, file: file, download.resumptions, output)
  }
}

enum TransferView {
  static func show(
    _ bytes: [UInt8], _ device: Device, path: String, file: String, _ resumptions: Int, _ output: OutputOptions
  ) {
    let sum = MD5.hexadecimal(bytes)
    if output.json {
      return Output.json(
        TransferDocument(
          device: DeviceDocument(device), path: path, file: file, size_bytes: bytes.count, md5: sum,
          resumptions: resumptions))
    }
    Output.line("\(SafeText.escape(file)): \(bytes.count) bytes, MD5 \(sum)")
  }
}

/// Files of this machine.
enum LocalFile {
  /// What bricks can have at most, by far.
  private static let limit = 64 << 20

  static func read(_ path: String) throws(AccessoryError) -> [UInt8] {
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try SmallFile.read(path, limit: limit + 1)
    } catch {
      throw AccessoryError(errno: error, "reading \(path)")
    }
    guard bytes.count <= limit else { throw AccessoryError(.misconfigured, "\(path) has more than \(limit) bytes") }
    return bytes
  }

  /// Writes a file that is whole or not there: under another name first.
  static func write(_ bytes: [UInt8], to path: String, replacing: Bool) throws(AccessoryError) {
    let temporary = "\(path).\(getpid()).part"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "making \(temporary)") }
    defer { Glibc.close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let error = AccessoryError(errno: Errno(rawValue: errno), "writing \(temporary)")
        unlink(temporary)
        throw error
      }
      rest = rest.dropFirst(count)
    }
    // link(2) doesn't replace what has come there meanwhile.
    let isThere = replacing ? rename(temporary, path) == 0 : link(temporary, path) == 0
    let failure = errno
    if !replacing || !isThere { unlink(temporary) }
    guard isThere else { throw AccessoryError(errno: Errno(rawValue: failure), "making \(path)") }
  }
}
