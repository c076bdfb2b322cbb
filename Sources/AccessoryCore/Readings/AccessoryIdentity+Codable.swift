// SPDX-License-Identifier: Apache-2.0

extension AccessoryIdentity: Codable {
  private enum CodingKeys: String, CodingKey {
    case manufacturer, name, model
    case serialNumber = "serial"
    case firmwareRevision = "firmware"
    case hardwareRevision = "hardware"
  }

  /// Writes the fields of the service's interface, and of JSON documents, in which an empty text is null.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    func put(_ text: String, _ key: CodingKeys) throws {
      if text.isEmpty, encoder.writesNulls {
        try fields.encodeNil(forKey: key)
      } else {
        try fields.encode(text, forKey: key)
      }
    }
    try put(manufacturer, .manufacturer)
    try put(name, .name)
    try put(model, .model)
    try put(serialNumber, .serialNumber)
    try put(firmwareRevision, .firmwareRevision)
    try put(hardwareRevision, .hardwareRevision)
  }

  /// Reads what `encode` writes. Texts that are null or missing are empty.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String { try fields.decodeIfPresent(String.self, forKey: key) ?? "" }
    self.init(
      manufacturer: try text(.manufacturer), name: try text(.name), model: try text(.model),
      serialNumber: try text(.serialNumber), firmwareRevision: try text(.firmwareRevision),
      hardwareRevision: try text(.hardwareRevision))
  }
}
