// SPDX-License-Identifier: Apache-2.0

/// The body of a reply to a system command.
public struct EV3SystemReply: Sendable, Hashable {
  /// The byte of the command that is answered.
  public var code: UInt8
  /// The outcome of the command.
  public var status: EV3Status
  /// The bytes behind the status.
  public var data: [UInt8]

  /// A reply of these parts.
  public init(code: UInt8, status: EV3Status, data: [UInt8] = []) {
    self.code = code
    self.status = status
    self.data = data
  }

  /// Reads the body of a message.
  ///
  /// - Throws: `tooShort` if there are fewer than two bytes.
  public init(decoding body: [UInt8]) throws(EV3MessageError) {
    guard body.count >= 2 else { throw .tooShort(byteCount: body.count, minimum: 2) }
    self.init(code: body[0], status: EV3Status(rawValue: body[1]), data: Array(body[2...]))
  }

  /// The body of the reply's message.
  public var body: [UInt8] { [code, status.rawValue] + data }

  /// The whole message.
  public func message(_ number: UInt16) -> EV3Message {
    EV3Message(number: number, type: status.isSuccess ? .systemReply : .systemError, body: body)
  }

  // MARK: - The bytes behind the status

  /// The reply to a command that opens a file for reading, or a listing.
  public struct Beginning: Sendable, Hashable {
    /// The size of the whole file or listing, in bytes.
    public var size: Int
    /// The handle with which the rest is read.
    public var handle: UInt8
    /// The first bytes.
    public var data: [UInt8]
  }

  /// Reads the reply to BEGIN_UPLOAD, BEGIN_GETFILE, CONTINUE_GETFILE (which has the size again) or LIST_FILES.
  ///
  /// - Throws: `tooShort` if fields are missing.
  public func beginning() throws(EV3MessageError) -> Beginning {
    var reader = EV3BodyReader(data[...])
    return Beginning(
      size: Int(clamping: try reader.number(UInt32.self)), handle: try reader.number(UInt8.self), data: reader.rest())
  }

  /// Reads the reply to CONTINUE_UPLOAD, CONTINUE_LIST_FILES, BEGIN_DOWNLOAD or CONTINUE_DOWNLOAD: a handle, and the
  /// next bytes. The replies to downloads have no such bytes.
  ///
  /// - Throws: `tooShort` if the handle is missing.
  public func piece() throws(EV3MessageError) -> (handle: UInt8, data: [UInt8]) {
    var reader = EV3BodyReader(data[...])
    return (try reader.number(UInt8.self), reader.rest())
  }

  /// Reads the reply to LIST_OPEN_HANDLES: every bit that is set stands for an open handle.
  public var openHandles: [Int] {
    data.indices.flatMap { index in (0..<8).filter { data[index] >> $0 & 1 == 1 }.map { index * 8 + $0 } }
  }
}

/// An entry of a folder of the brick.
public enum EV3FolderEntry: Sendable, Hashable {
  /// A file, with its size in bytes and the MD5 sum of its contents in hexadecimal.
  case file(name: String, size: Int, md5: String)
  /// A folder. Listings contain ".." and ".", too.
  case folder(name: String)

  /// The name of the file or folder.
  public var name: String {
    switch self {
    case .file(let name, _, _), .folder(let name): name
    }
  }

  /// Reads the lines of a listing.
  ///
  /// - Throws: `malformedListing` for a line that is no entry.
  public static func entries(in listing: [UInt8]) throws(EV3MessageError) -> [EV3FolderEntry] {
    var entries: [EV3FolderEntry] = []
    for line in listing.split(separator: UInt8(ascii: "\n")) { entries.append(try EV3FolderEntry(line: line)) }
    return entries
  }

  private init(line: ArraySlice<UInt8>) throws(EV3MessageError) {
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    if fields.count == 3, fields[0].count == 32, fields[1].count == 8, !fields[2].isEmpty,
      fields[0].allSatisfy(Self.isHexadecimal), fields[1].allSatisfy(Self.isHexadecimal),
      let size = Int(String(decoding: fields[1], as: UTF8.self), radix: 16)
    {
      let sum = String(decoding: fields[0], as: UTF8.self).lowercased()
      self = .file(name: String(decoding: fields[2], as: UTF8.self), size: size, md5: sum)
    } else if line.last == UInt8(ascii: "/"), line.count > 1 {
      self = .folder(name: String(decoding: line.dropLast(), as: UTF8.self))
    } else {
      throw .malformedListing
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
      || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
  }

  /// The entry's line in a listing, as the firmware writes it.
  public var line: String {
    switch self {
    case .folder(let name): return name + "/\n"
    case .file(let name, let size, let md5):
      let digits = String(UInt32(clamping: size), radix: 16, uppercase: true)
      return md5.uppercased() + " " + String(repeating: "0", count: 8 - digits.count) + digits + " " + name + "\n"
    }
  }
}
