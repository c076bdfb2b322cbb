// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// Daly battery management systems: frames of 13 bytes that begin with A5. The examples are of one pack of 14 cells.
  static let daly = """
    protocol: daly
    version: 1
    description: Daly BMS with classic A5 frames
    # The command D9 switches the discharge MOSFET, and others set the protection limits.
    raw: guarded
    byte_order: big
    line: {baud: 9600}

    framings:
      frame:
        layout:
          - start: A5
          - address: u8
          - id: u8
          - constant: 08
          - data: 8
          - check: {algorithm: sum8, over: start..data}
        max: 13

    # A board is called by 3F and its number, and calls itself by its number.
    units: {element: address, to: 16, sent: 0x3F}

    messages:
      # 30000 is no current; it counts up while discharging.
      basic:
        when: {id: 0x90}
        fields:
          - {name: battery.voltage, type: u16, scale: 0.1, unit: V}
          - skip: 2
          - {name: battery.current, type: u16, offset: -30000, scale: -0.1, unit: A}
          - {name: battery.percent, type: u16, scale: 0.1, unit: "%"}
      extremes:
        when: {id: 0x91}
        fields:
          - {name: highest_cell_voltage, type: u16, scale: 0.001, unit: V}
          - {name: highest_cell, type: u8}
          - {name: lowest_cell_voltage, type: u16, scale: 0.001, unit: V}
          - {name: lowest_cell, type: u8}
      temperature_extremes:
        when: {id: 0x92}
        fields:
          # They are among battery.temperatures, so they are no temperatures of the battery in addition.
          - {name: highest_temperature, type: u8, offset: -40, unit: °C}
          - {name: hottest_sensor, type: u8}
          - {name: lowest_temperature, type: u8, offset: -40, unit: °C}
          - {name: coldest_sensor, type: u8}
      state:
        when: {id: 0x93}
        fields:
          - {name: battery.charging, type: u8, words: {0: not_charging, 1: charging, 2: discharging}}
          - {name: charge_mosfet, type: u8, truth: true}
          - {name: discharge_mosfet, type: u8, truth: true}
          - {name: life_counter, type: u8}
          - {name: battery.remaining, type: u32, scale: 0.001, unit: Ah}
      counts:
        when: {id: 0x94}
        fields:
          - {name: cell_count, type: u8}
          - {name: sensor_count, type: u8}
          - {name: charger_connected, type: u8, truth: true}
          - {name: load_connected, type: u8, truth: true}
          - name: switches
            type: u8
            flags:
              0: input-1
              1: input-2
              2: input-3
              3: input-4
              4: output-1
              5: output-2
              6: output-3
              7: output-4
          - {name: battery.cycles, type: u16}
      # Three cells in a frame; the last frame is filled up.
      cells:
        when: {id: 0x95}
        fields:
          - {name: cell_frame, type: u8, hidden: true}
          - {name: battery.cells, type: u16, scale: 0.001, unit: V, repeat: 3}
        pieces: {index: cell_frame, first: 1, count: cell_count, each: 3}
      temperatures:
        when: {id: 0x96}
        fields:
          - {name: sensor_frame, type: u8, hidden: true}
          - {name: battery.temperatures, type: u8, offset: -40, unit: °C, unknown: 0, repeat: 7}
        pieces: {index: sensor_frame, first: 1, count: sensor_count, each: 7}
      balancing:
        when: {id: 0x97}
        fields:
          - name: balancing
            type: u48le
            flags:
              0: cell-1
              1: cell-2
              2: cell-3
              3: cell-4
              4: cell-5
              5: cell-6
              6: cell-7
              7: cell-8
              8: cell-9
              9: cell-10
              10: cell-11
              11: cell-12
              12: cell-13
              13: cell-14
              14: cell-15
              15: cell-16
              16: cell-17
              17: cell-18
              18: cell-19
              19: cell-20
              20: cell-21
              21: cell-22
              22: cell-23
              23: cell-24
      # What is called -1 is a warning; at -2 it protects itself.
      faults:
        when: {id: 0x98}
        fields:
          - name: battery.warnings
            type: u8
            stay: true
            list: true
            flags: {0: cell-overvoltage, 2: cell-undervoltage, 4: pack-overvoltage, 6: pack-undervoltage}
          - name: battery.faults
            type: u8
            list: true
            flags: {1: cell-overvoltage, 3: cell-undervoltage, 5: pack-overvoltage, 7: pack-undervoltage}
          - name: battery.warnings
            type: u8
            stay: true
            list: true
            flags:
              0: charge-overtemperature
              2: charge-undertemperature
              4: discharge-overtemperature
              6: discharge-undertemperature
          - name: battery.faults
            type: u8
            list: true
            flags:
              1: charge-overtemperature
              3: charge-undertemperature
              5: discharge-overtemperature
              7: discharge-undertemperature
          - name: battery.warnings
            type: u8
            stay: true
            list: true
            flags: {0: charge-overcurrent, 2: discharge-overcurrent, 4: soc-high, 6: soc-low}
          - name: battery.faults
            type: u8
            list: true
            flags: {1: charge-overcurrent, 3: discharge-overcurrent, 5: soc-high, 7: soc-low}
          - {name: battery.warnings, type: u8, stay: true, list: true, flags: {0: cell-difference, 2: temperature-difference}}
          - {name: battery.faults, type: u8, list: true, flags: {1: cell-difference, 3: temperature-difference}}
          - name: battery.faults
            type: u8
            list: true
            flags:
              0: charge-mosfet-hot
              1: discharge-mosfet-hot
              2: charge-mosfet-sensor
              3: discharge-mosfet-sensor
              4: charge-mosfet-stuck
              5: discharge-mosfet-stuck
              6: charge-mosfet-open
              7: discharge-mosfet-open
          - name: battery.faults
            type: u8
            list: true
            flags:
              0: afe-error
              1: voltage-wire-lost
              2: cell-temperature-sensor
              3: eeprom
              4: clock
              5: precharge
              6: communication
              7: internal-communication
          - name: battery.faults
            type: u8
            list: true
            flags: {0: current-module, 1: pack-voltage, 2: short-circuit, 3: low-voltage-forbids-charging}
          - {name: fault_code, type: u8}
      ratings:
        when: {id: 0x50}
        fields:
          - {name: battery.full, type: u32, scale: 0.001, unit: Ah}
          - {name: rated_cell_voltage, type: u32, scale: 0.001, unit: V}

    # A board that sleeps sends a request back as it was: its address isn't a reply's.
    requests:
      basic: {summary: "Voltage, current, charge", send: frame, with: {id: 0x90}, reply: basic, same: id}
      extremes: {summary: The highest and lowest cell, send: frame, with: {id: 0x91}, reply: extremes, same: id}
      temperature_extremes:
        summary: The warmest and coldest sensor
        send: frame
        with: {id: 0x92}
        reply: temperature_extremes
        same: id
      state: {summary: "Charging, MOSFETs, capacity", send: frame, with: {id: 0x93}, reply: state, same: id}
      counts: {summary: "Cells, sensors, cycles", send: frame, with: {id: 0x94}, reply: counts, same: id}
      cells: {summary: The voltage of each cell, send: frame, with: {id: 0x95}, reply: cells, same: id}
      temperatures:
        summary: The temperature of each sensor
        send: frame
        with: {id: 0x96}
        reply: temperatures
        same: id
      balancing: {summary: Which cells are balanced, send: frame, with: {id: 0x97}, reply: balancing, same: id}
      faults: {summary: Warnings and faults, send: frame, with: {id: 0x98}, reply: faults, same: id}
      ratings: {summary: What it is made for, send: frame, with: {id: 0x50}, reply: ratings, same: id}

    plan:
      identify: {request: basic}
      start: counts
      poll:
        - {requests: [basic, state, temperature_extremes, faults], every: 10s}
        - {requests: [counts, cells, temperatures], every: 60s}
        - {requests: balancing, every: 60s}
      gap: 50ms
      tries: 4
      retry_gap: 300ms

    examples:
      - request: basic
        sent: A5 40 90 08 00 00 00 00 00 00 00 00 7D
        received: A501900802100000753001F4EA
        expect: {battery.voltage: 52.8, battery.current: 0, battery.percent: 50}
      - request: extremes
        sent: A5 40 91 08 00 00 00 00 00 00 00 00 7E
        received: A50191080EC8050E9C0901F4C2
        expect: {highest_cell_voltage: 3.784, highest_cell: 5, lowest_cell_voltage: 3.74, lowest_cell: 9}
      - request: temperature_extremes
        sent: A5 40 92 08 00 00 00 00 00 00 00 00 7F
        received: A50192083D013D019C0901F456
        expect: {highest_temperature: 21, hottest_sensor: 1, lowest_temperature: 21, coldest_sensor: 1}
      - request: state
        sent: A5 40 93 08 00 00 00 00 00 00 00 00 80
        received: A50193080001011000004E20C1
        expect:
          battery.charging: not_charging
          charge_mosfet: true
          discharge_mosfet: true
          life_counter: 16
          battery.remaining: 20
      - request: counts
        sent: A5 40 94 08 00 00 00 00 00 00 00 00 81
        received: A5019408 0E0100000200 0020 73
        expect:
          cell_count: 14
          sensor_count: 1
          charger_connected: false
          load_connected: false
          switches: [input-2]
          battery.cycles: 0
      - request: cells
        sent: A5 40 95 08 00 00 00 00 00 00 00 00 82
        received: A5019508010EC00EC20EC720D7 A5019508020EC80EC80EC620E5 A5019508030EC20EC20E9C20B0
          A5019508040EC40EC40EC420DD A5019508050EC30EC00EC420D9
        given: {cell_count: 14}
        expect:
          battery.cells: [
            3.776, 3.778, 3.783, 3.784, 3.784, 3.782, 3.778, 3.778, 3.740, 3.780, 3.780, 3.780, 3.779, 3.776]
      - request: temperatures
        sent: A5 40 96 08 00 00 00 00 00 00 00 00 83
        received: A5019608013D00000000000082 A5019608020000000000000046
        given: {sensor_count: 1}
        expect: {battery.temperatures: [21]}
      - request: balancing
        sent: A5 40 97 08 00 00 00 00 00 00 00 00 84
        received: A5019708000000000000000045
        expect: {balancing: []}
      - request: faults
        sent: A5 40 98 08 00 00 00 00 00 00 00 00 85
        received: A5019808000000000000000046
        expect: {battery.faults: [], battery.warnings: []}
      - {request: ratings, sent: A5 40 50 08 00 00 00 00 00 00 00 00 3D}
      - request: basic
        received: A501900800820000753001F359
        expect: {battery.voltage: 13, battery.current: 0, battery.percent: 49.9}
      - request: extremes
        received: A50191080CB5020CB2010003C4
        expect: {highest_cell_voltage: 3.253, highest_cell: 2, lowest_cell_voltage: 3.25, lowest_cell: 1}
      - request: basic
        received: A501900801010000753001462C
        expect: {battery.voltage: 25.7, battery.current: 0, battery.percent: 32.6}
      - request: basic
        received: A501900802FC000075A1000052
        expect: {battery.voltage: 76.4, battery.current: -11.3, battery.percent: 0}
      # A sleeping board's echo.
      - {request: basic, received: A5 40 90 08 00 00 00 00 00 00 00 00 7D, refused: true}
      # The sum is wrong.
      - {request: basic, received: A501900802100000753001F4EB, refused: true}
      # It switches the discharge MOSFET off.
      - {sent: A5 40 D9 08 00 00 00 00 00 00 00 00 C6, write: true}
    """
}
