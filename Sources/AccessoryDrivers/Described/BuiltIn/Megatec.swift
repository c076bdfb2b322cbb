// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// Low-cost UPSs with a serial port. The examples are of several UPSs; the one of a UPS on battery was derived from these.
  static let megatec = #"""
    protocol: megatec
    version: 1
    description: UPS that speaks Megatec's Q1 (Blazer), or its relative QGS
    # S switches the load off, and T runs the load from the battery for a test.
    raw: guarded
    # Many cables take their supply from these.
    line: {baud: 2400, dtr: on, rts: off}

    framings:
      status:
        layout: [start: "(", data, end: "\r"]
        max: 128
      facts:
        layout: [start: "#", data, end: "\r"]
        max: 96
      # What it doesn't know it sends back, or says NAK, or nothing.
      line:
        layout: [data, end: "\r"]
        max: 32

    messages:
      status:
        framing: status
        columns:
          - {name: input_voltage, type: number, form: 000.0, unit: V, role: input.voltage, unknown: dashes}
          - {name: fault_voltage, type: number, form: 000.0, unit: V, role: input.voltage.fault, unknown: dashes}
          - {name: output_voltage, type: number, form: 000.0, unit: V, role: output.voltage, unknown: dashes}
          - {name: load, type: number, form: 000, unit: "%", role: ups.load, unknown: dashes}
          - {name: frequency, type: number, form: 00.0, unit: Hz, role: input.frequency, unknown: dashes}
          # Of the whole battery, or of one cell: see derived.
          - {name: reported_voltage, type: number, unit: V, unknown: dashes, hidden: true}
          - {name: temperature, type: number, form: 00.0, unit: °C, role: ups.temperature, unknown: dashes}
          # The first is bit 7.
          - {name: on_battery, type: bitstring, form: 00000000, bits: 7, truth: true, role: ups.on_battery}
          - {name: battery.warnings, type: bitstring, form: 00000000, column: 7, flags: {6: battery-low}}
          - {name: battery.faults, type: bitstring, form: 00000000, column: 7, flags: {4: ups-failed}}
          - {name: standby_type, type: bitstring, form: 00000000, column: 7, bits: 3, truth: true}
          - name: ups_status
            type: bitstring
            form: 00000000
            column: 7
            flags: {5: bypass-or-boost, 2: testing, 1: shutting-down, 0: beeper-on}
      # Another dialect's, with 12 columns. What its bits mean differs.
      extended:
        framing: status
        columns:
          - {name: input_voltage, type: number, form: 000.0, unit: V, role: input.voltage, unknown: dashes}
          - {name: frequency, type: number, form: 00.0, unit: Hz, role: input.frequency, unknown: dashes}
          - {name: output_voltage, type: number, form: 000.0, unit: V, role: output.voltage, unknown: dashes}
          - {name: output_frequency, type: number, form: 00.0, unit: Hz, role: output.frequency, unknown: dashes}
          - {name: output_current, type: number, form: 000.0, unit: A, role: output.current, unknown: dashes}
          - {name: load, type: number, form: 000, unit: "%", role: ups.load, unknown: dashes}
          - {name: positive_bus_voltage, type: number, form: 000.0, unit: V, unknown: dashes}
          - {name: negative_bus_voltage, type: number, form: 000.0, unit: V, unknown: dashes}
          - {name: positive_battery_voltage, type: number, form: 000.0, unit: V, unknown: dashes, hidden: true}
          - {name: negative_battery_voltage, type: number, form: 000.0, unit: V, unknown: dashes}
          - {name: temperature, type: number, form: 000.0, unit: °C, role: ups.temperature, unknown: dashes}
          - {name: extended_status, type: text}
      ratings:
        framing: facts
        columns:
          - {name: rated_voltage, type: number, form: 000.0, unit: V, role: output.voltage.nominal, unknown: dashes}
          - {name: rated_current, type: number, form: 000, unit: A, role: output.current.nominal, unknown: dashes}
          - {name: rated_battery_voltage, type: number, form: 000.0, unit: V, role: battery.voltage.nominal, unknown: dashes}
          - {name: rated_frequency, type: number, form: 00.0, unit: Hz, role: output.frequency.nominal, unknown: dashes}
      facts:
        framing: facts
        separation: places
        columns:
          - {name: identity.manufacturer, type: text, at: 0, count: 15, unknown: dashes}
          - {name: identity.model, type: text, at: 16, count: 10, unknown: dashes}
          - {name: identity.firmware, type: text, at: 27, count: 10, unknown: dashes, optional: true}
      not_acknowledged: {framing: line, pattern: "NAK", refusal: true}
      not_acknowledged_in_frame: {framing: status, pattern: "NAK", refusal: true}
      status_returned: {framing: line, pattern: "Q1", refusal: true}
      extended_returned: {framing: line, pattern: "QGS", refusal: true}
      ratings_returned: {framing: line, pattern: "F", refusal: true}
      facts_returned: {framing: line, pattern: "I", refusal: true}

    # No UPS of these tells how full its battery is.
    parameters:
      battery_empty: {summary: The voltage at which its battery is empty, unit: V, from: 1, to: 1000}
      battery_full: {summary: The voltage at which its battery is full, unit: V, from: 1, to: 1000}
      battery_cells: {summary: "How many cells its battery has, if it tells the voltage of one", from: 1, to: 500}

    derived:
      # UPSs of the online type tell the voltage of one cell, and some of them nevertheless that of all.
      - {name: standby_voltage, rule: if, of: [reported_voltage, standby_type], unit: V, hidden: true}
      - {name: online_voltage, rule: unless, of: [reported_voltage, standby_type], unit: V, hidden: true}
      - {name: cell_voltage, rule: within, of: online_voltage, to: 3.5, unit: V}
      - {name: high_voltage, rule: within, of: online_voltage, from: 3.5, unit: V, hidden: true}
      - {name: sum_of_cells, rule: product, of: [cell_voltage, battery_cells], unit: V, hidden: true}
      - name: battery.voltage
        rule: first
        of: [standby_voltage, high_voltage, sum_of_cells, positive_battery_voltage]
        unit: V
      - {name: battery.percent, rule: percent-of-range, of: [battery.voltage, battery_empty, battery_full]}
      - {name: battery.charging, rule: word, of: on_battery, word: discharging}
      - {name: battery.level, rule: word, of: battery.warnings, contains: battery-low, word: low}

    requests:
      # Without its 1 this would turn the beeper on or off: it is sent in one piece.
      status:
        summary: "Voltages, load, battery"
        send: "Q1\r"
        reply: status
        refused_by: [not_acknowledged, not_acknowledged_in_frame, status_returned]
        optional: true
      extended:
        summary: "The same, of UPSs that know QGS"
        send: "QGS\r"
        reply: extended
        refused_by: [not_acknowledged, not_acknowledged_in_frame, extended_returned]
        optional: true
      ratings:
        summary: What it is made for
        send: "F\r"
        reply: ratings
        refused_by: [not_acknowledged, not_acknowledged_in_frame, ratings_returned]
        optional: true
      facts:
        summary: "Maker, model, version"
        send: "I\r"
        reply: facts
        refused_by: [not_acknowledged, not_acknowledged_in_frame, facts_returned]
        optional: true

    plan:
      identify: {request: [status, extended]}
      poll:
        - {requests: [status, extended], every: 5s}
        - {requests: ratings}
      timeout: 2s

    examples:
      - request: status
        sent: "Q1\r"
        received: "(226.0 195.0 226.0 014 49.0 27.5 30.0 00001000\r"
        expect:
          input_voltage: 226
          fault_voltage: 195
          output_voltage: 226
          load: 14
          frequency: 49
          battery.voltage: 27.5
          temperature: 30
          on_battery: false
          standby_type: true
          battery.warnings: []
          battery.charging: unknown
          battery.percent: unknown
          ups_status: []
      - request: status
        received: "(215.0 195.0 230.0 014 49.0 22.7 30.0 00000000\r"
        expect: {output_voltage: 230, battery.voltage: 22.7, cell_voltage: unknown, standby_type: false}
      # A cell's voltage; on bypass, and failed.
      - request: status
        received: "(208.4 140.0 208.4 034 59.9 2.05 35.0 00110000\r"
        expect:
          cell_voltage: 2.05
          battery.voltage: unknown
          battery.faults: [ups-failed]
          ups_status: [bypass-or-boost]
      - request: status
        received: "(208.4 140.0 208.4 034 59.9 2.05 35.0 00110000\r"
        parameters: {battery_cells: 36, battery_empty: 63, battery_full: 81}
        expect: {battery.voltage: 73.8, battery.percent: 60}
      - request: status
        received: "(231.0 000.0 232.0 002 49.0 13.5 30.8 00001001\r"
        expect: {battery.voltage: 13.5, load: 2, ups_status: [beeper-on]}
      # On battery.
      - request: status
        received: "(000.0 195.0 226.0 014 49.0 24.9 30.0 10001000\r"
        parameters: {battery_empty: 21, battery_full: 27}
        expect:
          input_voltage: 0
          on_battery: true
          battery.voltage: 24.9
          battery.charging: discharging
          battery.percent: 65
      # Fuller than full is full, and less than empty is empty.
      - request: status
        received: "(226.0 195.0 226.0 014 49.0 27.5 30.0 00001000\r"
        parameters: {battery_empty: 21, battery_full: 27}
        expect: {battery.percent: 100}
      - request: status
        received: "(000.0 195.0 226.0 014 49.0 20.5 30.0 11001000\r"
        parameters: {battery_empty: 21, battery_full: 27}
        expect: {battery.percent: 0, battery.warnings: [battery-low], battery.level: low}
      # Nobody knows some of it, some is padded with blanks, some a digit short.
      - request: status
        received: "(---.-  95.0 226.0  4 --.- 27.5 --.- 00001000\r"
        expect:
          input_voltage: unknown
          fault_voltage: 95
          load: 4
          frequency: unknown
          battery.voltage: 27.5
          temperature: unknown
      - request: ratings
        sent: "F\r"
        received: "#220.0 000 024.0 50.0\r"
        expect: {rated_voltage: 220, rated_current: 0, rated_battery_voltage: 24, rated_frequency: 50}
      - request: ratings
        received: "#230.0 000 024.0 50.0\r"
        expect: {rated_voltage: 230}
      - request: facts
        sent: "I\r"
        received: "#-------------   ------     VT12046Q  \r"
        expect: {identity.manufacturer: unknown, identity.model: unknown, identity.firmware: VT12046Q}
      - request: facts
        received: "#                           V6.00     \r"
        expect: {identity.manufacturer: unknown, identity.firmware: V6.00}
      # One is a character shorter than the others.
      - request: facts
        received: "#                           V6.00    \r"
        expect: {identity.firmware: V6.00}
      - request: extended
        sent: "QGS\r"
        received: "(234.9 50.0 229.8 50.0 000.0 000 369.1 ---.- 026.5 ---.- 018.8 100000000001\r"
        expect: {input_voltage: 234.9, negative_bus_voltage: unknown, battery.voltage: 26.5, temperature: 18.8}
      - request: extended
        received: "(220.4 59.9 218.7 59.9 002.8 007 361.8 361.8 273.2 ---.- 022.9 100000000010\r"
        parameters: {battery_empty: 252, battery_full: 324}
        expect:
          output_current: 2.8
          load: 7
          battery.voltage: 273.2
          extended_status: "100000000010"
      - {request: status, received: "NAK\r", refused: true}
      - {request: status, received: "(NAK\r", refused: true}
      - {request: status, received: "Q1\r", refused: true}
      - {request: extended, received: "QGS\r", refused: true}
      - {request: ratings, received: "F\r", refused: true}
      - {request: facts, received: "I\r", refused: true}
      # They turn the load off, test the battery, turn the beeper on and off.
      - {sent: "S01R0001\r", write: true}
      - {sent: "C\r", write: true}
      - {sent: "T\r", write: true}
      - {sent: "TL\r", write: true}
      - {sent: "Q\r", write: true}
    """#
}
