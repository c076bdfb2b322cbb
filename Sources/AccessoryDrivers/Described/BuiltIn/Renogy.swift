// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// Solar chargers of Renogy, with Modbus.
  static let renogy = rover(
    "renogy", "Renogy Rover and Wanderer solar chargers; experimental, as nobody recorded one",
    scaleOfCurrent: "0.01", current: "014B", check: "3FDB")

  /// SRNE's solar chargers have the same registers, with one exception: one register has another scale.
  static let srne = rover(
    "srne", "SRNE solar chargers; experimental, as nobody recorded one", scaleOfCurrent: "0.1", current: "0021",
    check: "1464")

  /// The description of a charger with these registers, made from published documents.
  private static func rover(
    _ name: String, _ summary: String, scaleOfCurrent: String, current: String, check: String
  ) -> String {
    #"""
    protocol: \#(name)
    version: 1
    description: \#(summary)
    # Registers set the charge voltages and switch the load.
    raw: guarded
    line: {baud: 9600}
    modbus: {unit: 1}

    registers:
      charge:
        summary: Battery, load and panel
        function: 3
        fields:
          - {at: 0x0100, name: battery.percent, type: u16, unit: "%"}
          - {at: 0x0101, name: battery.voltage, type: u16, scale: 0.1, unit: V}
          # What the charger gives. Sources disagree on its scale: Renogy's has hundredths of an ampere, SRNE's tenths.
          - {at: 0x0102, name: battery.current, type: u16, scale: \#(scaleOfCurrent), unit: A}
          - {at: 0x0103, half: high, name: temperature, type: m8, unit: °C, role: ups.temperature}
          - {at: 0x0103, half: low, name: battery.temperature, type: m8, unit: °C}
          - {at: 0x0104, name: load_voltage, type: u16, scale: 0.1, unit: V, role: output.voltage}
          - {at: 0x0105, name: load_current, type: u16, scale: 0.01, unit: A, role: output.current}
          - {at: 0x0106, name: load_power, type: u16, unit: W, role: ups.realpower}
          - {at: 0x0107, name: solar_voltage, type: u16, scale: 0.1, unit: V}
          - {at: 0x0108, name: solar_current, type: u16, scale: 0.01, unit: A}
          - {at: 0x0109, name: solar_power, type: u16, unit: W}
      state:
        summary: What the charger is doing
        function: 3
        fields:
          - at: 0x0120
            half: low
            name: charging_stage
            type: u8
            words: {0: "off", 1: "on", 2: mppt, 3: equalize, 4: boost, 5: float, 6: limited}
      model:
        summary: Which model it is
        function: 3
        fields:
          - {at: 0x000C, name: identity.model, type: text, bytes: 16}

    derived:
      # It doesn't know what else is taken from the battery: one that isn't charged may be discharged.
      - name: battery.charging
        rule: words
        of: charging_stage
        words: {"on": charging, mppt: charging, equalize: charging, boost: charging, float: charging, limited: charging}

    plan:
      identify: {request: charge}
      poll:
        - {requests: [charge, state], every: 10s}
      timeout: 500ms
      gap: 20ms

    examples:
      # These are worked out, not recorded.
      - request: charge
        sent: 01 03 01 00 00 0A C4 31
        received: 01 03 14 0057 0084 \#(current) 1985 0084 0055 0070 00B7 010C 0031 \#(check)
        expect:
          battery.percent: 87
          battery.voltage: 13.2
          battery.current: 3.3\#(name == "renogy" ? "1" : "")
          temperature: 25
          battery.temperature: -5
          load_voltage: 13.2
          load_current: 0.85
          load_power: 112
          solar_voltage: 18.3
          solar_current: 2.68
          solar_power: 49
      - request: state
        sent: 01 03 01 20 00 01 84 3C
        received: 01 03 02 00 02 39 85
        expect: {charging_stage: mppt, battery.charging: charging}
      # The other half is the load's.
      - {request: state, received: 01 03 02 80 02 58 45, expect: {charging_stage: mppt}}
      - request: model
        sent: 01 03 00 0C 00 08 84 0F
        received: 01 03 10 524E472D4354524C2D52565234302020 7881
        expect: {identity.model: RNG-CTRL-RVR40}
      - {request: state, received: 01 83 02 C0 F1, refused: true}
    """#
  }
}
