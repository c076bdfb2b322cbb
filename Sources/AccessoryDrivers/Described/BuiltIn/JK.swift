// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// JK battery management systems: frames that begin with 4E 57, with a tag before each value. The examples are of real packs.
  static let jk = """
    protocol: jk
    version: 1
    description: JK (Jikong) BMS with 4E57 frames, at its GPS port or its RS485 adapter
    # Writing switches the charge and discharge circuits, and sets the protection limits.
    raw: guarded
    byte_order: big
    line: {baud: 115200}

    framings:
      frame:
        layout:
          - start: 4E 57
          - length: {type: u16, of: length..check}
          - terminal: u32
          - command: u8
          - source: u8
          - type: u8
          - data
          - record: u32
          - constant: 68
          - check: {algorithm: sum32, over: start..constant}

    messages:
      values:
        # Some send it by themselves, too.
        when: {command: [3, 6], source: 0, type: [1, 2]}
        pushed: true
        tags:
          0x79:
            - repeat: prefixed
              group:
                - {name: cell, type: u8, hidden: true}
                - {name: battery.cells, type: u16, scale: 0.001, unit: V}
          0x80: [{name: mosfet_temperature, type: u16, unit: °C, above: {100: {offset: -100, scale: -1}}}]
          0x81: [{name: box_temperature, type: u16, unit: °C, above: {100: {offset: -100, scale: -1}}}]
          0x82: [{name: battery.temperature, type: u16, unit: °C, above: {100: {offset: -100, scale: -1}}}]
          0x83: [{name: battery.voltage, type: u16, scale: 0.01, unit: V}]
          # Newer ones (protocol_version 1) have a bit for the direction; 10000 is no current with others.
          0x84:
            - name: battery.current
              type: u16
              offset: -10000
              scale: -0.01
              unit: A
              variants: {by: protocol_version, 1: {encoding: sign-magnitude, offset: 0}}
          0x85: [{name: battery.percent, type: u8, unit: "%"}]
          0x86: [{name: sensor_count, type: u8}]
          0x87: [{name: battery.cycles, type: u16}]
          0x89: [{name: cycle_capacity, type: u32, unit: Ah}]
          0x8A: [{name: cell_count, type: u16}]
          0x8B:
            - name: battery.faults
              type: u16
              flags:
                0: low-capacity
                1: mosfets-hot
                2: charge-overvoltage
                3: discharge-undervoltage
                4: battery-hot
                5: charge-overcurrent
                6: discharge-overcurrent
                7: cell-difference
                8: box-hot
                9: battery-cold
                10: cell-overvoltage
                11: cell-undervoltage
          0x8C:
            - {name: charge_mosfet, type: u16, bits: 0, stay: true, truth: true}
            - {name: discharge_mosfet, type: u16, bits: 1, stay: true, truth: true}
            - {name: balancing, type: u16, bits: 2, stay: true, truth: true}
            - {name: battery_connected, type: u16, bits: 3, truth: true}
          0x8E: [{name: limit.pack_overvoltage, type: u16, scale: 0.01, unit: V}]
          0x8F: [{name: limit.pack_undervoltage, type: u16, scale: 0.01, unit: V}]
          0x90: [{name: limit.cell_overvoltage, type: u16, scale: 0.001, unit: V}]
          0x91: [{name: limit.cell_overvoltage_recovery, type: u16, scale: 0.001, unit: V}]
          0x92: [{name: limit.cell_overvoltage_delay, type: u16, unit: s}]
          0x93: [{name: limit.cell_undervoltage, type: u16, scale: 0.001, unit: V}]
          0x94: [{name: limit.cell_undervoltage_recovery, type: u16, scale: 0.001, unit: V}]
          0x95: [{name: limit.cell_undervoltage_delay, type: u16, unit: s}]
          0x96: [{name: limit.cell_difference, type: u16, scale: 0.001, unit: V}]
          0x97: [{name: limit.discharge_current, type: u16, unit: A}]
          0x98: [{name: limit.discharge_delay, type: u16, unit: s}]
          0x99: [{name: limit.charge_current, type: u16, unit: A}]
          0x9A: [{name: limit.charge_delay, type: u16, unit: s}]
          0x9B: [{name: balance.start, type: u16, scale: 0.001, unit: V}]
          0x9C: [{name: balance.difference, type: u16, scale: 0.001, unit: V}]
          0x9D: [{name: balance.active, type: u8, truth: true}]
          0x9E: [{name: limit.temperature.mosfet, type: u16, unit: °C}]
          0x9F: [{name: limit.temperature.mosfet_recovery, type: u16, unit: °C}]
          0xA0: [{name: limit.temperature.box, type: u16, unit: °C}]
          0xA1: [{name: limit.temperature.box_recovery, type: u16, unit: °C}]
          0xA2: [{name: limit.temperature.difference, type: u16, unit: °C}]
          0xA3: [{name: limit.temperature.charge_high, type: u16, unit: °C}]
          0xA4: [{name: limit.temperature.discharge_high, type: u16, unit: °C}]
          0xA5: [{name: limit.temperature.charge_low, type: i16, unit: °C}]
          0xA6: [{name: limit.temperature.charge_low_recovery, type: i16, unit: °C}]
          0xA7: [{name: limit.temperature.discharge_low, type: i16, unit: °C}]
          0xA8: [{name: limit.temperature.discharge_low_recovery, type: i16, unit: °C}]
          0xA9: [{name: cells_set, type: u8}]
          0xAA: [{name: battery.full, type: u32, unit: Ah}]
          0xAB: [{name: charge_switch, type: u8, truth: true}]
          0xAC: [{name: discharge_switch, type: u8, truth: true}]
          0xAD: [{name: current_calibration, type: u16, scale: 0.001, unit: A}]
          0xAE: [{name: board_address, type: u8}]
          0xAF: [{name: battery_type, type: u8, words: {0: lfp, 1: ternary, 2: lto}}]
          0xB0: [{name: sleep_wait, type: u16, unit: s}]
          0xB1: [{name: low_alarm, type: u8, unit: "%"}]
          # A password.
          0xB2: [{name: settings, type: hex, bytes: 10, hidden: true}]
          0xB3: [{name: dedicated_charger, type: u8, truth: true}]
          0xB4: [{name: identity.name, type: text, bytes: 8}]
          0xB5: [{name: identity.production_date, type: text, bytes: 4}]
          0xB6: [{name: run_time, type: u32, unit: min}]
          0xB7: [{name: identity.firmware, type: text, bytes: 15}]
          0xB8: [{name: calibrating, type: u8, truth: true}]
          0xB9: [{name: actual_capacity, type: u32, unit: Ah}]
          0xBA: [{name: identity.serial, type: text, bytes: 24}]
          0xC0: [{name: protocol_version, type: u8}]

    derived:
      - {name: battery.charging, rule: charge-by-sign, of: battery.current, dead_band: 0.05}

    requests:
      values:
        summary: All that it knows
        send: frame
        with: {terminal: 0, command: 6, source: 3, type: 0, record: 0}
        data: 00
        reply: values
        same: command
      # The maker's document asks with this command, without a tag, for everything.
      all_values:
        summary: The same, by the command that reads
        send: frame
        with: {terminal: 0, command: 3, source: 3, type: 0, record: 0}
        data: 00
        reply: values
        same: command
      value:
        summary: One value, by its tag
        send: frame
        with: {terminal: 0, command: 3, source: 3, type: 0, record: 0}
        data: [{argument: tag}]
        arguments:
          tag: {type: u8, from: 0x79, to: 0xC0, default: 0x83}
        reply: values
        same: command
      # It turns a sleeping one on.
      activate:
        summary: Wakes it up
        send: frame
        with: {terminal: 0, command: 1, source: 3, type: 0, record: 0}
        data: 00
        write: true

    plan:
      identify: {request: values}
      poll:
        - {requests: values, every: 10s}
      gap: 100ms
      timeout: 2s
      expiry: 60s

    examples:
      - request: values
        sent: 4E 57 00 13 00 00 00 00 06 03 00 00 00 00 00 00 68 00 00 01 29
        received: 4E570121000000000600017930010C81020C81030C82040C81050C83060C81070C71080C81090C7C0A0C830B0C820C0C830D
          0C830E0C830F0C83100C82800012810010820010831401840045850F860287001189000005008A00108B00008C00038E16D0
          8F1090900E42910DDE920005930A5A940ABE95000596012C97003C98012C99001E9A001E9B0D7A9C000A9D019E005A9F0046
          A00064A10064A20014A30046A40046A50000A60005A7FFECA8FFF6A910AA00000051AB01AC01AD02D5AE01AF01B0000AB114
          B231323334353600000000B300B4496E707574205573B532313036B600016400B748372E585F5F53372E312E30485F5FB800
          B900000000BA425433303732303230313230303030323030353231303031C001000000006800004AB1
        expect:
          battery.cells: [
            3.201, 3.201, 3.202, 3.201, 3.203, 3.201, 3.185, 3.201, 3.196, 3.203, 3.202, 3.203, 3.203, 3.203, 3.203, 3.202]
          mosfet_temperature: 18
          box_temperature: 16
          battery.temperature: 16
          battery.voltage: 51.21
          battery.current: -0.69
          battery.charging: discharging
          battery.percent: 15
          sensor_count: 2
          battery.cycles: 17
          cycle_capacity: 1280
          battery.faults: []
          charge_mosfet: true
          discharge_mosfet: true
          balancing: false
          battery.full: 81
          limit.temperature.discharge_low: -20
          identity.name: Input Us
          identity.production_date: "2106"
          run_time: 91136
          identity.firmware: H7.X__S7.1.0H__
          identity.serial: BT3072020120000200521001
          protocol_version: 1
      - request: values
        received: 4E57011B00000000060001792A010EED020EFA030EF7040EEC050EF8060EFA070EF1080EF8090EE30A0EFA0B0EF10C0EFB0D
          0EFB0E0EF280001D81001E82001C8314EF8480D0850F860287000489000000008A000E8B00008C00078E16268F10AE900FD2
          910FA0920005930BEA940C1C95000596012C9700079800039900059A00059B0CE49C00089D019E005A9F0046A00064A10064
          A20014A30046A40046A5FFECA6FFF6A7FFECA8FFF6A90EAA0000000EAB01AC01AD0411AE01AF01B0000AB114B23132333435
          3600000000B300B4496E707574205573B532313031B60000E200B748362E585F5F53362E312E33535F5FB800B900000000BA
          425433303732303230313230303030323030353231303031C0010000000068000054D1
        expect:
          battery.voltage: 53.59
          battery.current: 2.08
          battery.charging: charging
          battery.percent: 15
          mosfet_temperature: 29
          box_temperature: 30
          battery.temperature: 28
          battery.cycles: 4
          battery.full: 14
          balancing: true
      - request: values
        received: 4E570118000000000600017927010FFC020FCF030FFD040FFC050FFC060FFA070FF7080FFE090FFE0A0FFC0B0FF70C0FF70D
          0FFD8000168100138200138314C1840000855E860287000089000000008A000D8B00008C00048E15548F0EBA901068911004
          920005930B54940C8095000596012C97009698012C9900199A001E9B0CE49C000A9D019E005A9F0046A00064A10064A20014
          A30046A40046A5FFECA6FFF6A7FFECA8FFF6A90DAA00000005AB00AC00AD042EAE01AF01B0000AB114B23132333435360000
          0000B300B4496E707574205573B532323034B600000000B731302E58575F5331302E30375F5F5FB800B900000000BA496E70
          7574205573657264614A4B2D423241323453313550C00100000000680000544E
        expect:
          battery.cells: [4.092, 4.047, 4.093, 4.092, 4.092, 4.090, 4.087, 4.094, 4.094, 4.092, 4.087, 4.087, 4.093]
          battery.voltage: 53.13
          battery.current: 0
          battery.percent: 94
          mosfet_temperature: 22
          box_temperature: 19
          battery.temperature: 19
          battery.full: 5
          charge_mosfet: false
          discharge_mosfet: false
          balancing: true
          identity.firmware: 10.XW_S10.07___
      # An old one, without a version: 10100 is 1 A out of it; 140 is −40 °C.
      - request: values
        received: 4E57001A0000000006000180008C84277485140000000068000003F2
        expect: {mosfet_temperature: -40, battery.current: -1, battery.percent: 20}
      # Behind a tag that isn't known nothing can be read.
      - request: values
        received: 4E57001A0000000006000185147F01028700030000000068000002D3
        expect: {battery.percent: 20, battery.cycles: unknown}
      # So the version behind it isn't known, and without that nobody knows what the number of the current means.
      - received: 4E57001B0000000006000185148400457F01C0010000000068000003D2
        expect: {battery.percent: 20, battery.current: unknown, battery.charging: unknown}
      - {request: {value: {tag: 0x83}}, sent: 4E 57 00 13 00 00 00 00 03 03 00 83 00 00 00 00 68 00 00 01 A9}
      - {request: {value: {tag: 0x85}}, sent: 4E 57 00 13 00 00 00 00 03 03 00 85 00 00 00 00 68 00 00 01 AB}
      - {request: all_values, sent: 4E 57 00 13 00 00 00 00 03 03 00 00 00 00 00 00 68 00 00 01 26}
      - {request: activate, sent: 4E 57 00 13 00 00 00 00 01 03 00 00 00 00 00 00 68 00 00 01 24}
      # A document of the maker's has a pack of 20 cells of version 0, without a version and with 2710 for no current; it prints
      # 4923 as the check of bytes whose sum is 485C. This one is made by what is said of it there: first with the right sum,
      # and then with the one that is printed.
      - request: values
        received: 4E57011200000000060001793C010C89020C88030C88040C88050C88060C88070C88080C88090C880A0C880B0C880C0C880D
          0C880E0C880F0C88100C88110C88120C88130C88140C888000128100108200108319B4842710854786028700118900000500
          8A00148B00008C00038E16D08F1090900E42910DDE920005930A5A940ABE95000596012C97003C98012C99001E9A001E9B0D
          7A9C000A9D019E005A9F0046A00064A10064A20014A30046A40046A50000A60005A7FFECA8FFF6A914AA00000051AB01AC01
          AD02D5AE01AF01B0000AB114B231323334353600000000B300B4496E707574205573B532313036B600016400B748372E585F
          5F53372E312E30485F5FB800B90000000000000000680000485C
        expect:
          battery.cells: [
            3.209, 3.208, 3.208, 3.208, 3.208, 3.208, 3.208, 3.208, 3.208, 3.208,
            3.208, 3.208, 3.208, 3.208, 3.208, 3.208, 3.208, 3.208, 3.208, 3.208]
          battery.voltage: 65.8
          battery.current: 0
          battery.charging: not_charging
          battery.percent: 71
          cell_count: 20
          protocol_version: unknown
      - request: values
        received: 4E57011200000000060001793C010C89020C88030C88040C88050C88060C88070C88080C88090C880A0C880B0C880C0C880D
          0C880E0C880F0C88100C88110C88120C88130C88140C888000128100108200108319B4842710854786028700118900000500
          8A00148B00008C00038E16D08F1090900E42910DDE920005930A5A940ABE95000596012C97003C98012C99001E9A001E9B0D
          7A9C000A9D019E005A9F0046A00064A10064A20014A30046A40046A50000A60005A7FFECA8FFF6A914AA00000051AB01AC01
          AD02D5AE01AF01B0000AB114B231323334353600000000B300B4496E707574205573B532313036B600016400B748372E585F
          5F53372E312E30485F5FB800B900000000000000006800004923
        refused: true
      # One bit is wrong.
      - request: values
        received: 4E57001A0000000006000180008C84277485140000000068000003F3
        refused: true
    """
}
