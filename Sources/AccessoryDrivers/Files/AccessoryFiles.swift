// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The files of an accessory whose protocol has files. Functions that the protocol doesn't have throw `unsupported`.
///
/// Paths are passed to the accessory as they are, which decides what relative paths start from. Every function throws
/// `refused` with the accessory's reason, and what the functions of `Accessory` throw.
public protocol AccessoryFiles: Sendable {
  /// The entries of a folder.
  func entries(of folder: String) async throws(AccessoryError) -> [FileEntry]
  /// Creates a folder.
  func makeFolder(_ path: String) async throws(AccessoryError)
  /// Removes a file or an empty folder.
  func remove(_ path: String) async throws(AccessoryError)
  /// Prepares to get a file of at most `limit` bytes. Sends nothing: the transfer starts with its `run`.
  func makeGetTransfer(_ path: String, limit: Int, into sink: any FileSink) throws(AccessoryError) -> any FileTransfer
  /// Prepares to send a file. `kind` is the file's purpose, if the accessory needs to know it. Sends nothing: the
  /// transfer starts with its `run`.
  func makeSendTransfer(
    _ source: any FileSource, to path: String, as kind: FileKind?
  ) throws(AccessoryError) -> any FileTransfer
}

extension AccessoryFiles {
  /// The default: throws `unsupported`.
  public func entries(of folder: String) async throws(AccessoryError) -> [FileEntry] { throw .lacks("folders") }
  /// The default: throws `unsupported`.
  public func makeFolder(_ path: String) async throws(AccessoryError) { throw .lacks("folders") }
  /// The default: throws `unsupported`.
  public func remove(_ path: String) async throws(AccessoryError) { throw .lacks("files that can be removed") }
  /// The default: throws `unsupported`.
  public func makeGetTransfer(
    _ path: String, limit: Int, into sink: any FileSink
  ) throws(AccessoryError) -> any FileTransfer { throw .lacks("files that can be read") }
  /// The default: throws `unsupported`.
  public func makeSendTransfer(
    _ source: any FileSource, to path: String, as kind: FileKind?
  ) throws(AccessoryError) -> any FileTransfer {
    throw .lacks("place for files")
  }
}

extension AccessoryError {
  fileprivate static func lacks(_ what: String) -> AccessoryError {
    AccessoryError(.unsupported, "this kind of accessory has no \(what)")
  }
}

extension Accessory {
  /// The accessory's files. Throws `unsupported` when it has none.
  public func requireFiles() throws(AccessoryError) -> any AccessoryFiles {
    guard let files else {
      throw AccessoryError(.unsupported, "\(label) has no files that this command knows of")
    }
    return files
  }
}

/// The purpose of a file for an accessory.
public enum FileKind: String, Sendable, Hashable, CaseIterable {
  /// The accessory's firmware.
  case firmware
  /// A picture.
  case image
  /// Anything else.
  case other
}

/// Called with the progress of a transfer: bytes done, and bytes in total.
public typealias FileProgress = @Sendable (_ done: Int, _ total: Int) -> Void

/// A transfer of a file that can be resumed after an interruption.
public protocol FileTransfer: Sendable {
  /// The file's path on the accessory.
  var path: String { get }
  /// The file's size in bytes; nil while it isn't known.
  var size: Int? { get }
  /// How many times the transfer resumed in the middle of the file.
  var resumptions: Int { get }
  /// The MD5 of a received file according to the accessory, in hexadecimal, if the file came in several parts: compare
  /// it. Nil otherwise.
  var md5: String? { get }
  /// The CRC-32 of the file that the accessory has compared; nil when it compares none.
  var crc32: UInt32? { get }

  /// Transfers the missing bytes. After an error it can be called again, also with an accessory that was opened again,
  /// unless the error was `cancelled`: then the accessory's part of the file was removed as far as possible.
  ///
  /// Throws `refused`, `disconnected`, `badData`, what the source or the sink throws, `misconfigured` when the file is
  /// too large, and `unsupported` when the accessory isn't of the same kind as before.
  mutating func run(on accessory: any Accessory, progress: FileProgress?) async throws(AccessoryError)
}

extension FileTransfer {
  /// The default: nil.
  public var crc32: UInt32? { nil }
}
