// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// JBD battery management systems: frames that begin with DD and end with 77. The examples are of real packs.
  static let jbd = """
    protocol: jbd
    version: 1
    description: JBD, Xiaoxiang, Overkill Solar and LLT smart BMS
    # A write to register E1 switches the MOSFETs, and others set the protection limits.
    raw: guarded
    byte_order: big
    line: {baud: 9600}

    framings:
      command:
        layout:
          - start: DD
          - direction: u8
          - register: u8
          - length: {type: u8, of: data}
          - data
          - check: {algorithm: negated-sum16, over: register..data}
          - end: 77
      answer:
        layout:
          - start: DD
          - register: u8
          - status: u8
          - length: {type: u8, of: data}
          - data
          # Other than in a command, the register isn't covered.
          - check: {algorithm: negated-sum16, over: status..data}
          - end: 77

    messages:
      basic:
        framing: answer
        when: {register: 0x03, status: 0}
        fields:
          - {name: battery.voltage, type: u16, scale: 0.01, unit: V}
          - {name: battery.current, type: i16, scale: 0.01, unit: A}
          - {name: battery.remaining, type: u16, scale: 0.01, unit: Ah}
          - {name: battery.full, type: u16, scale: 0.01, unit: Ah}
          - {name: battery.cycles, type: u16}
          - {name: identity.production_date, type: date16}
          # As the maker's document says. One program takes the highest bit for the first cell.
          - name: balancing
            type: u16
            list: true
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
          - name: balancing
            type: u16
            list: true
            flags:
              0: cell-17
              1: cell-18
              2: cell-19
              3: cell-20
              4: cell-21
              5: cell-22
              6: cell-23
              7: cell-24
              8: cell-25
              9: cell-26
              10: cell-27
              11: cell-28
              12: cell-29
              13: cell-30
              14: cell-31
              15: cell-32
          - name: battery.faults
            type: u16
            flags:
              0: cell-overvoltage
              1: cell-undervoltage
              2: pack-overvoltage
              3: pack-undervoltage
              4: charge-overtemperature
              5: charge-undertemperature
              6: discharge-overtemperature
              7: discharge-undertemperature
              8: charge-overcurrent
              9: discharge-overcurrent
              10: short-circuit
              11: afe-error
              12: mosfet-software-lock
              13: charge-timeout
          # 0x10 is version 1.0.
          - {name: software_version, type: bcd8, scale: 0.1}
          - {name: battery.percent, type: u8, unit: "%"}
          - {name: charge_mosfet, type: u8, bits: 0, stay: true, truth: true}
          - {name: discharge_mosfet, type: u8, bits: 1, truth: true}
          - {name: cell_count, type: u8}
          - {name: sensor_count, type: u8}
          - {name: battery.temperatures, type: u16, offset: -2731, scale: 0.1, unit: °C, repeat: sensor_count}
          # Newer boards say more.
          - tail:
              - {name: humidity, type: u8, unit: "%"}
              - tail:
                  - skip: 6
                  - {name: balance_current, type: u16, scale: 0.001, unit: A}
      cells:
        framing: answer
        when: {register: 0x04, status: 0}
        fields:
          - {name: battery.cells, type: u16, scale: 0.001, unit: V, repeat: end}
      hardware:
        framing: answer
        when: {register: 0x05, status: 0}
        fields:
          - {name: identity.hardware, type: text}
      counters:
        framing: answer
        when: {register: 0xAA, status: 0}
        fields:
          - {name: short_circuits, type: u16}
          - {name: charge_overcurrents, type: u16}
          - {name: discharge_overcurrents, type: u16}
          - {name: cell_overvoltages, type: u16}
          - {name: cell_undervoltages, type: u16}
          - {name: charge_overtemperatures, type: u16}
          - {name: charge_undertemperatures, type: u16}
          - {name: discharge_overtemperatures, type: u16}
          - {name: discharge_undertemperatures, type: u16}
          - {name: pack_overvoltages, type: u16}
          - {name: pack_undervoltages, type: u16}
      manufacturer:
        framing: answer
        when: {register: 0xA0, status: 0}
        fields:
          - {name: identity.manufacturer, type: ptext}
      model:
        framing: answer
        when: {register: 0xA1, status: 0}
        fields:
          - {name: identity.model, type: ptext}
      barcode:
        framing: answer
        when: {register: 0xA2, status: 0}
        fields:
          - {name: identity.serial, type: ptext}
      refused:
        framing: answer
        unless: {status: 0}
        refusal: {reason: status, words: {0x80: this register isn't known}}

    derived:
      - {name: battery.charging, rule: charge-by-sign, of: battery.current, dead_band: 0.05}

    requests:
      basic:
        summary: Voltage, current, charge, temperatures
        send: command
        with: {direction: 0xA5, register: 0x03}
        reply: basic
        same: register
      cells:
        summary: The voltage of each cell
        send: command
        with: {direction: 0xA5, register: 0x04}
        reply: cells
        same: register
      counters:
        summary: How often each protection was needed
        send: command
        with: {direction: 0xA5, register: 0xAA}
        reply: counters
        same: register
        optional: true
      hardware:
        summary: The name of the hardware
        send: command
        with: {direction: 0xA5, register: 0x05}
        reply: hardware
        same: register
      manufacturer:
        summary: Who made it; some say it only after a password
        send: command
        with: {direction: 0xA5, register: 0xA0}
        reply: manufacturer
        same: register
      model:
        summary: Which model it is; some say it only after a password
        send: command
        with: {direction: 0xA5, register: 0xA1}
        reply: model
        same: register
      barcode:
        summary: Its barcode; some say it only after a password
        send: command
        with: {direction: 0xA5, register: 0xA2}
        reply: barcode
        same: register

    plan:
      identify: {request: basic}
      poll:
        - {requests: basic, every: 10s}
        - {requests: cells, every: 60s}
        - {requests: counters, every: 5m}
      timeout: 500ms
      # It sleeps; the first request, and sometimes the second, wakes it and is lost.
      tries: 4
      retry_gap: 300ms

    examples:
      - {request: counters, sent: DD A5 AA 00 FF 56 77}
      - request: basic
        sent: DD A5 03 00 FF FD 77
        received: DD03001B1700000002D003E8000020780000000000001048030F020B760B82FBFF77
        expect:
          battery.voltage: 58.88
          battery.current: 0
          battery.remaining: 7.2
          battery.full: 10
          battery.cycles: 0
          identity.production_date: 2016-03-24
          battery.faults: []
          balancing: []
          software_version: 1.0
          battery.percent: 72
          charge_mosfet: true
          discharge_mosfet: true
          cell_count: 15
          battery.temperatures: [20.3, 21.5]
          battery.charging: not_charging
          humidity: unknown
      - request: cells
        sent: DD A5 04 00 FF FC 77
        received: DD04001E0F660F630F630F640F3E0F630F370F5B0F650F3B0F630F630F3C0F660F3DF9F977
        expect:
          battery.cells: [
            3.942, 3.939, 3.939, 3.940, 3.902, 3.939, 3.895, 3.931, 3.941, 3.899, 3.939, 3.939, 3.900, 3.942, 3.901]
      - request: hardware
        sent: DD A5 05 00 FF FB 77
        received: DD05000A30313233343536373839FDE977
        expect: {identity.hardware: 0123456789}
      - request: basic
        received: DD03001D0618000001F201F400002C7C00000000000080640304030B8C0B8A0B84FA8C77
        expect:
          battery.voltage: 15.6
          battery.current: 0
          battery.remaining: 4.98
          battery.full: 5
          identity.production_date: 2022-03-28
          software_version: 8.0
          battery.percent: 100
          cell_count: 4
          battery.temperatures: [22.5, 22.3, 21.7]
      - request: basic
        received: DD03001D060B000001ED01F400002C7C00000000100080630204030BA00B9D0B98FA5577
        expect:
          battery.voltage: 15.47
          battery.percent: 99
          battery.faults: [mosfet-software-lock]
          charge_mosfet: false
          discharge_mosfet: true
          battery.temperatures: [24.5, 24.2, 23.7]
      - request: basic
        received: DD03001F19DFF8240DA50FA00002249100000000000012570311040B980BA90B960B97F89A77
        expect:
          battery.voltage: 66.23
          battery.current: -20.12
          battery.remaining: 34.93
          battery.full: 40
          battery.cycles: 2
          identity.production_date: 2018-04-17
          battery.percent: 87
          cell_count: 17
          battery.temperatures: [23.7, 25.4, 23.5, 23.6]
          battery.charging: discharging
      - request: basic
        received: DD030017000000000000271000002C500000000000002000011000FF0577
        expect: {battery.percent: 0, battery.full: 100, cell_count: 16, sensor_count: 0}
      - request: cells
        received: DD0400200E100E100E100E100E100E100E100E100E100E100E100E100E100E100E100000FE1E77
        expect:
          battery.cells: [3.6, 3.6, 3.6, 3.6, 3.6, 3.6, 3.6, 3.6, 3.6, 3.6, 3.6, 3.6, 3.6, 3.6, 3.6, 0]
      # It switches the MOSFETs.
      - {sent: DD 5A E1 02 00 02 FF 1B 77, write: true}
      - {request: basic, received: DD 03 80 00 FF 80 77, refused: true}
      # One bit is wrong.
      - {request: cells, received: DD 04 00 04 0F66 0F62 FF15 77, refused: true}
    """
}
