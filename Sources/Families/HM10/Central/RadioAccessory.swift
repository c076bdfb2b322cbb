// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink

/// An accessory with a Bluetooth radio, which can search for other devices and connect to them.
/// `Accessory.narrowed(to:)` tells whether an accessory is one.
public protocol RadioAccessory: Accessory {
  /// The radio; nil when the accessory can't control it.
  var radio: (any HM10Radio)? { get }
}

extension Accessory {
  /// The accessory's Bluetooth radio; nil when it has none, or can't control it.
  @available(*, deprecated, message: "use narrowed(to: (any RadioAccessory).self)?.radio")
  public var radio: (any HM10Radio)? { narrowed(to: (any RadioAccessory).self)?.radio }
}

extension Driver {
  /// Whether its accessories have a radio.
  @available(*, deprecated, message: "use accessoryType is any RadioAccessory.Type")
  public var hasRadio: Bool { accessoryType is any RadioAccessory.Type }

  /// A driver that says whether its accessories have a radio.
  @available(*, deprecated, message: "say accessoryType in place of hasRadio")
  public init(
    name: String, summary: String = "", commands: [CommandDescription] = [], hasRadio: Bool,
    polls: [AccessoryPoll] = [.readings()], freshness: Duration? = nil, hasWrites: Bool = false,
    rawBytes: RawBytes = .guarded, lacks: Set<DriverAbility> = [], units: LineUnits? = nil, preview: Preview? = nil,
    previewRemark: String = "",
    frames: (@Sendable () -> any FrameReader)? = nil, routing: Router? = nil, greeting: Greeting? = nil,
    make: @escaping Maker
  ) {
    self.init(
      name: name, summary: summary, commands: commands, accessoryType: hasRadio ? HM10Module.self : nil,
      polls: polls, freshness: freshness, rawBytes: rawBytes, lacks: lacks, units: units, preview: preview,
      previewRemark: previewRemark, frames: frames, routing: routing, greeting: greeting, make: make)
  }
}
