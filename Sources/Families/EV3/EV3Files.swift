// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

extension EV3Brick {
  /// The brick's files, in the terms that all drivers share.
  public var files: (any AccessoryFiles)? { EV3Files(brick: self) }
}

private struct EV3Files: AccessoryFiles {
  let brick: EV3Brick

  func entries(of folder: String) async throws(AccessoryError) -> [FileEntry] {
    try await brick.list(folder).map { entry in
      switch entry {
      case .folder(let name): FileEntry(name, .folder)
      case .file(let name, let size, let md5): FileEntry(name, .file, size: size, md5: md5)
      }
    }
  }

  func makeFolder(_ path: String) async throws(AccessoryError) { try await brick.makeFolder(path) }

  func remove(_ path: String) async throws(AccessoryError) { try await brick.remove(path) }

  func makeGetTransfer(_ path: String, limit: Int, into sink: any FileSink) throws(AccessoryError) -> any FileTransfer {
    GetTransfer(upload: EV3Upload(path, limit: limit), sink: sink)
  }

  /// The size of the largest file that is sent, in bytes; far more than a brick can store.
  private static let limit = 64 << 20

  func makeSendTransfer(
    _ source: any FileSource, to path: String, as kind: FileKind?
  ) throws(AccessoryError) -> any FileTransfer {
    guard path.contains("/") else {
      throw AccessoryError(
        .misconfigured, "the path of the file on \(brick.label) is missing, like ../prjs/tst/tst.rbf")
    }
    guard kind == nil else {
      throw AccessoryError(.misconfigured, "\(brick.label) has no kinds of files: leave out the kind")
    }
    guard source.count <= Self.limit else {
      throw AccessoryError(.misconfigured, "\(brick.label) takes no file of more than \(Self.limit) bytes")
    }
    return SendTransfer(download: EV3Download(source, to: path))
  }

  /// A transfer from the brick, which the brick calls an upload.
  private struct GetTransfer: FileTransfer {
    var upload: EV3Upload
    let sink: any FileSink
    var path: String { upload.path }
    var size: Int? { upload.size }
    var resumptions: Int { upload.resumptions }
    var md5: String? { upload.md5 }

    mutating func run(on accessory: any Accessory, progress: FileProgress?) async throws(AccessoryError) {
      try await upload.run(on: EV3Brick.require(accessory), into: sink, progress: progress)
    }
  }

  private struct SendTransfer: FileTransfer {
    var download: EV3Download
    var path: String { download.path }
    var size: Int? { download.source.count }
    var resumptions: Int { download.resumptions }
    var md5: String? { nil }

    mutating func run(on accessory: any Accessory, progress: FileProgress?) async throws(AccessoryError) {
      try await download.run(on: EV3Brick.require(accessory), progress: progress)
    }
  }
}

extension EV3Brick {
  fileprivate static func require(_ accessory: any Accessory) throws(AccessoryError) -> EV3Brick {
    guard let brick = accessory.narrowed(to: EV3Brick.self) else {
      throw AccessoryError(.unsupported, "\(accessory.label) is not an EV3 brick, so the file transfer can't continue")
    }
    return brick
  }

  /// Runs clean-up commands in a task of their own, so that they are sent although the current task was cancelled.
  static func undoing(_ body: @escaping @Sendable () async -> Void) async { await Task { await body() }.value }
}
