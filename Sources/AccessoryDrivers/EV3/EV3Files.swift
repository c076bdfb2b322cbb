// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension EV3Brick {
  /// A brick's files, in the terms that all kinds share.
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

  func getting(_ path: String, limit: Int, into sink: any FileSink) throws(AccessoryError) -> any FileTransfer {
    Getting(upload: EV3Upload(path, limit: limit), sink: sink)
  }

  /// Bytes of the largest file that is sent: what bricks can have at most, by far.
  private static let limit = 64 << 20

  func sending(
    _ source: any FileSource, to path: String, as kind: FileKind?
  ) throws(AccessoryError) -> any FileTransfer {
    guard path.contains("/") else {
      throw AccessoryError(
        .misconfigured, "\(brick.label) wants to know where the file goes: a path like ../prjs/tst/tst.rbf")
    }
    guard kind == nil else {
      throw AccessoryError(.misconfigured, "to \(brick.label) the path says what a file is: leave the kind out")
    }
    guard source.count <= Self.limit else {
      throw AccessoryError(.misconfigured, "\(brick.label) takes no file of more than \(Self.limit) bytes")
    }
    return Sending(download: EV3Download(source, to: path))
  }

  /// As a brick sees it, what is got is an upload.
  private struct Getting: FileTransfer {
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

  private struct Sending: FileTransfer {
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
    guard let brick = accessory as? EV3Brick else {
      throw AccessoryError(.unsupported, "\(accessory.label) is no brick, and can't go on with a brick's file")
    }
    return brick
  }

  /// Runs `body` with a brick that may have been asked by a task that was cancelled: what is undone then is still undone.
  static func undoing(_ body: @escaping @Sendable () async -> Void) async { await Task { await body() }.value }
}
