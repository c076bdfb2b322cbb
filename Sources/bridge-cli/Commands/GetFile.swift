// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import ArgumentParser
import CommandOutput
import Glibc

/// Options of commands that transfer files.
struct TransferOptions: ParsableArguments {
  @Option(
    help: .value("time", "How long to wait after an unplug; default: the profile's."), transform: TimeArgument.read)
  var patience: TimeArgument?

  /// Transfers a file with the transfer that `make` creates, and shows the progress. If the accessory is unplugged
  /// during the transfer, it is opened again as soon as it is back, and the transfer is resumed.
  func carry(
    _ command: some FileCommand, make: (any AccessoryFiles) throws -> any FileTransfer
  ) async throws -> TransferReport {
    let watcher = TransferWatcher(device: command.device, bar: ProgressBar(json: command.output.json))
    defer { watcher.bar.clear() }
    let rules = TransferRules(patience: patience?.duration ?? .seconds(10)) { watcher.interrupted() }
    var begun: (any FileTransfer)?
    var policy = RetryPolicy()
    var arrivals: ArrivalWatcher?
    defer { arrivals?.end() }
    var (deadline, tries): (MonotonicTime?, Int) = (nil, 0)
    var resumesItself = false
    var (known, again): (Device?, SameAgain?)
    while true {
      let failure: any Error
      do {
        // `--wait` applies until the accessory was open once; after that `--patience` limits the wait.
        return try await command.withFiles(again: again, rules) { files in
          known = files.opened.device
          guard begun == nil || !files.opened.resumesTransfers else {
            throw AccessoryError(.busy, "a service has opened the accessory: try again")
          }
          resumesItself = files.opened.resumesTransfers
          (deadline, tries) = (nil, 0)
          policy = files.opened.profile?.policies.reconnect ?? RetryPolicy()
          var transfer = try begun ?? make(files.files)
          defer { if !resumesItself { begun = transfer } }
          try await transfer.run(on: files.opened.accessory) { watcher.bar.show($0, $1) }
          return TransferReport(
            device: DeviceDocument(files.opened.device(after: transfer)), resumptions: transfer.resumptions,
            md5: transfer.md5, crc32: transfer.crc32)
        }
      } catch { failure = error }
      // An accessory that was never open isn't waited for.
      let isGone = (failure as? AccessoryError)?.kind == .disconnected
      let patience = patience?.duration ?? policy.patience
      guard !resumesItself, isGone || deadline != nil, patience > .zero, !Task.isCancelled else { throw failure }
      let now = IOThread.shared.now
      if deadline == nil, let known { again = await Door.again(known) }
      if deadline == nil { watcher.interrupted() }
      let end = deadline ?? now + patience
      deadline = end
      tries += 1
      guard now < end else { throw failure }
      if arrivals == nil { arrivals = await ArrivalWatcher() }
      // The next try follows after the policy's pause, or as soon as a device is plugged in.
      let wait = WaitingLine.shared.begin("waiting for \(command.device) to come back", limit: end - now)
      defer { WaitingLine.shared.end(wait) }
      await arrivals?.next(within: min(end - now, policy.pause(beforeTry: tries) ?? policy.interval))
      if Task.isCancelled { throw failure }
    }
  }
}

extension RetryPolicy {
  /// How long a command waits for an accessory to come back: as long as this policy's tries take, and at least 10 s.
  fileprivate var patience: Duration {
    guard isEnabled else { return .zero }
    guard let tries else { return .seconds(1_000_000_000) }
    let pauses = (1...max(1, min(tries, 1_000))).reduce(Duration.zero) { $0 + (pause(beforeTry: $1) ?? .zero) }
    return max(.seconds(10), pauses)
  }
}

struct GetFile: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Gets a file from an accessory.",
    discussion: """
      After an unplug the command waits for the accessory, and gets the rest.

      EXAMPLES
        bridge-cli file get EV3 ../prjs/tst/tst.rbf
        bridge-cli file get EV3 ../prjs/tst/tst.rbf ./copy.rbf --force
      """)

  @OptionGroup var target: FileTarget
  @Argument(help: "The path of the file on the accessory.", completion: CompletionWords.nothing) var path: String
  @Argument(help: "Where to save it; default: in the current folder, under the same name.", completion: .file())
  var file: String?
  @Flag(help: "Replace an existing file.") var force = false
  @OptionGroup var transfer: TransferOptions

  private var place: String { file ?? String(path.split(separator: "/").last ?? "") }

  func validate() throws {
    guard !["", ".", ".."].contains(place) else { throw ValidationError("\(path) is not the path of a file") }
  }

  func run() async throws {
    if !force, access(place, F_OK) == 0 {
      throw AccessoryError(
        .misconfigured, code: .errno(EEXIST), "\(place) exists: choose another path, or use --force")
    }
    let content = MemoryFile()
    let report = try await transfer.carry(self) { files in
      try files.makeGetTransfer(path, limit: LocalFile.limit, into: content)
    }
    let bytes = content.bytes
    if let md5 = report.md5, md5 != MD5.hexadecimal(bytes) {
      throw AccessoryError(.badData, "\(path) changed while it was read from \(device): get it again")
    }
    try LocalFile.write(bytes, to: place, replacing: force)
    TransferView(report: report, path: path, file: place, size: bytes.count, md5: MD5.hexadecimal(bytes)).show(output)
  }
}
