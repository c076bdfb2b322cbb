// SPDX-License-Identifier: Apache-2.0

/// An entry of a folder.
public struct FileEntry: Codable, Sendable, Hashable {
  /// Whether an entry is a file or a folder.
  public enum Kind: String, Codable, Sendable, Hashable, CaseIterable {
    case file, folder
  }

  /// The name, as the accessory reports it, not escaped.
  public var name: String
  /// Whether it is a file or a folder.
  public var kind: Kind
  /// The size of a file in bytes, if it is known.
  public var size: Int?
  /// The MD5 of a file in hexadecimal, if it is known.
  public var md5: String?

  /// An entry with these properties.
  public init(_ name: String, _ kind: Kind, size: Int? = nil, md5: String? = nil) {
    self.name = name
    self.kind = kind
    self.size = size
    self.md5 = md5
  }

  private enum CodingKeys: String, CodingKey {
    case name, kind, md5
    case size = "size_bytes"
  }

  /// Reads an entry as it is published. A negative size is an error.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try fields.decode(String.self, forKey: .name), try fields.decode(Kind.self, forKey: .kind),
      size: try fields.decodeIfPresent(Int.self, forKey: .size),
      md5: try fields.decodeIfPresent(String.self, forKey: .md5))
    try ReplyLimits.check(size, ReplyLimits.count, CodingKeys.size.rawValue)
  }
}
