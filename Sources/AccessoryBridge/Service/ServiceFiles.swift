// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

/// The files of an accessory that a service has open.
struct ServiceFiles: AccessoryFiles {
  let accessory: ServiceAccessory
  var transfers = TransferRules()

  func entries(of folder: String) async throws(AccessoryError) -> [FileEntry] {
    try await accessory.checked { () throws(AccessoryError) in try await accessory.calls.entries(of: folder) }
  }

  func makeFolder(_ path: String) async throws(AccessoryError) {
    try await accessory.checked { () throws(AccessoryError) in try await accessory.calls.makeFolder(path) }
  }

  func remove(_ path: String) async throws(AccessoryError) {
    try await accessory.checked { () throws(AccessoryError) in try await accessory.calls.remove(path) }
  }

  func makeGetTransfer(_ path: String, limit: Int, into sink: any FileSink) throws(AccessoryError) -> any FileTransfer {
    ServiceDownload(path: path, limit: limit, sink: sink, rules: transfers)
  }

  func makeSendTransfer(
    _ source: any FileSource, to path: String, as kind: FileKind?
  ) throws(AccessoryError) -> any FileTransfer {
    ServiceUpload(path: path, source: source, kind: kind, rules: transfers)
  }
}

extension FileTransfer {
  /// The accessory as a `ServiceAccessory`. Throws `unsupported` when it isn't one.
  fileprivate func ours(_ accessory: any Accessory) throws(AccessoryError) -> ServiceAccessory {
    if let accessory = accessory as? ServiceAccessory { return accessory }
    throw AccessoryError(
      .unsupported, "the transfer of \(path) was begun through a service, which no longer has \(accessory.label)")
  }
}

/// A transfer through a service.
protocol ServiceTransfer: FileTransfer {
  /// The accessory at the end, as the service describes it; nil before.
  var device: Device? { get }
}

/// A download through a service. Another run starts from the beginning.
private struct ServiceDownload: ServiceTransfer {
  let path: String
  let limit: Int
  let sink: any FileSink
  private(set) var size: Int?
  private(set) var resumptions = 0
  private(set) var md5: String?
  private(set) var device: Device?
  let rules: TransferRules

  init(path: String, limit: Int, sink: any FileSink, rules: TransferRules) {
    (self.path, self.limit, self.sink, self.rules) = (path, limit, sink, rules)
  }

  mutating func run(on accessory: any Accessory, progress: FileProgress?) async throws(AccessoryError) {
    let accessory = try ours(accessory)
    let sink = sink
    var (size, done) = (0, 0)
    let result = try await accessory.checked { () throws(AccessoryError) in
      try await accessory.calls.get(path, limit: limit, patience: rules.patience) { step throws(AccessoryError) in
        switch step {
        case .begin(let count):
          (size, done) = (count, 0)
          try await sink.begin(size: count)
        case .piece(let bytes, let offset):
          try await sink.insert(bytes, at: offset)
          done += bytes.count
        case .interrupted: return rules.interrupted()
        }
        progress?(done, size)
      }
    }
    self.size = size
    resumptions += result.resumptions
    (md5, device) = (result.md5, result.device)
  }
}

/// An upload through a service. Another run starts from the beginning, because the service removes an incomplete file.
private struct ServiceUpload: ServiceTransfer {
  let path: String
  let source: any FileSource
  let kind: FileKind?
  private(set) var resumptions = 0
  private(set) var crc32: UInt32?
  private(set) var device: Device?
  let rules: TransferRules
  var size: Int? { source.count }
  var md5: String? { nil }

  init(path: String, source: any FileSource, kind: FileKind?, rules: TransferRules) {
    (self.path, self.source, self.kind, self.rules) = (path, source, kind, rules)
  }

  mutating func run(on accessory: any Accessory, progress: FileProgress?) async throws(AccessoryError) {
    let accessory = try ours(accessory)
    let source = source
    let checksum = try await source.checksum()
    let result = try await accessory.checked { () throws(AccessoryError) in
      try await accessory.calls.send(
        to: path, size: source.count, kind: kind.flatMap { .init(rawValue: $0.rawValue) }, crc32: checksum,
        patience: rules.patience
      ) { offset, count throws(AccessoryError) in
        try await source.bytes(at: offset, count: count)
      } _: { step in
        switch step {
        case .arrived(let count): progress?(count, source.count)
        case .interrupted: rules.interrupted()
        }
      }
    }
    resumptions += result.resumptions
    (crc32, device) = (result.crc32, result.device)
  }
}
