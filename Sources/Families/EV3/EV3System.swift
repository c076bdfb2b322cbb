// SPDX-License-Identifier: Apache-2.0

/// The brick's status for a system command. Values without a name here are kept.
public struct EV3Status: RawRepresentable, Sendable, Hashable {
  /// The byte on the wire.
  public var rawValue: UInt8
  /// The status with this byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The command was carried out.
  public static let success = EV3Status(rawValue: 0x00)
  /// No open file has this handle.
  public static let unknownHandle = EV3Status(rawValue: 0x01)
  /// The file can't be used yet.
  public static let handleNotReady = EV3Status(rawValue: 0x02)
  /// The contents of the file are damaged.
  public static let corruptFile = EV3Status(rawValue: 0x03)
  /// Too many files are open.
  public static let noHandlesAvailable = EV3Status(rawValue: 0x04)
  /// The operation isn't allowed.
  public static let noPermission = EV3Status(rawValue: 0x05)
  /// The path is invalid, or there is no such file.
  public static let illegalPath = EV3Status(rawValue: 0x06)
  /// The file exists already.
  public static let fileExists = EV3Status(rawValue: 0x07)
  /// The last piece of the file was read; this is a success.
  public static let endOfFile = EV3Status(rawValue: 0x08)
  /// More or fewer bytes came than were announced.
  public static let sizeError = EV3Status(rawValue: 0x09)
  /// Another error.
  public static let unknownError = EV3Status(rawValue: 0x0A)
  /// The name is invalid.
  public static let illegalFileName = EV3Status(rawValue: 0x0B)
  /// The operation isn't allowed over this connection.
  public static let illegalConnection = EV3Status(rawValue: 0x0C)

  /// All statuses that are known.
  public static let all: [EV3Status] = (0x00...0x0C).map { EV3Status(rawValue: $0) }

  /// Whether the command was carried out.
  public var isSuccess: Bool { self == .success || self == .endOfFile }
}

extension EV3Status: CustomStringConvertible {
  /// The status in a few English words.
  public var description: String {
    let names = [
      "success", "unknown handle", "the handle is not ready", "the file is corrupt", "no handles are left",
      "no permission", "illegal path, or no such file", "the file exists", "end of file", "wrong size",
      "unknown error", "illegal file name", "not over this connection",
    ]
    return Int(rawValue) < names.count ? names[Int(rawValue)] : "status \(rawValue)"
  }
}

/// A command about the brick's files, or the brick itself: the body of a system command.
public enum EV3SystemCommand: Sendable, Hashable {
  /// Creates a file of `size` bytes at a path, and opens it for writing.
  case beginDownload(size: UInt32, path: String)
  /// Writes the next bytes, up to `EV3Limits.downloadPiece`.
  case continueDownload(handle: UInt8, data: [UInt8])
  /// Opens a file for reading, and reads up to `maximum` bytes.
  case beginUpload(maximum: UInt16, path: String)
  /// Reads the next bytes.
  case continueUpload(handle: UInt8, maximum: UInt16)
  /// Opens a file that may still grow, and reads up to `maximum` bytes.
  case beginGetFile(maximum: UInt16, path: String)
  /// Reads the bytes that have been added to such a file.
  case continueGetFile(handle: UInt8, maximum: UInt16)
  /// Closes a file.
  case closeHandle(UInt8)
  /// Lists a folder, and reads the first bytes of the listing.
  case listFiles(maximum: UInt16, path: String)
  /// Reads the next bytes of the listing.
  case continueListFiles(handle: UInt8, maximum: UInt16)
  /// Makes a folder.
  case makeFolder(String)
  /// Removes a file, or an empty folder.
  case delete(String)
  /// Asks which handles are open.
  case listOpenHandles
  /// Writes to a mailbox of the program that is running. Has no reply.
  case writeMailbox(name: String, payload: [UInt8])
  /// Restarts the brick for a firmware update. Has no reply.
  case enterFirmwareUpdate
  /// Sets the bundle identifier that LEGO's programs look for.
  case setBundleID(String)
  /// Sets the seed of the bundle identifier.
  case setBundleSeedID(String)

  /// The byte on the wire.
  public var code: UInt8 {
    switch self {
    case .beginDownload: 0x92
    case .continueDownload: 0x93
    case .beginUpload: 0x94
    case .continueUpload: 0x95
    case .beginGetFile: 0x96
    case .continueGetFile: 0x97
    case .closeHandle: 0x98
    case .listFiles: 0x99
    case .continueListFiles: 0x9A
    case .makeFolder: 0x9B
    case .delete: 0x9C
    case .listOpenHandles: 0x9D
    case .writeMailbox: 0x9E
    case .enterFirmwareUpdate: 0xA0
    case .setBundleID: 0xA1
    case .setBundleSeedID: 0xA2
    }
  }

  /// Whether the brick replies to the command.
  public var hasReply: Bool { code != 0x9E && code != 0xA0 }

  // MARK: - On the wire

  /// The body of the command's message.
  ///
  /// - Throws: `textContainsZero`, `textTooLong`, `messageTooLong`.
  public func body() throws(EV3MessageError) -> [UInt8] {
    var body = [code]
    switch self {
    case .beginDownload(let size, let path):
      body.append(littleEndian: size)
      try body.append(ended: path)
    case .continueDownload(let handle, let data):
      body.append(handle)
      body += data
    case .beginUpload(let maximum, let path), .beginGetFile(let maximum, let path), .listFiles(let maximum, let path):
      body.append(littleEndian: maximum)
      try body.append(ended: path)
    case .continueUpload(let handle, let maximum), .continueGetFile(let handle, let maximum),
      .continueListFiles(let handle, let maximum):
      body.append(handle)
      body.append(littleEndian: maximum)
    case .closeHandle(let handle): body.append(handle)
    case .makeFolder(let path), .delete(let path): try body.append(ended: path)
    case .listOpenHandles, .enterFirmwareUpdate: break
    case .writeMailbox(let name, let payload):
      // The length counts the zero byte, as in the messages of LEGO's own programs.
      guard name.utf8.count < 255 else { throw .textTooLong(byteCount: name.utf8.count, limit: 254) }
      body.append(UInt8(name.utf8.count + 1))
      try body.append(ended: name)
      body.append(littleEndian: UInt16(clamping: payload.count))
      body += payload
    case .setBundleID(let text): try body.append(ended: text, limit: 23)
    case .setBundleSeedID(let text): try body.append(ended: text, limit: 10)
    }
    guard 3 + body.count <= EV3Limits.messageBehindLength else {
      throw .messageTooLong(byteCount: 3 + body.count, limit: EV3Limits.messageBehindLength)
    }
    return body
  }

  /// Reads the body of a message. Bytes behind the fields of a command are ignored, as by the firmware.
  ///
  /// - Throws: `tooShort`, `textNotEnded`, `unknownSystemCommand`.
  public init(decoding body: [UInt8]) throws(EV3MessageError) {
    guard let code = body.first else { throw .tooShort(byteCount: 0, minimum: 1) }
    var reader = EV3BodyReader(body.dropFirst())
    switch code {
    case 0x92: self = .beginDownload(size: try reader.number(UInt32.self), path: try reader.text())
    case 0x93: self = .continueDownload(handle: try reader.number(UInt8.self), data: reader.rest())
    case 0x94: self = .beginUpload(maximum: try reader.number(UInt16.self), path: try reader.text())
    case 0x95:
      self = .continueUpload(handle: try reader.number(UInt8.self), maximum: try reader.number(UInt16.self))
    case 0x96: self = .beginGetFile(maximum: try reader.number(UInt16.self), path: try reader.text())
    case 0x97:
      self = .continueGetFile(handle: try reader.number(UInt8.self), maximum: try reader.number(UInt16.self))
    case 0x98: self = .closeHandle(try reader.number(UInt8.self))
    case 0x99: self = .listFiles(maximum: try reader.number(UInt16.self), path: try reader.text())
    case 0x9A:
      self = .continueListFiles(handle: try reader.number(UInt8.self), maximum: try reader.number(UInt16.self))
    case 0x9B: self = .makeFolder(try reader.text())
    case 0x9C: self = .delete(try reader.text())
    case 0x9D: self = .listOpenHandles
    case 0x9E:
      _ = try reader.number(UInt8.self)
      let name = try reader.text()
      let count = try reader.number(UInt16.self)
      let payload = reader.rest()
      guard payload.count >= count else { throw .tooShort(byteCount: payload.count, minimum: Int(count)) }
      self = .writeMailbox(name: name, payload: Array(payload.prefix(Int(count))))
    case 0xA0: self = .enterFirmwareUpdate
    case 0xA1: self = .setBundleID(try reader.text())
    case 0xA2: self = .setBundleSeedID(try reader.text())
    default: throw .unknownSystemCommand(code)
    }
  }

  /// The whole message. Its type says whether a reply is expected.
  ///
  /// - Throws: `textContainsZero`, `textTooLong`, `messageTooLong`, as `body` does.
  public func message(_ number: UInt16) throws(EV3MessageError) -> EV3Message {
    EV3Message(number: number, type: hasReply ? .systemCommand : .systemCommandNoReply, body: try body())
  }
}

extension [UInt8] {
  /// Appends a text with the zero byte that ends it.
  fileprivate mutating func append(
    ended text: String, limit: Int = EV3Limits.messageBehindLength
  ) throws(EV3MessageError) {
    let bytes = Array(text.utf8)
    if bytes.contains(0) { throw .textContainsZero }
    guard bytes.count <= limit else { throw .textTooLong(byteCount: bytes.count, limit: limit) }
    self += bytes
    append(0)
  }
}

/// Reads the fields of a body one after another.
struct EV3BodyReader {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  mutating func number<Value: FixedWidthInteger>(_ type: Value.Type) throws(EV3MessageError) -> Value {
    let count = MemoryLayout<Value>.size
    guard bytes.count >= count else { throw .tooShort(byteCount: bytes.count, minimum: count) }
    var value: Value = 0
    for (index, byte) in bytes.prefix(count).enumerated() {
      value |= Value(truncatingIfNeeded: byte) << Value(8 * index)
    }
    bytes = bytes.dropFirst(count)
    return value
  }

  mutating func text() throws(EV3MessageError) -> String {
    guard let end = bytes.firstIndex(of: 0) else { throw .textNotEnded }
    defer { bytes = bytes[(end + 1)...] }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  mutating func rest() -> [UInt8] {
    defer { bytes = [] }
    return Array(bytes)
  }
}
