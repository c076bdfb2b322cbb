// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import ArgumentParser
import CommandOutput
import Glibc

/// Options of commands that carry files.
struct TransferOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How long to wait for the accessory when it goes meanwhile; else as long as its profile tries, and at least 10s.",
      valueName: "time"),
    transform: TimeArgument.read)
  var patience: TimeArgument?

  /// Carries a file, and shows how far it is: through the service that holds the accessory, by `held`; or by the transfer
  /// that `make` gives. When the accessory goes meanwhile, it is opened again as soon as it is back, and the transfer goes
  /// on.
  func carry(
    _ command: some FileCommand, held: (HeldDevice, TransferWatcher) async throws -> Carried,
    make: (any AccessoryFiles) throws -> any FileTransfer
  ) async throws -> Carried {
    let watcher = TransferWatcher(
      device: command.device, patience: patience?.duration ?? .seconds(10),
      bar: ProgressBar(json: command.output.json))
    defer { watcher.bar.clear() }
    if let device = try await HeldDevice.find(command.device, command.line) {
      try device.requireDriver()
      return try await held(device, watcher)
    }
    var begun: (any FileTransfer)?
    var policy = RetryPolicy()
    var comings: ArrivalWatcher?
    defer { comings?.end() }
    var (deadline, tries): (MonotonicTime?, Int) = (nil, 0)
    while true {
      let failure: any Error
      do {
        return try await command.withFiles { files in
          guard let open = files as? OpenFiles else { throw AccessoryError(.busy, "a service has taken the accessory") }
          (deadline, tries) = (nil, 0)
          policy = open.opened.profile?.policies.reconnect ?? RetryPolicy()
          var transfer = try begun ?? make(open.files)
          defer { begun = transfer }
          try await transfer.run(on: open.opened.accessory) { watcher.bar.show($0, $1) }
          return Carried(
            device: open.document, resumptions: transfer.resumptions, md5: transfer.md5, crc32: transfer.crc32)
        }
      } catch { failure = error }
      // What was never there is not waited for.
      let isGone = (failure as? AccessoryError)?.kind == .disconnected
      let patience = patience?.duration ?? policy.patience
      guard isGone || deadline != nil, patience > .zero, !Task.isCancelled else { throw failure }
      let now = IOThread.shared.now
      if deadline == nil { watcher.interrupted() }
      let end = deadline ?? now + patience
      deadline = end
      tries += 1
      guard now < end else { throw failure }
      if comings == nil { comings = await ArrivalWatcher() }
      // By the policy's pauses, and at once when something is plugged in.
      let wait = WaitingLine.shared.begin("waiting for \(command.device) to come back", limit: end - now)
      defer { WaitingLine.shared.end(wait) }
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

struct GetFile: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "get-file",
    abstract: "Gets a file from an accessory.",
    discussion: """
      When the accessory goes meanwhile, it is waited for, and the rest is got when it is back. With --json a document at \
      every whole percent says how far it is; the result is the last.

      EXAMPLES
        bridge-cli get-file EV3 ../prjs/tst/tst.rbf
        bridge-cli get-file EV3 ../prjs/tst/log.rtf ./log.txt --force
      """)

  @Argument(help: ArgumentHelp("The accessory.", valueName: "device"), completion: CompletionWords.devices)
  var device: String
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The accessory's file.", completion: CompletionWords.nothing) var path: String
  @Argument(help: "Where to put it; else under its own name here.", completion: .file()) var file: String?
  @Flag(help: "Replace a file that is there.") var force = false
  @OptionGroup var transfer: TransferOptions

  private var place: String { file ?? String(path.split(separator: "/").last ?? "") }

  func validate() throws {
    guard !["", ".", ".."].contains(place) else { throw ValidationError("\(path) is no file's path") }
  }

  func run() async throws {
    if !force, access(place, F_OK) == 0 {
      throw AccessoryError(.misconfigured, "\(place) exists: choose another place, or say --force")
    }
    let content = MemoryFile()
    let carried = try await transfer.carry(self) { held, watcher in
      try await held.get(path, into: content, watcher)
    } make: { files in
      try files.getting(path, limit: LocalFile.limit, into: content)
    }
    let bytes = content.bytes
    if let md5 = carried.md5, md5 != MD5.hexadecimal(bytes) {
      throw AccessoryError(.badData, "\(path) has changed while it was got from \(device): get it once more")
    }
    try LocalFile.write(bytes, to: place, replacing: force)
    TransferView(carried: carried, path: path, file: place, size: bytes.count, md5: MD5.hexadecimal(bytes)).show(output)
  }
}
