// SPDX-License-Identifier: Apache-2.0

import ESPHomeAPI

/// The messages of the native API, version 1.18, that this server sends. Numbers and fields are those of ESPHome's `api.proto`.
enum NativeMessage {
  /// The version of the interface. Clients ask for what it has.
  static let (major, minor) = (1, 18)

  typealias ID = NativeMessageID
  typealias Made = (id: Int, payload: [UInt8])

  static func make(_ id: Int, _ fields: (inout ProtobufWriter) -> Void) -> Made {
    var writer = ProtobufWriter()
    fields(&writer)
    return (id, writer.bytes)
  }

  static func hello(_ box: NativeBox) -> Made {
    make(ID.helloReply) {
      $0.put(1, major)
      $0.put(2, minor)
      $0.put(3, "Accessory Bridge " + box.version)
      $0.put(4, box.name)
    }
  }

  static func deviceInfo(_ box: NativeBox, _ ports: [NativePort] = []) -> Made {
    let areas = box.areas
    return make(ID.deviceInfoReply) { writer in
      writer.put(2, box.name)
      writer.put(3, box.macText())
      // Home Assistant shows it beside the project's version.
      writer.put(4, "\(major).\(minor)")
      writer.put(6, "Gateway")
      // The part before the dot is the maker, and that after it the product.
      writer.put(8, "Accessory Bridge.Gateway")
      writer.put(9, cut(box.version, 31))
      writer.put(10, Int(box.webPort))
      writer.put(12, "Accessory Bridge")
      writer.put(13, cut(box.friendlyName, 120))
      writer.put(19, box.isEncrypted)
      for device in box.devices {
        writer.put(
          20,
          message: { inner in
            inner.put(1, Int(device.id))
            inner.put(2, cut(device.name, 120))
            inner.put(3, (areas.firstIndex(of: device.area) ?? -1) + 1)
            inner.put(4, 1)
          })
      }
      for (index, area) in areas.enumerated() {
        writer.put(
          21,
          message: { inner in
            inner.put(1, index + 1)
            inner.put(2, cut(area, 120))
          })
      }
      put(ports, 25, in: &writer)
    }
  }

  /// An entity, without its state.
  static func list(_ entity: NativeEntity) -> Made {
    func common(_ writer: inout ProtobufWriter) {
      writer.put(1, entity.objectID)
      writer.put(fixed: 2, entity.key)
      writer.put(3, cut(entity.name, 120))
    }
    let device = Int(entity.device)
    switch entity.kind {
    case .binarySensor:
      return make(12) {
        common(&$0)
        $0.put(5, entity.deviceClass)
        $0.put(7, entity.isDisabled)
        $0.put(9, entity.category.rawValue)
        $0.put(10, device)
      }
    case .sensor(let unit, let decimals, let stateClass):
      return make(16) {
        common(&$0)
        $0.put(6, cut(unit, 63))
        $0.put(7, decimals)
        $0.put(9, entity.deviceClass)
        $0.put(10, stateClass.rawValue)
        $0.put(12, entity.isDisabled)
        $0.put(13, entity.category.rawValue)
        $0.put(14, device)
      }
    case .textSensor, .button:
      let id = if case .button = entity.kind { 61 } else { 18 }
      return make(id) {
        common(&$0)
        $0.put(6, entity.isDisabled)
        $0.put(7, entity.category.rawValue)
        $0.put(8, entity.deviceClass)
        $0.put(9, device)
      }
    case .number(let minimum, let maximum, let step, let unit):
      return make(49) {
        common(&$0)
        $0.put(6, minimum)
        $0.put(7, maximum)
        $0.put(8, step)
        $0.put(9, entity.isDisabled)
        $0.put(10, entity.category.rawValue)
        $0.put(11, cut(unit, 63))
        // A field to type into, since a slider's every step would be sent.
        $0.put(12, 1)
        $0.put(14, device)
      }
    case .toggle:
      return make(17) {
        common(&$0)
        $0.put(7, entity.isDisabled)
        $0.put(8, entity.category.rawValue)
        $0.put(10, device)
      }
    case .textInput(let limit):
      return make(97) {
        common(&$0)
        $0.put(6, entity.isDisabled)
        $0.put(7, entity.category.rawValue)
        $0.put(9, limit)
        $0.put(12, device)
      }
    case .select(let words):
      return make(52) { writer in
        common(&writer)
        for word in words { writer.put(6, word) }
        writer.put(7, entity.isDisabled)
        writer.put(8, entity.category.rawValue)
        writer.put(9, device)
      }
    }
  }

  /// The state of an entity; nil for one that has none. An unknown state is told as missing.
  static func state(_ entity: NativeEntity, _ state: NativeState?) -> Made? {
    func make(_ id: Int, missing: Int = 3, _ value: (inout ProtobufWriter) -> Bool) -> Made {
      Self.make(id) {
        $0.put(fixed: 1, entity.key)
        if !value(&$0) { $0.put(missing, true) }
        // The two fields change places in the state of a switch.
        $0.put(7 - missing, Int(entity.device))
      }
    }
    switch entity.kind {
    case .binarySensor:
      return make(21) {
        guard case .flag(let flag)? = state else { return false }
        $0.put(2, flag)
        return true
      }
    case .sensor, .number:
      let id = if case .sensor = entity.kind { 25 } else { 50 }
      return make(id) {
        guard case .number(let number)? = state, number.isFinite else { return false }
        $0.put(2, number)
        return true
      }
    case .toggle:
      return make(26, missing: 4) {
        guard case .flag(let flag)? = state else { return false }
        $0.put(2, flag)
        return true
      }
    case .textSensor, .select, .textInput:
      let id =
        switch entity.kind {
        case .textSensor: 27
        case .select: 53
        default: 98
        }
      return make(id) {
        guard case .text(let text)? = state else { return false }
        $0.put(2, cut(text, 255))
        return true
      }
    case .button: return nil
    }
  }

  /// The beginning of a text, in characters.
  static func cut(_ text: String, _ count: Int) -> String { String(text.prefix(count)) }
}
