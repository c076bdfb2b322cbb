// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The reset of a board by DTR and RTS: the change that starts a client's reset sequence, and the script that runs in
/// place of that sequence.
///
/// A client on the network can't time such a sequence, because each of its changes takes at least one round trip. So this
/// program recognizes the start of the client's sequence, and runs the whole sequence with exact times at the line.
public struct LineReset: Sendable, Hashable {
  /// The name in messages: "boot loader".
  public var name: String
  /// The outputs that must be raised before the trigger.
  public var raised: ModemLines
  /// The outputs that must be lowered before the trigger.
  public var lowered: ModemLines
  /// The trigger: the output whose change starts the reset.
  public var trigger: ModemLines
  /// Whether the trigger is raised (true) or lowered (false).
  public var isTriggerRaised: Bool
  /// The script that runs on the line.
  public var script: LineScript
  /// The outputs that are raised at the end of the client's own sequence, as the client has set them.
  public var endRaised: ModemLines
  /// The outputs that are lowered at the end of the client's own sequence.
  public var endLowered: ModemLines

  /// Creates a reset from its parts. `trigger` must be one output.
  public init(
    _ name: String, raised: ModemLines, lowered: ModemLines, trigger: ModemLines, isTriggerRaised: Bool,
    script: LineScript, endRaised: ModemLines, endLowered: ModemLines
  ) {
    self.name = name
    (self.raised, self.lowered, self.script) = (raised, lowered, script)
    (self.trigger, self.isTriggerRaised) = (trigger, isTriggerRaised)
    (self.endRaised, self.endLowered) = (endRaised, endLowered)
  }

  /// Whether the change of the outputs from `old` to `new` starts this reset.
  func begins(from old: ModemLines, to new: ModemLines) -> Bool {
    old.isSuperset(of: raised) && old.isDisjoint(with: lowered) && old.contains(trigger) != isTriggerRaised
      && new.contains(trigger) == isTriggerRaised
  }

  /// Whether a client that has set these outputs has finished its sequence.
  func isOver(with outputs: ModemLines) -> Bool {
    outputs.isSuperset(of: endRaised) && outputs.isDisjoint(with: endLowered)
  }
}

extension LineReset {
  /// Resets for boards with an ESP8266 or ESP32 whose EN is driven by RTS and whose IO0 is driven by DTR, like
  /// Espressif's own boards: RTS alone keeps the chip in reset, DTR alone selects the boot loader. The times are the same
  /// as in esptool: 100 ms in reset, then IO0 low for 50 ms.
  ///
  /// A client's boot loader sequence is DTR off, RTS on, DTR on, RTS off, DTR off; a plain reset is RTS on and off.
  public static let esp: [LineReset] = [
    LineReset(
      "boot loader", raised: .rts, lowered: .dtr, trigger: .dtr, isTriggerRaised: true,
      script: LineScript(known: [
        .set(raising: .rts, lowering: .dtr), .wait(.milliseconds(100)), .set(raising: .dtr, lowering: .rts),
        .wait(.milliseconds(50)), .set(raising: [], lowering: [.dtr, .rts]),
      ]), endRaised: [], endLowered: [.dtr, .rts]),
    LineReset(
      "restart", raised: .rts, lowered: .dtr, trigger: .rts, isTriggerRaised: false,
      script: LineScript(known: [
        .set(raising: .rts, lowering: .dtr), .wait(.milliseconds(100)), .set(raising: [], lowering: [.dtr, .rts]),
      ]), endRaised: [], endLowered: [.dtr, .rts]),
  ]

  /// The reset for boards like the Arduino, which a rising DTR resets through a capacitor. The script lowers DTR for 250
  /// ms, in which the capacitor discharges, and raises it. A client's sequence is DTR off, DTR on.
  public static let arduino: [LineReset] = [
    LineReset(
      "reset", raised: [], lowered: .dtr, trigger: .dtr, isTriggerRaised: true,
      script: LineScript(known: [
        .set(raising: [], lowering: .dtr), .wait(.milliseconds(250)), .set(raising: .dtr, lowering: []),
      ]), endRaised: .dtr, endLowered: [])
  ]
}
