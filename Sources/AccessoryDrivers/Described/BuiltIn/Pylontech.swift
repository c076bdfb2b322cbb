// SPDX-License-Identifier: Apache-2.0

extension BuiltInDescriptions {
  /// Pylontech battery modules on an RS-485 line: frames in hexadecimal digits. The examples are of real modules.
  static let pylontech = #"""
    protocol: pylontech
    version: 1
    description: Pylontech battery modules at their RS-485 port
    # The command 95 turns a module off.
    raw: guarded
    byte_order: big
    line: {baud: 115200}

    framings:
      # An answer has a code where a command says what it asks for.
      frame:
        layout:
          - start: "~"
          - version: u8
          - address: u8
          - kind: u8
          - code: u8
          - length: {type: u16, of: data, nibble_check: true}
          - data
          - check: {algorithm: negated-sum16, over: version..data}
          - end: "\r"
        digits: hex
        checks: digits
        length: digits
        max: 4096

    # The first module of the first group has the address 2; the first of the second group, 0x12, is unit 17.
    units: {element: address, to: 240, sent: 1, received: 1, scan: 1..15}

    # What an answer is about isn't in it: it is the answer to what was asked. Relatives with other versions have other tables.
    messages:
      analog:
        when: {version: 0x20, kind: 0x46, code: 0}
        fields:
          - {name: flag, type: u8, hidden: true}
          - {name: module, type: u8, hidden: true}
          - {name: cell_count, type: u8}
          - {name: battery.cells, type: i16, scale: 0.001, unit: V, repeat: cell_count}
          - {name: sensor_count, type: u8}
          # The first is the board's.
          - {name: battery.temperatures, type: u16, offset: -2731, scale: 0.1, unit: °C, repeat: sensor_count}
          - {name: battery.current, type: i16, scale: 0.1, unit: A}
          - {name: battery.voltage, type: u16, scale: 0.001, unit: V}
          - {name: remaining_small, type: u16, scale: 0.001, unit: Ah, unknown: 0xFFFF, hidden: true}
          - {name: further, type: u8, hidden: true}
          - {name: full_small, type: u16, scale: 0.001, unit: Ah, unknown: 0xFFFF, hidden: true}
          - {name: battery.cycles, type: u16}
          # Of those above 65 Ah.
          - when: {further: 3}
            fields:
              - {name: remaining_large, type: u24, scale: 0.001, unit: Ah, hidden: true}
              - {name: full_large, type: u24, scale: 0.001, unit: Ah, hidden: true}
      # The same of all modules of the group, one after another.
      all_analog:
        when: {version: 0x20, kind: 0x46, code: 0}
        fields:
          - {name: flag, type: u8, hidden: true}
          - {name: modules, type: u8}
          - repeat: modules
            group:
              - {name: modules.cell_count, type: u8}
              - {name: modules.cells, type: i16, scale: 0.001, unit: V, repeat: modules.cell_count}
              - {name: modules.sensor_count, type: u8}
              - name: modules.temperatures
                type: u16
                offset: -2731
                scale: 0.1
                unit: °C
                repeat: modules.sensor_count
              - {name: modules.current, type: i16, scale: 0.1, unit: A}
              - {name: modules.voltage, type: u16, scale: 0.001, unit: V}
              - {name: modules.remaining, type: u16, scale: 0.001, unit: Ah, unknown: 0xFFFF}
              - {name: modules.further, type: u8, hidden: true}
              - {name: modules.full, type: u16, scale: 0.001, unit: Ah, unknown: 0xFFFF}
              - {name: modules.cycles, type: u16}
              - when: {modules.further: 3}
                fields:
                  - {name: modules.remaining_large, type: u24, scale: 0.001, unit: Ah}
                  - {name: modules.full_large, type: u24, scale: 0.001, unit: Ah}
      alarms:
        when: {version: 0x20, kind: 0x46, code: 0}
        fields:
          - {name: flag, type: u8, hidden: true}
          - {name: module, type: u8, hidden: true}
          - {name: cell_count, type: u8}
          - name: cell_states
            type: u8
            words: {0: normal, 1: too-low, 2: too-high, 0xF0: error}
            repeat: cell_count
          - {name: sensor_count, type: u8}
          - name: temperature_states
            type: u8
            words: {0: normal, 1: too-low, 2: too-high, 0xF0: error}
            repeat: sensor_count
          - {name: charge_current_state, type: u8, words: {0: normal, 1: too-low, 2: too-high, 0xF0: error}}
          - {name: voltage_state, type: u8, words: {0: normal, 1: too-low, 2: too-high, 0xF0: error}}
          - {name: discharge_current_state, type: u8, words: {0: normal, 1: too-low, 2: too-high, 0xF0: error}}
          - name: battery.faults
            type: u8
            flags:
              0: module-overvoltage
              1: cell-undervoltage
              2: charge-overcurrent
              4: discharge-overcurrent
              5: discharge-hot
              6: charge-hot
              7: module-undervoltage
          - name: switches
            type: u8
            flags: {0: precharge-mosfet, 1: charge-mosfet, 2: discharge-mosfet, 3: own-power}
          - name: module_status
            type: u8
            flags: {0: buzzer, 3: full, 5: heater, 6: discharging, 7: charging}
          - {name: bad_cells, type: u16le, hidden: true}
      limits:
        when: {version: 0x20, kind: 0x46, code: 0}
        fields:
          - {name: flag, type: u8, hidden: true}
          - {name: limit.cell_high, type: u16, scale: 0.001, unit: V}
          - {name: limit.cell_low, type: u16, scale: 0.001, unit: V}
          - {name: limit.cell_under, type: u16, scale: 0.001, unit: V}
          - {name: limit.charge_hot, type: i16, offset: -2731, scale: 0.1, unit: °C}
          - {name: limit.charge_cold, type: i16, offset: -2731, scale: 0.1, unit: °C}
          # Sources disagree on the scale of the currents.
          - skip: 2
          - {name: limit.module_high, type: u16, scale: 0.001, unit: V}
          - {name: limit.module_low, type: u16, scale: 0.001, unit: V}
          - {name: limit.module_under, type: u16, scale: 0.001, unit: V}
          - {name: limit.discharge_hot, type: i16, offset: -2731, scale: 0.1, unit: °C}
          - {name: limit.discharge_cold, type: i16, offset: -2731, scale: 0.1, unit: °C}
          - skip: 2
      management:
        when: {version: 0x20, kind: 0x46, code: 0}
        fields:
          - {name: module, type: u8, hidden: true}
          - {name: charge_voltage_limit, type: u16, scale: 0.001, unit: V}
          - {name: discharge_voltage_limit, type: u16, scale: 0.001, unit: V}
          - {name: charge_current_limit, type: i16, scale: 0.1, unit: A}
          - {name: discharge_current_limit, type: i16, scale: 0.1, unit: A}
          - {name: full_charge_requested, type: u8, bits: 3, stay: true, truth: true}
          - {name: charge_immediately_2, type: u8, bits: 4, stay: true, truth: true}
          - {name: charge_immediately_1, type: u8, bits: 5, stay: true, truth: true}
          - {name: discharge_enabled, type: u8, bits: 6, stay: true, truth: true}
          - {name: charge_enabled, type: u8, bits: 7, truth: true}
      serial:
        when: {version: 0x20, kind: 0x46, code: 0}
        fields:
          - {name: module, type: u8, hidden: true}
          - {name: identity.serial, type: text, bytes: 16}
      maker:
        when: {version: 0x20, kind: 0x46, code: 0}
        fields:
          - {name: identity.model, type: text, bytes: 10}
          - {name: version_major, type: u8}
          - {name: version_minor, type: u8}
          - {name: identity.manufacturer, type: text, bytes: 20, padding: "\0 -"}
      refused:
        when: {kind: 0x46, code: [1, 2, 3, 4, 5, 6, 0x90, 0x91]}
        refusal:
          reason: code
          words:
            1: it is of another version
            2: the checksum is wrong
            3: the length's check is wrong
            4: it doesn't know this command
            5: the form is wrong
            6: the data can't be
            0x90: the address is wrong
            0x91: the modules don't hear each other
      # The version is the frame's.
      version: {when: {kind: 0x46, code: 0}}

    derived:
      - {name: battery.remaining, rule: first, of: [remaining_large, remaining_small]}
      - {name: battery.full, rule: first, of: [full_large, full_small]}
      - {name: battery.percent, rule: percent, of: [battery.remaining, battery.full], unit: "%"}
      - {name: battery.charging, rule: charge-by-sign, of: battery.current, dead_band: 0.05}

    requests:
      version:
        summary: Which version of the protocol it speaks
        send: frame
        with: {version: 0x20, kind: 0x46, code: 0x4F}
        data: [{unit: u8}]
        reply: version
      analog:
        summary: "Voltages, current, temperatures, capacity"
        send: frame
        with: {version: 0x20, kind: 0x46, code: 0x42}
        data: [{unit: u8}]
        reply: analog
      all_analog:
        summary: The same of all modules of the group
        send: frame
        with: {version: 0x20, kind: 0x46, code: 0x42}
        data: FF
        reply: all_analog
      alarms:
        summary: What is wrong
        send: frame
        with: {version: 0x20, kind: 0x46, code: 0x44}
        data: [{unit: u8}]
        reply: alarms
      limits:
        summary: What it protects itself from
        send: frame
        with: {version: 0x20, kind: 0x46, code: 0x47}
        reply: limits
      management:
        summary: What may be charged and discharged
        send: frame
        with: {version: 0x20, kind: 0x46, code: 0x92}
        data: [{unit: u8}]
        reply: management
      serial:
        summary: Its serial number
        send: frame
        with: {version: 0x20, kind: 0x46, code: 0x93}
        data: [{unit: u8}]
        reply: serial
      maker:
        summary: What it is; of modules that are wired themselves
        send: frame
        with: {version: 0x20, kind: 0x46, code: 0x51}
        reply: maker

    plan:
      identify: {request: analog}
      poll:
        - {requests: [analog, alarms], every: 10s}
        - {requests: management, every: 60s}
        - {requests: [serial, limits]}
      # It answers within 200 ms, but seconds after it woke.
      timeout: 2s

    examples:
      - {request: version, sent: "~2002464FE00202FD1F\r", received: "~200246000000FDB2\r"}
      - request: analog
        sent: "~20024642E00202FD33\r"
        received: "~20024600C06E10020F0C9A0C980C990C980C9A0C9A0C990C9B0C9C0C9A0C9B0C9B0C9B0C9B0C99050B740B550B570B\
          530B630000BD06190F02C3500084E545\r"
        expect:
          battery.cells: [
            3.226, 3.224, 3.225, 3.224, 3.226, 3.226, 3.225, 3.227, 3.228, 3.226, 3.227, 3.227, 3.227, 3.227, 3.225]
          battery.temperatures: [20.1, 17, 17.2, 16.8, 18.4]
          battery.current: 0
          battery.voltage: 48.39
          battery.remaining: 6.415
          battery.full: 50
          battery.percent: 12.83
          battery.cycles: 132
      - request: alarms
        sent: "~20024644E00202FD31\r"
        received: "~20024600A04210020F000000000000000000000000000000050000000000000000000E00000000F108\r"
        expect:
          battery.faults: []
          switches: [charge-mosfet, discharge-mosfet, own-power]
          charge_current_state: normal
      - request: serial
        sent: "~20024693E00202FD2D\r"
        received: "~20024600C0220248505443523033313731313132353930F6D2\r"
        expect:
          identity.serial: HPTCR03171112590
      - request: maker
        sent: "~200246510000FDAC\r"
        received: "~20024600C04055533230303043000000010750796C6F6E2D2D2D2D2D2D2D2D2D2D2D2D2D2D2DEFBD\r"
        expect:
          identity.model: US2000C
          version_major: 1
          version_minor: 7
          identity.manufacturer: Pylon
      - request: management
        sent: "~20024692E00202FD2E\r"
        received: "~20024600B014026EF05AA0022BFDD5C0F915\r"
        expect:
          charge_voltage_limit: 28.4
          discharge_voltage_limit: 23.2
          charge_current_limit: 55.5
          discharge_current_limit: -55.5
          charge_enabled: true
          discharge_enabled: true
          full_charge_requested: false
      - request: limits
        sent: "~200246470000FDA7\r"
        received: "~20024600B032110E420BEA0B540D0D0A3D03FCD2F0B3B0ADD40D0D0A3DFC18F23D\r"
        expect:
          limit.cell_high: 3.65
          limit.cell_low: 3.05
          limit.cell_under: 2.9
          limit.charge_hot: 61
          limit.charge_cold: -11
          limit.module_high: 54
          limit.module_low: 46
          limit.module_under: 44.5
      - request: all_analog
        sent: "~20024642E002FFFD09\r"
        received: "~20024600914211030F0CE70CE80CE60CE70CE80CE80CE80CE60CE50CE60CE80CE70CEA0CE50CE6050B910B870B870B\
          870B87FFE6C18982DC02C350001F0F0CE20CE60CE60CE10CE50CE70CE60CE30CE20CE50CE30CE90CE70CE90CE9050B91\
          0B870B870B870B87FFE7C17082DC02C350001F0F0CE20CE50CE50CE20CE30CE30CE40CE50CE60CE60CE30CE40CE40CE6\
          0CE6050B910B7D0B7D0B7D0B7DFFE5C16082DC02C350001FB476\r"
        expect:
          modules: 3
          modules.voltage: [49.545, 49.52, 49.504]
          modules.current: [-2.6, -2.5, -2.7]
          modules.remaining: [33.5, 33.5, 33.5]
          modules.full: [50, 50, 50]
          modules.cycles: [31, 31, 31]
      - request: all_analog
        received: "~2002460010F011020F0CCD0CCE0CCC0CCE0CCB0CCC0CCD0CCC0CCD0CCB0CCC0CCD0CCD0CCE0CCC050BE10BCD0BCD0B\
          D70BCDFFC3BFFDFFFF04FFFF0234007F300121100F0CCA0CCA0CCB0CCC0CCA0CCC0CCB0CCB0CCB0CCB0CCB0CCA0CCC0C\
          CC0CCB050BEB0BCD0BCD0BCD0BC3FFD1BFE5FFFF04FFFF0292005FB400C350C4A7\r"
        expect:
          modules: 2
          modules.voltage: [49.149, 49.125]
          modules.current: [-6.1, -4.7]
          modules.remaining_large: [32.56, 24.5]
          modules.full_large: [74, 50]
          modules.cycles: [564, 658]
      - request: analog
        received: "~20024600D05E1002080D020D020D020D030D000D010D010D03050B7D0B690B690B690B73FFFA680EFFFF04FFFF0000\
          0174E401B198E906\r"
        expect:
          cell_count: 8
          battery.voltage: 26.638
          battery.current: -0.6
          battery.remaining: 95.46
          battery.full: 111
          battery.percent: 86
          battery.charging: discharging
      - request: analog
        received: "~200246040000FDAE\r"
        refused: true
      # One digit is wrong.
      - request: serial
        received: "~20024600C0220248515443523033313731313132353930F6D2\r"
        refused: true
      # An adapter's echo of the command.
      - request: serial
        received: "~20024693E00202FD2D\r"
        refused: true
      # It turns a module off.
      - {sent: "~20024695E00202FD2B\r", write: true}
    """#
}
