// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Files of an accessory, for those whose protocol has any. What a kind lacks throws `unsupported`.
///
/// Paths are the accessory's own: what they are relative to, it knows. Every call throws `refused` with the accessory's
/// reason, and else what the calls of `Accessory` throw.
public protocol AccessoryFiles: Sendable {
  /// What is in a folder.
  func entries(of folder: String) async throws(AccessoryError) -> [FileEntry]
  /// Makes a folder.
  func makeFolder(_ path: String) async throws(AccessoryError)
  /// Removes a file, or a folder that is empty.
  func remove(_ path: String) async throws(AccessoryError)
  /// A file that is to be got, of at most `limit` bytes. Nothing is asked yet.
  func getting(_ path: String, limit: Int, into sink: any FileSink) throws(AccessoryError) -> any FileTransfer
  /// A file that is to be sent, and what it is for where the accessory wants to know. Nothing is asked yet.
  func sending(
    _ source: any FileSource, to path: String, as kind: FileKind?
  ) throws(AccessoryError) -> any FileTransfer
}

extension AccessoryFiles {
  /// It has no folders.
  public func entries(of folder: String) async throws(AccessoryError) -> [FileEntry] { throw .lacks("folders") }
  /// It has no folders.
  public func makeFolder(_ path: String) async throws(AccessoryError) { throw .lacks("folders") }
  /// Its files stay.
  public func remove(_ path: String) async throws(AccessoryError) { throw .lacks("files that can be removed") }
  /// Its files can't be read.
  public func getting(
    _ path: String, limit: Int, into sink: any FileSink
  ) throws(AccessoryError) -> any FileTransfer { throw .lacks("files that can be got") }
  /// It takes no files.
  public func sending(
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
  /// The files of an accessory that has some. Throws `unsupported`.
  public func requireFiles() throws(AccessoryError) -> any AccessoryFiles {
    guard let files else {
      throw AccessoryError(.unsupported, "\(label) has no files that this command knows of")
    }
    return files
  }
}

/// What a file is to an accessory.
public enum FileKind: String, Sendable, Hashable, CaseIterable {
  /// Software for it.
  case firmware
  /// A picture.
  case image
  /// Anything else.
  case other
}

/// What is in a folder.
public struct FileEntry: Sendable, Hashable {
  /// What it is.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case file, folder
  }

  /// Its name, in the accessory's own words.
  public var name: String
  /// What it is.
  public var kind: Kind
  /// Bytes of a file, where they are known.
  public var size: Int?
  /// The MD5 sum of a file in hexadecimal, where it is known.
  public var md5: String?

  /// An entry of these parts.
  public init(_ name: String, _ kind: Kind, size: Int? = nil, md5: String? = nil) {
    self.name = name
    self.kind = kind
    self.size = size
    self.md5 = md5
  }
}

/// Is told how far a transfer is: bytes that have arrived, and bytes in all.
public typealias FileProgress = @Sendable (_ done: Int, _ total: Int) -> Void

/// A file on its way, which may go on after an interruption.
public protocol FileTransfer: Sendable {
  /// Where it is on the accessory.
  var path: String { get }
  /// Bytes in all; nil before that is known.
  var size: Int? { get }
  /// Times that it went on where it had been.
  var resumptions: Int { get }
  /// What the accessory says the MD5 sum of the whole is, where the whole was put together of parts and is to be compared.
  var md5: String? { get }
  /// The CRC-32 that the accessory has compared; nil where it compares none.
  var crc32: UInt32? { get }

  /// Carries what is missing. When this throws, it can be called again, also with an accessory that was opened anew; but
  /// for `cancelled`: then what was begun is undone as far as the accessory can.
  ///
  /// Throws `refused`, `disconnected`, `badData`, and what the source or the sink throws; `misconfigured` when the file
  /// is too long, `unsupported` when the accessory is of another kind than before.
  mutating func run(on accessory: any Accessory, progress: FileProgress?) async throws(AccessoryError)
}

extension FileTransfer {
  /// It compares none.
  public var crc32: UInt32? { nil }
}
