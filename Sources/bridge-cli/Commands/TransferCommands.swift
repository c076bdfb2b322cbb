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
    help: ArgumentHelp(
      "How long to wait for the accessory when it goes meanwhile; else as long as its profile tries, and at least 10s.",
      valueName: "time"),
    transform: TimeArgument.read)
  var patience: TimeArgument?

  /// Runs `body` until it is through. When the accessory goes meanwhile, it is opened again as soon as it is back, and
  /// `body` goes on.
  func run(
    _ device: String, _ line: LineOptions, _ bar: ProgressBar, _ body: (Attachment) async throws -> Void
  ) async throws {
    try await HeldDevice.refuse(device, line)
    var policy = RetryPolicy()
    var comings: Comings?
    defer { comings?.end() }
    var (deadline, tries): (MonotonicTime?, Int) = (nil, 0)
    while true {
      let failure: any Error
      do {
        return try await Attachment.with(device, line) { attachment in
          (deadline, tries) = (nil, 0)
          policy = attachment.profile?.policies.reconnect ?? RetryPolicy()
          try await body(attachment)
        }
      } catch { failure = error }
      bar.clear()
      // What was never there is not waited for.
      let isGone = (failure as? AccessoryError)?.kind == .disconnected
      let patience = patience?.duration ?? policy.patience
      guard isGone || deadline != nil, patience > .zero, !Task.isCancelled else { throw failure }
      let now = IOThread.shared.now
      if deadline == nil { Output.note("\(SafeText.escape(device)) is gone: waiting for it to come back") }
      let end = deadline ?? now + patience
      deadline = end
      tries += 1
      guard now < end else { throw failure }
      if comings == nil { comings = await Comings() }
      // By the policy's pauses, and at once when something is plugged in.
      await comings?.next(within: min(end - now, policy.pause(beforeTry: tries) ?? policy.interval))
      if Task.isCancelled { throw failure }
    }
  }
}

extension RetryPolicy {
  /// How long a command waits for an accessory to come back: for as long as this policy tries, and at least 10 s.
  fileprivate var patience: Duration {
    guard isEnabled else { return .zero }
    guard let tries else { return .seconds(1_000_000_000) }
    let pauses = (1...max(1, min(tries, 1_000))).reduce(Duration.zero) { $0 + (pause(beforeTry: $1) ?? .zero) }
    return max(.seconds(10), pauses)
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
    let bar = ProgressBar(json: output.json)
    var bytes: [UInt8] = []
    var device: Device?
    try await transfer.run(brick.device, brick.line, bar) { attachment in
      device = attachment.device
      let brick = try BrickOptions.brick(attachment)
      bytes = try await upload.run(on: brick) { bar.show($0, $1) }
    }
    bar.clear()
    try LocalFile.write(bytes, to: place, replacing: force)
    guard let device else { return }
    TransferView(
      device: device, path: path, file: place, size: bytes.count, sum: .md5(MD5.hexadecimal(bytes)),
      resumptions: upload.resumptions
    ).show(output)
  }
}

/// Files of this machine.
enum LocalFile {
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
