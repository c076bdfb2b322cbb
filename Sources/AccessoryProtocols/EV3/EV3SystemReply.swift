// SPDX-License-Identifier: Apache-2.0

/// The body of a reply to a system command.
public struct EV3SystemReply: Sendable, Hashable {
  /// Which command is answered.
  public var code: UInt8
  /// What became of it.
  public var status: EV3Status
  /// What follows.
  public var data: [UInt8]

  /// A reply of these parts.
  public init(code: UInt8, status: EV3Status, data: [UInt8] = []) {
    self.code = code
    self.status = status
    self.data = data
  }

  /// Reads the body of a message.
  ///
  /// - Throws: `tooShort`.
  public init(decoding body: [UInt8]) throws(EV3MessageError) {
    guard body.count >= 2 else { throw .tooShort(byteCount: body.count, minimum: 2) }
    self.init(code: body[0], status: EV3Status(rawValue: body[1]), data: Array(body[2...]))
  }

  /// The body of its message.
  public var body: [UInt8] { [code, status.rawValue] + data }

  /// The whole message.
  public func message(_ number: UInt16) -> EV3Message {
    EV3Message(number: number, type: status.isSuccess ? .systemReply : .systemError, body: body)
  }

  // MARK: - What follows

  /// What opening a file for reading, or a listing, gives: its size, a handle, the first bytes.
  public struct Beginning: Sendable, Hashable {
    /// Bytes in all.
    public var size: Int
    /// For the rest.
    public var handle: UInt8
    /// The first bytes.
    public var data: [UInt8]
  }

  /// As the reply to BEGIN_UPLOAD, BEGIN_GETFILE, CONTINUE_GETFILE (which tells the size again) or LIST_FILES.
  ///
  /// - Throws: `tooShort`.
  public func beginning() throws(EV3MessageError) -> Beginning {
    var reader = EV3BodyReader(data[...])
    return Beginning(
      size: Int(try reader.number(UInt32.self)), handle: try reader.number(UInt8.self), data: reader.rest())
  }

  /// As the reply to CONTINUE_UPLOAD, CONTINUE_LIST_FILES, BEGIN_DOWNLOAD or CONTINUE_DOWNLOAD: a handle, and the next
  /// bytes, of which a download has none.
  ///
  /// - Throws: `tooShort`.
  public func piece() throws(EV3MessageError) -> (handle: UInt8, data: [UInt8]) {
    var reader = EV3BodyReader(data[...])
    return (try reader.number(UInt8.self), reader.rest())
  }

  /// As the reply to LIST_OPEN_HANDLES: the handles that are open, by the bits that are set.
  public var openHandles: [Int] {
    data.indices.flatMap { index in (0..<8).filter { data[index] >> $0 & 1 == 1 }.map { index * 8 + $0 } }
  }
}

/// What is in a folder of the brick.
public enum EV3FolderEntry: Sendable, Hashable {
  /// A file, with its bytes and their MD5 sum in hexadecimal.
  case file(name: String, size: Int, md5: String)
  /// A folder. ".." and "." are told, too.
  case folder(name: String)

  /// Its name.
  public var name: String {
    switch self {
    case .file(let name, _, _), .folder(let name): name
    }
  }

  /// The lines of a listing.
  ///
  /// - Throws: `malformedListing`.
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

  /// Its line, as the firmware writes it.
  public var line: String {
    switch self {
    case .folder(let name): return name + "/\n"
    case .file(let name, let size, let md5):
      let digits = String(UInt32(clamping: size), radix: 16, uppercase: true)
      return md5.uppercased() + " " + String(repeating: "0", count: 8 - digits.count) + digits + " " + name + "\n"
    }
  }
}
