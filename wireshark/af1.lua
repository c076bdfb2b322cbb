-- SPDX-License-Identifier: Apache-2.0
--
-- Shows AF1 in captures that `bridge-cli trace --pcapng` writes. Put this file into Wireshark's folder of plugins (Help, About,
-- Folders), or name it: wireshark -X lua_script:wireshark/af1.lua session.pcapng
--
-- Documentation/af1.md has the protocol. A frame that began in an earlier packet of the same direction is shown in the packet that
-- ends it.

local af1 = Proto("af1", "Accessory Bridge AF1")

local commands = {
  [0x00] = "HELLO", [0x01] = "IDENTIFY", [0x02] = "STATUS", [0x03] = "BATTERY", [0x10] = "TRANSFER_BEGIN",
  [0x11] = "TRANSFER_DATA", [0x12] = "TRANSFER_END", [0x13] = "TRANSFER_ABORT", [0x7E] = "ECHO",
}
local sorts = { [1] = "request", [2] = "reply", [6] = "refusal", [8] = "event", [0] = "message" }

local f = af1.fields
f.version = ProtoField.uint8("af1.version", "Version", base.DEC, nil, 0xF0)
f.flags = ProtoField.uint8("af1.flags", "Flags", base.HEX, nil, 0x0F)
f.sort = ProtoField.string("af1.sort", "Sort")
f.command = ProtoField.uint8("af1.command", "Command", base.HEX, commands)
f.number = ProtoField.uint16("af1.number", "Number")
f.length = ProtoField.uint16("af1.length", "Payload length")
f.header_checksum = ProtoField.uint16("af1.header_checksum", "Header checksum", base.HEX)
f.payload = ProtoField.bytes("af1.payload", "Payload")
f.payload_checksum = ProtoField.uint32("af1.payload_checksum", "Payload checksum", base.HEX)
f.damaged = ProtoField.bool("af1.damaged", "Damaged")
f.noise = ProtoField.bytes("af1.noise", "Bytes that are not a frame")

local event_type = Field.new("rtacser.eventtype")
local interface = Field.new("frame.interface_id")

-- CRC-16/IBM-3740 and CRC-32/ISO-HDLC of bytes first to last of a ByteArray.
local function crc16(bytes, first, last)
  local crc = 0xFFFF
  for i = first, last do
    crc = bit.bxor(crc, bit.lshift(bytes:get_index(i), 8))
    for _ = 1, 8 do
      crc = bit.band(bit.lshift(crc, 1), 0x1FFFF)
      if crc >= 0x10000 then crc = bit.bxor(crc, 0x11021) end
    end
  end
  return crc
end

local function crc32(bytes, first, last)
  local crc = 0xFFFFFFFF
  for i = first, last do
    crc = bit.bxor(crc, bytes:get_index(i))
    for _ = 1, 8 do
      local odd = bit.band(crc, 1) == 1
      crc = bit.rshift(crc, 1)
      if odd then crc = bit.bxor(crc, 0xEDB88320) end
    end
  end
  return bit.bxor(crc, 0xFFFFFFFF) % 0x100000000
end

local function word(bytes, i) return bytes:get_index(i) + 256 * bytes:get_index(i + 1) end

-- What each direction of each interface has begun, and what a packet found begun, by the packet's number.
local unfinished, before = {}, {}

function af1.init() unfinished, before = {}, {} end

local function show(range, bytes, start, size, tree, infos)
  local flags = bytes:get_index(start + 2) % 16
  local command = bytes:get_index(start + 3)
  local sort = sorts[flags] or string.format("flags %x", flags)
  local name = commands[command] or string.format("%02X", command)
  local title = string.format("%s %s #%d", sort, name, word(bytes, start + 4))
  local sub = tree:add(af1, range(start, size), "AF1 " .. title)
  sub:add(f.version, range(start + 2, 1))
  sub:add(f.flags, range(start + 2, 1))
  sub:add(f.sort, range(start + 2, 1), sort)
  sub:add(f.command, range(start + 3, 1))
  sub:add_le(f.number, range(start + 4, 2))
  sub:add_le(f.length, range(start + 6, 2))
  sub:add_le(f.header_checksum, range(start + 8, 2))
  if size > 10 then
    sub:add(f.payload, range(start + 10, size - 14))
    local sum = sub:add_le(f.payload_checksum, range(start + size - 4, 4))
    local stated = word(bytes, start + size - 4) + 65536 * word(bytes, start + size - 2)
    if crc32(bytes, start + 10, start + size - 5) ~= stated then
      sum:add_proto_expert_info(af1.experts.damaged)
      sub:add(f.damaged, true):set_generated()
      title = title .. " (damaged)"
    end
  end
  infos[#infos + 1] = title
end

af1.experts.damaged = ProtoExpert.new("af1.damaged.expert", "The payload's checksum fails", expert.group.CHECKSUM,
  expert.severity.WARN)

function af1.dissector(tvb, pinfo, tree)
  local event, port = event_type(), interface()
  local key = tostring(port and port.value or 0) .. "/" .. tostring(event and event.value or 0)
  if not pinfo.visited then before[pinfo.number] = unfinished[key] or ByteArray.new() end
  local bytes = ByteArray.new()
  bytes:append(before[pinfo.number] or ByteArray.new())
  local earlier = bytes:len()
  bytes:append(tvb:bytes())
  local range = tvb
  if earlier > 0 then range = bytes:tvb("AF1 with what had begun") end

  local infos, i, noise = {}, 0, nil
  local function end_noise(at)
    if noise then
      tree:add(f.noise, range(noise, at - noise))
      infos[#infos + 1] = string.format("%d bytes that are not a frame", at - noise)
      noise = nil
    end
  end
  local rest = bytes:len()
  while i < bytes:len() do
    local left = bytes:len() - i
    local may_begin = bytes:get_index(i) == 0x0F and (left < 2 or bytes:get_index(i + 1) == 0xF0)
    if may_begin and left < 10 then rest = i; break end
    if may_begin and crc16(bytes, i, i + 7) == word(bytes, i + 8) then
      local length = word(bytes, i + 6)
      local size = length == 0 and 10 or length + 14
      end_noise(i)
      if left < size then rest = i; break end
      show(range, bytes, i, size, tree, infos)
      i = i + size
    else
      noise = noise or i
      i = i + 1
    end
  end
  end_noise(i)
  if not pinfo.visited then unfinished[key] = rest < bytes:len() and bytes:subset(rest, bytes:len() - rest) or nil end
  if rest < bytes:len() then infos[#infos + 1] = string.format("%d bytes of an unfinished frame", bytes:len() - rest) end
  pinfo.cols.protocol = "AF1"
  pinfo.cols.info = table.concat(infos, ", ")
  return tvb:len()
end

DissectorTable.get("rtacser.data"):add_for_decode_as(af1)
