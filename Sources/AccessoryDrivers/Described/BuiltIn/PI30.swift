// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// Voltronic inverters: replies are text that begins with "(" and ends with a CRC of two bytes and a carriage return.
  static let pi30 = #"""
    protocol: pi30
    version: 1
    description: Voltronic, Axpert, MPP Solar and PIP inverters with the protocol PI30
    # Its setting commands change the output source and the limits of the battery.
    raw: guarded
    byte_order: big
    line: {baud: 2400}

    framings:
      # A byte of the CRC that would end the frame, or begin one, is sent as one more.
      answer:
        layout:
          - start: "("
          - data
          - check: {algorithm: crc-16/xmodem, over: start..data, bump: [28, 0D, 0A]}
          - end: "\r"
      command:
        layout:
          - data
          - check: {algorithm: crc-16/xmodem, over: data, bump: [28, 0D, 0A]}
          - end: "\r"

    messages:
      protocol: {framing: answer, pattern: "PI{protocol_number}"}
      refused: {framing: answer, pattern: "NAK", refusal: true}
      status:
        framing: answer
        columns:
          - {name: grid_voltage, type: number, form: 000.0, unit: V, role: input.voltage}
          - {name: grid_frequency, type: number, form: 00.0, unit: Hz, role: input.frequency}
          - {name: output_voltage, type: number, form: 000.0, unit: V, role: output.voltage}
          - {name: output_frequency, type: number, form: 00.0, unit: Hz, role: output.frequency}
          - {name: apparent_power, type: number, form: 0000, unit: VA, role: ups.power}
          - {name: output_power, type: number, form: 0000, unit: W, role: ups.realpower}
          - {name: load, type: number, form: 000, unit: "%", role: ups.load}
          - {name: bus_voltage, type: number, form: 000, unit: V}
          - {name: battery.voltage, type: number, form: 00.00, unit: V}
          - {name: charging_current, type: number, form: 000, unit: A}
          - {name: battery.percent, type: number, form: 000, unit: "%"}
          - {name: heat_sink_temperature, type: number, form: 0000, unit: °C, role: ups.temperature}
          - {name: panel_current, type: number, form: 0000, unit: A}
          - {name: panel_voltage, type: number, form: 000.0, unit: V}
          - {name: charger_voltage, type: number, form: 00.00, unit: V}
          - {name: discharging_current, type: number, form: 00000, unit: A}
          - name: device_status
            type: bitstring
            form: 00000000
            flags:
              7: sbu-priority
              6: configuration-changed
              5: charger-firmware-updated
              4: load-on
              3: battery-steady
              2: charging
              1: charging-from-panel
              0: charging-from-grid
          # Older ones say no more.
          - {name: fan_offset, type: number, form: 00, optional: true, hidden: true}
          - {name: settings_version, type: number, form: 00, optional: true, hidden: true}
          - {name: panel_power, type: number, form: 00000, unit: W, optional: true}
          - {name: charge_status, type: bitstring, form: 000, optional: true, flags: {2: float-charge, 1: switched-on, 0: dustproof}}
      ratings:
        framing: answer
        columns:
          - {name: rated_grid_voltage, type: number, unit: V, role: input.voltage.nominal}
          - {name: rated_grid_current, type: number, unit: A, role: input.current.nominal}
          - {name: rated_output_voltage, type: number, unit: V, role: output.voltage.nominal}
          - {name: rated_output_frequency, type: number, unit: Hz, role: output.frequency.nominal}
          - {name: rated_output_current, type: number, unit: A, role: output.current.nominal}
          - {name: rated_apparent_power, type: number, unit: VA, role: ups.power.nominal}
          - {name: rated_power, type: number, unit: W, role: ups.realpower.nominal}
          - {name: rated_battery_voltage, type: number, unit: V, role: battery.voltage.nominal}
          - {name: recharge_voltage, type: number, unit: V}
          - {name: lowest_battery_voltage, type: number, unit: V}
          - {name: bulk_voltage, type: number, unit: V}
          - {name: float_voltage, type: number, unit: V}
          - {name: battery_type, type: number, words: {0: agm, 1: flooded, 2: user, 3: pylon}}
          - {name: highest_grid_charging_current, type: number, unit: A}
          - {name: highest_charging_current, type: number, unit: A}
      warnings:
        framing: answer
        columns:
          # By place, from 0: these are warnings by themselves,
          - name: battery.warnings
            type: bitstring
            first: lowest
            form: "00000000000000000000000000000000"
            flags:
              5: line-fail
              6: output-short
              12: battery-low
              14: battery-shutdown
              17: eeprom
              25: power-limit
              26: pv-overvoltage
              28: mppt-overload
              29: battery-too-low-to-charge
          # and these faults. The last four are faults only together with 1.
          - name: battery.faults
            type: bitstring
            first: lowest
            column: 0
            flags:
              1: inverter-fault
              2: bus-overvoltage
              3: bus-undervoltage
              4: bus-soft-fail
              7: inverter-undervoltage
              8: inverter-overvoltage
              18: inverter-overcurrent
              19: inverter-soft-fail
              20: self-test-failed
              21: output-dc-overvoltage
              22: battery-open
              23: current-sensor
              24: battery-short
              27: mppt-overload-fault
          - name: warnings_or_faults
            type: bitstring
            first: lowest
            column: 0
            flags: {9: overheated, 10: fan-locked, 11: battery-overvoltage, 16: overload}
      serial: {framing: answer, pattern: "{identity.serial}", types: {identity.serial: {type: text}}}
      firmware: {framing: answer, pattern: "VERFW:{identity.firmware}", types: {identity.firmware: {type: text}}}
      # By their letters: a buzzer, b overload bypass, j power saving, k display, u overload restart, v heat restart, x backlight,
      # y alarm of interruption, z fault recording.
      settings:
        framing: answer
        pattern: "E{enabled}D{disabled}"
        types: {enabled: {type: text}, disabled: {type: text}}
      model: {framing: answer, pattern: "{identity.model}", types: {identity.model: {type: text}}}
      general_model: {framing: answer, pattern: "{general_model}"}
      mode:
        framing: answer
        columns:
          - name: mode
            type: word
            words:
              P: power-on
              S: standby
              L: line
              B: battery
              F: fault
              H: power-saving
              C: charging
              D: shutdown

    derived:
      - {name: battery.current, rule: difference, of: [charging_current, discharging_current], unit: A}
      - {name: charging, rule: word, of: device_status, contains: charging, word: charging, hidden: true}
      - {name: by_sign, rule: charge-by-sign, of: battery.current, dead_band: 0.5, hidden: true}
      - {name: battery.charging, rule: first, of: [charging, by_sign]}

    requests:
      protocol: {summary: Which protocol it speaks, send: command, data: "QPI", reply: protocol}
      status: {summary: "Grid, output, battery, panel", send: command, data: "QPIGS", reply: status}
      ratings: {summary: What it is made for, send: command, data: "QPIRI", reply: ratings}
      warnings: {summary: Warnings and faults, send: command, data: "QPIWS", reply: warnings}
      serial: {summary: Its serial number, send: command, data: "QID", reply: serial}
      firmware: {summary: The version of its firmware, send: command, data: "QVFW", reply: firmware}
      settings: {summary: "What is turned on and off, by letters", send: command, data: "QFLAG", reply: settings}
      # Only newer ones know these.
      model: {summary: Its model, send: command, data: "QMN", reply: model, optional: true}
      general_model: {summary: Its model by number, send: command, data: "QGMN", reply: general_model, optional: true}
      mode: {summary: What it does, send: command, data: "QMOD", reply: mode}

    plan:
      identify: {request: protocol, expect: {protocol_number: 30}}
      # Half a command may be in its buffer.
      wake: {send: 0D, wait: 100ms}
      retry_refused: true
      poll:
        - {requests: [status, mode], every: 10s}
        - {requests: warnings, every: 60s}
        - {requests: ratings}
        - {requests: general_model}
      timeout: 2s

    examples:
      - request: protocol
        sent: 51 50 49 BE AC 0D
        received: ["(PI30", 9A 0B 0D]
        expect: {protocol_number: 30}
      - request: status
        sent: 51 50 49 47 53 B7 A9 0D
        received:
          - "(000.0 00.0 230.0 49.9 0161 0119 003 460 57.50 012 100 0069 0014 103.8 57.45 00000 00110110 00 00 00856 010"
          - 24 8C 0D
        expect:
          grid_voltage: 0
          output_voltage: 230
          output_frequency: 49.9
          apparent_power: 161
          output_power: 119
          load: 3
          bus_voltage: 460
          battery.voltage: 57.5
          charging_current: 12
          battery.current: 12
          battery.percent: 100
          battery.charging: charging
          heat_sink_temperature: 69
          panel_current: 14
          panel_voltage: 103.8
          panel_power: 856
          device_status: [charging-from-panel, charging, load-on, charger-firmware-updated]
          charge_status: [switched-on]
      - request: ratings
        sent: 51 50 49 52 49 F8 54 0D
        received:
          - "(230.0 21.7 230.0 50.0 21.7 5000 4000 48.0 46.0 42.0 56.4 54.0 0 10 010 1 0 0 6 01 0 0 54.0 0 1"
          - 6F 7E 0D
        expect: {rated_power: 4000, rated_battery_voltage: 48, battery_type: agm, highest_charging_current: 10}
      - request: warnings
        sent: 51 50 49 57 53 B4 DA 0D
        received: ["(00000100000000001000000000000000", 56 A6 0D]
        expect: {battery.warnings: [line-fail], battery.faults: [], warnings_or_faults: [overload]}
      - request: serial
        sent: 51 49 44 D6 EA 0D
        received: ["(9293333010501", BB 07 0D]
        expect: {identity.serial: "9293333010501"}
      - request: firmware
        sent: 51 56 46 57 62 99 0D
        received: ["(VERFW:00072.70", 53 A7 0D]
        expect: {identity.firmware: "00072.70"}
      - request: mode
        sent: 51 4D 4F 44 49 C1 0D
        received: ["(S", E5 D9 0D]
        expect: {mode: standby}
      # The answer's text is a document's, and its CRC was made here.
      - request: settings
        sent: 51 46 4C 41 47 98 74 0D
        received: ["(EakxyDbjuvz", 2F 29 0D]
        expect: {enabled: akxy, disabled: bjuvz}
      - {request: model, sent: 51 4D 4E BB 64 0D}
      - {request: general_model, sent: 51 47 4D 4E 49 29 0D}
      # What is done with a setting.
      - {received: ["(ACK", 39 20 0D]}
      # As a document prints it: the CRC is another's.
      - {request: mode, received: ["(S", 64 39 0D], refused: true}
      - {request: status, received: ["(NAK", 73 73 0D], refused: true}
      # It sets the priority of its output.
      - {sent: ["POP02", E2 0B 0D], write: true}
    """#
}
