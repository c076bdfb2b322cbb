// SPDX-License-Identifier: Apache-2.0

/// What a client of the native API is told: this machine as a device, its accessories as devices of it, and their entities with states.
struct NativeBox: Sendable, Hashable {
  /// An accessory.
  struct Device: Codable, Sendable, Hashable {
    /// The same for ever, and not 0: Home Assistant knows the device by it.
    var id: UInt32
    var name: String
    /// The place where it is; empty for none.
    var area = ""
  }

  /// The name in the network: a host label of at most 31 characters.
  var name: String
  /// The name for people.
  var friendlyName: String
  /// The machine's identity, as six bytes that are no network card's.
  var mac: [UInt8]
  /// This program's version.
  var version: String
  var isEncrypted = true
  /// The port of the page on this machine; 0 for none.
  var webPort: UInt16 = 0
  var devices: [Device] = []
  var entities: [NativeEntity] = []
  /// The known states; an entity without one is unknown.
  var states: [NativeEntity.ID: NativeState] = [:]

  /// The areas of the devices, in order. The number of an area is its place, from 1.
  var areas: [String] {
    var areas: [String] = []
    for device in devices where !device.area.isEmpty && !areas.contains(device.area) { areas.append(device.area) }
    return areas
  }

  /// "02:00:C0:FF:EE:01", or without colons in lower case.
  func macText(separator: String = ":", isUpper: Bool = true) -> String {
    let digits = Array(isUpper ? "0123456789ABCDEF" : "0123456789abcdef")
    return mac.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: separator)
  }
}

/// What Home Assistant shows as one line: a reading, or something to switch.
struct NativeEntity: Codable, Sendable, Hashable {
  /// What tells an entity from the others of its kind.
  struct ID: Codable, Sendable, Hashable {
    var device: UInt32
    var key: UInt32
    var kind: UInt8
  }

  enum Kind: Codable, Sendable, Hashable {
    /// A number. `decimals` are how many are shown.
    case sensor(unit: String, decimals: Int, stateClass: StateClass)
    /// Yes or no.
    case binarySensor
    /// A word or a text.
    case textSensor
    /// A command without an argument.
    case button
    /// A command with a number.
    case number(minimum: Float, maximum: Float, step: Float, unit: String)
    /// A command with one of these words.
    case select([String])
    /// A command with yes or no.
    case toggle
    /// A command with a text of at most so many characters.
    case textInput(Int)
  }

  /// What a sensor's number is, as Home Assistant's statistics see it.
  enum StateClass: Int, Codable, Sendable, Hashable {
    case none, measurement, totalIncreasing, total
  }

  enum Category: Int, Codable, Sendable, Hashable {
    case none, configuration, diagnostic
  }

  /// The device that it belongs to; 0 for this machine.
  var device: UInt32
  /// The same for ever: made of what is read, not of its name for people.
  var key: UInt32
  var name: String
  var kind: Kind
  /// Home Assistant's word for what it is: "battery", "voltage".
  var deviceClass = ""
  var category = Category.none
  /// Whether Home Assistant hides it until its user wants it.
  var isDisabled = false

  var id: ID { ID(device: device, key: key, kind: kindNumber) }

  private var kindNumber: UInt8 {
    switch kind {
    case .sensor: 0
    case .binarySensor: 1
    case .textSensor: 2
    case .button: 3
    case .number: 4
    case .select: 5
    case .toggle: 6
    case .textInput: 7
    }
  }

  /// The name as older clients want it: "Time to empty" is "time_to_empty".
  var objectID: String {
    String(
      decoding: name.lowercased().utf8.map { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): byte
        default: UInt8(ascii: "_")
        }
      }.prefix(120), as: UTF8.self)
  }

  /// A key for what is read, by FNV-1 with 32 bits.
  static func key(_ identity: String) -> UInt32 {
    let hash = identity.utf8.reduce(2_166_136_261 as UInt32) { ($0 &* 16_777_619) ^ UInt32($1) }
    return hash == 0 ? 1 : hash
  }
}

/// The state of an entity.
enum NativeState: Sendable, Hashable {
  case number(Float)
  case text(String)
  case flag(Bool)
}

/// What a client wants to be done.
struct NativeCommand: Sendable, Hashable {
  enum Value: Sendable, Hashable {
    case press
    case flag(Bool)
    case number(Float)
    case text(String)
  }

  var entity: NativeEntity.ID
  var value: Value
}
