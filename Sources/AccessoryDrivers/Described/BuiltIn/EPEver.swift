// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// Solar chargers of EPEver and EPsolar, with Modbus.
  static let epever = #"""
    protocol: epever
    version: 1
    description: EPEver and EPsolar Tracer solar chargers
    # Registers and coils set the charge voltages and switch the load.
    raw: guarded
    line: {baud: 115200}
    # Some models refuse a request with a register that they don't have, so what belongs together is one group.
    modbus: {unit: 1, words_first: low}

    registers:
      battery:
        summary: Voltage and current of the battery
        function: 4
        fields:
          - {at: 0x331A, name: battery.voltage, type: u16, scale: 0.01, unit: V}
          - {at: 0x331B, name: battery.current, type: i32, scale: 0.01, unit: A}
      charge:
        summary: How full the battery is
        function: 4
        fields:
          # The manual says hundredths of a part; they send percents.
          - {at: 0x311A, name: battery.percent, type: u16, unit: "%"}
      temperatures:
        summary: Temperatures of the battery and of the charger
        function: 4
        fields:
          - {at: 0x3110, name: battery.temperature, type: i16, scale: 0.01, unit: °C}
          - {at: 0x3111, name: temperature, type: i16, scale: 0.01, unit: °C, role: ups.temperature}
      state:
        summary: What battery, charger and load are doing
        function: 4
        fields:
          - at: 0x3200
            name: battery_condition
            type: u16
            bits: 0..3
            words: {0: normal, 1: overvoltage, 2: undervoltage, 3: low-voltage-disconnect, 4: fault}
          - {at: 0x3200, name: battery_heat, type: u16, bits: 4..7, words: {0: normal, 1: hot, 2: cold}}
          - at: 0x3200
            name: battery.faults
            type: u16
            flags: {8: internal-resistance, 15: wrong-rated-voltage}
          - {at: 0x3201, name: is_charging, type: u16, bits: 0, truth: true}
          - at: 0x3201
            name: charging_stage
            type: u16
            bits: 2..3
            words: {0: none, 1: float, 2: boost, 3: equalize}
          - at: 0x3201
            name: charger_faults
            type: u16
            flags:
              1: fault
              4: pv-short
              7: load-mosfet-short
              8: load-short
              9: load-overcurrent
              10: input-overcurrent
              11: reverse-mosfet-short
              12: charging-or-reverse-mosfet-short
              13: charging-mosfet-short
          - at: 0x3201
            name: input_condition
            type: u16
            bits: 14..15
            words: {0: normal, 1: none, 2: too-high, 3: error}
          - {at: 0x3202, name: is_load_on, type: u16, bits: 0, truth: true}
          - {at: 0x3202, name: has_load_fault, type: u16, bits: 1, truth: true}
      solar:
        summary: Voltage, current and power of the panels and to the battery
        function: 4
        fields:
          - {at: 0x3100, name: solar_voltage, type: u16, scale: 0.01, unit: V}
          - {at: 0x3101, name: solar_current, type: u16, scale: 0.01, unit: A}
          - {at: 0x3102, name: solar_power, type: u32, scale: 0.01, unit: W}
          - {at: 0x3104, name: charging_voltage, type: u16, scale: 0.01, unit: V}
          - {at: 0x3105, name: charging_current, type: u16, scale: 0.01, unit: A}
      load:
        summary: Voltage, current and power of the load
        function: 4
        fields:
          - {at: 0x310C, name: load_voltage, type: u16, scale: 0.01, unit: V, role: output.voltage}
          - {at: 0x310D, name: load_current, type: u16, scale: 0.01, unit: A, role: output.current}
          - {at: 0x310E, name: load_power, type: u32, scale: 0.01, unit: W, role: ups.realpower}
      statistics:
        summary: The battery's highest and lowest voltage today, energy consumed and generated
        function: 4
        fields:
          - {at: 0x3302, name: battery_voltage_highest_today, type: u16, scale: 0.01, unit: V}
          - {at: 0x3303, name: battery_voltage_lowest_today, type: u16, scale: 0.01, unit: V}
          - {at: 0x3304, name: consumed_today, type: u32, scale: 0.01, unit: kWh}
          - {at: 0x3306, name: consumed_this_month, type: u32, scale: 0.01, unit: kWh}
          - {at: 0x3308, name: consumed_this_year, type: u32, scale: 0.01, unit: kWh}
          - {at: 0x330A, name: consumed, type: u32, scale: 0.01, unit: kWh}
          - {at: 0x330C, name: generated_today, type: u32, scale: 0.01, unit: kWh}
          - {at: 0x330E, name: generated_this_month, type: u32, scale: 0.01, unit: kWh}
          - {at: 0x3310, name: generated_this_year, type: u32, scale: 0.01, unit: kWh}
          - {at: 0x3312, name: generated, type: u32, scale: 0.01, unit: kWh}
      solar_extremes:
        summary: The panels' highest and lowest voltage today
        function: 4
        fields:
          - {at: 0x3300, name: solar_voltage_highest_today, type: u16, scale: 0.01, unit: V}
          - {at: 0x3301, name: solar_voltage_lowest_today, type: u16, scale: 0.01, unit: V}
      overheated:
        summary: Whether the charger is too hot
        function: 2
        fields:
          - {at: 0x2000, name: is_overheated, truth: true}
      night:
        summary: Whether it is night
        function: 2
        fields:
          - {at: 0x200C, name: is_night, truth: true}
      rating:
        summary: The voltage that the panels may have
        function: 4
        fields:
          - {at: 0x3000, name: solar_voltage_rated, type: u16, scale: 0.01, unit: V}
      system_voltage:
        summary: The voltage that the system is made for
        function: 4
        fields:
          - {at: 0x311D, name: system_voltage, type: u16, scale: 0.01, unit: V}
      battery_kind:
        summary: The kind of the battery, and its capacity as it was set
        function: 3
        fields:
          - {at: 0x9000, name: battery_kind, type: u16, words: {0: user, 1: sealed, 2: gel, 3: flooded}}
          - {at: 0x9001, name: battery.full, type: u16, unit: Ah}
      clock:
        summary: The charger's clock
        function: 3
        fields:
          - {at: 0x9013, half: high, name: clock_minute, type: u8}
          - {at: 0x9013, half: low, name: clock_second, type: u8}
          - {at: 0x9014, half: high, name: clock_day, type: u8}
          - {at: 0x9014, half: low, name: clock_hour, type: u8}
          - {at: 0x9015, half: high, name: clock_year, type: u8, offset: 2000}
          - {at: 0x9015, half: low, name: clock_month, type: u8}

    derived:
      - {name: battery.charging, rule: charge-by-sign, of: battery.current, dead_band: 0.05}

    plan:
      identify: {request: battery}
      poll:
        - {requests: [battery, charge, state, solar, load], every: 10s}
        - {requests: [temperatures, overheated, night], every: 60s}
        - {requests: [statistics], every: 5m}
      # It needs 5 to 10 ms between an answer and the next request.
      gap: 15ms
      timeout: 500ms

    examples:
      - request: state
        sent: 01 04 32 00 00 03 BE B3
        received: 01 04 06 0000 0001 0001 F093
        expect:
          battery_condition: normal
          battery_heat: normal
          battery.faults: []
          is_charging: true
          charging_stage: none
          charger_faults: []
          input_condition: normal
          is_load_on: true
          has_load_fault: false
      - request: battery
        sent: 01 04 33 1A 00 03 9E 88
        received: 01 04 06 04FC FFFD FFFF 9157
        expect: {battery.voltage: 12.76, battery.current: -0.03, battery.charging: not_charging}
      - request: overheated
        sent: 01 02 20 00 00 01 B2 0A
        received: 01 02 01 00 A1 88
        expect: {is_overheated: false}
      - request: statistics
        sent: 01 04 33 02 00 12 DE 83
        received:
          01 04 24 04FC 04FA 0000 0000 0042 0000 0042 0000 0042 0000 0000 0000 0067 0000 0067 0000 0067 0000 9D8B
        expect:
          battery_voltage_highest_today: 12.76
          battery_voltage_lowest_today: 12.74
          consumed_today: 0
          consumed_this_month: 0.66
          consumed_this_year: 0.66
          consumed: 0.66
          generated_today: 0
          generated_this_month: 1.03
          generated_this_year: 1.03
          generated: 1.03
      - request: clock
        sent: 01 03 90 13 00 03 D9 0E
        received: 01 03 06 0633 1301 0F06 F5A1
        expect: {clock_hour: 1, clock_minute: 6, clock_second: 51, clock_day: 19, clock_month: 6, clock_year: 2015}
      # The maker's own programs ask for 27 registers at once with a function of his, which isn't used here.
      - {received: 01 43 31 00 00 1B 0A F2, refused: true}
      # These are worked out, not recorded.
      - request: charge
        sent: 01 04 31 1A 00 01 1E F1
        received: 01 04 02 00 57 F8 CE
        expect: {battery.percent: 87}
      - request: solar
        sent: 01 04 31 00 00 06 7E F4
        received: 01 04 0C 07 08 01 11 13 4B 00 00 05 19 01 72 31 2A
        expect:
          solar_voltage: 18
          solar_current: 2.73
          solar_power: 49.39
          charging_voltage: 13.05
          charging_current: 3.7
      - request: load
        sent: 01 04 31 0C 00 04 3F 36
        received: 01 04 08 04 FC 00 55 04 3C 00 00 D4 C1
        expect: {load_voltage: 12.76, load_current: 0.85, load_power: 10.84}
      - request: temperatures
        sent: 01 04 31 10 00 02 7E F2
        received: 01 04 04 FE 0C 08 98 0C 05
        expect: {battery.temperature: -5, temperature: 22}
      - request: night
        sent: 01 02 20 0C 00 01 72 09
        received: 01 02 01 00 A1 88
        expect: {is_night: false}
      - request: battery_kind
        sent: 01 03 90 00 00 02 E9 0B
        received: 01 03 04 00 01 00 64 AA 18
        expect: {battery_kind: sealed, battery.full: 100}
      - {request: charge, received: 01 84 02 C2 C1, refused: true}
    """#
}
