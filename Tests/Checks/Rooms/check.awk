# SPDX-License-Identifier: Apache-2.0
#
# Reads Documentation/architecture.md, what House/manifest prints, and Swift files, in this order; see the script `check`.

function fail(text) { print text; violations++ }
function give_up(text) { print text; broken = 1; exit 2 }

# The names between backticks in a text, with blanks between them.
function names(text,    found) {
  found = ""
  while (match(text, /`[^`]+`/)) {
    found = found (found == "" ? "" : " ") substr(text, RSTART + 1, RLENGTH - 2)
    text = substr(text, RSTART + RLENGTH)
  }
  return found
}

# Whether a blank-separated list has a word.
function has(list, word) { return index(" " list " ", " " word " ") > 0 }

function commas(list) { gsub(/ /, ", ", list); return list == "" ? "none" : list }

# The libraries that a room may import.
function libraries_of(room,    i, found) {
  found = ""
  for (i = 1; i <= library_count; i++)
    if (admits(library[i], room)) found = found (found == "" ? "" : " ") library[i]
  return found
}

function admits(module, room) { return everyone[module] ? !has(excepted[module], room) : has(admitted[module], room) }

# One room wants one module.
function judge(place, room, module, verb) {
  if (module == room || module == "Swift" || has(may[room], module)) return
  if (module in is_library) {
    if (admits(module, room)) return
    fail(place ": " room " may not " verb " " module ", which is for " \
      (everyone[module] ? "every room except " commas(excepted[module]) : commas(admitted[module]) " only") \
      "; " room " may import: " commas(libraries_of(room)) " (see " page ")")
  } else if (module in is_room) {
    fail(place ": " room " may not " verb " " module "; it may import: " commas(may[room]) " (see Package.swift)")
  } else {
    fail(place ": " room " may not " verb " " module ", which is neither a target nor in the table of " page \
      "; it may import: " commas(may[room] (may[room] == "" ? "" : " ") libraries_of(room)))
  }
}

# A comment or a text that seems to go on for ever would hide imports.
function check_end() {
  if (file >= 3 && (in_comment || in_text)) fail(last ": this check can't find the end of a comment or of a text in here")
}

FNR == 1 {
  check_end()
  file++
  in_comment = in_text = sanitizer = 0
  last = FILENAME
  if (file == 1) page = FILENAME
  if (file == 3) check_house()
  if (file >= 3) {
    split(FILENAME, parts, "/")
    folder = parts[2] == "Families" ? parts[2] "/" parts[3] : parts[2]
    # The simulator of a family is a room in the family's folder.
    if ((folder "/" parts[4]) in room_in) folder = folder "/" parts[4]
    room = room_in[folder]
  }
}

# --- The table ---

file == 1 && /^<!-- libraries: (begin|end) -->$/ {
  in_table = $3 == "begin"
  next
}

file == 1 && in_table && /^\|/ {
  count = split($0, cells, "|")
  if (count != 5) give_up(page ":" FNR ": a row of this table has three cells, and no | in them")
  if (cells[2] !~ /`/) next
  subjects = split(names(cells[2]), subject, " ")
  for (i = 1; i <= subjects; i++) {
    if (subject[i] in is_library) give_up(page ":" FNR ": " subject[i] " is there twice")
    is_library[subject[i]] = FNR
    library[++library_count] = subject[i]
    if (cells[3] ~ /^ *every room *$/ || cells[3] ~ /^ *every room except /) {
      everyone[subject[i]] = 1
      excepted[subject[i]] = names(cells[3])
    } else {
      everyone[subject[i]] = 0
      admitted[subject[i]] = names(cells[3])
      if (admitted[subject[i]] == "") give_up(page ":" FNR ": the middle cell names rooms, or begins with: every room")
    }
  }
}

# --- The manifest ---

file == 2 && $1 == "room" {
  is_room[$2] = 1
  room_in[$4] = $2
}

file == 2 && $1 == "uses" { uses[++use_count] = $2 " " $3 }

function check_house(    name, list, i, n, pair) {
  if (library_count == 0) give_up(page ": it has no table of libraries")
  for (name in is_library) check_names(is_library[name], admitted[name] " " excepted[name])
  for (i = 1; i <= use_count; i++) {
    split(uses[i], pair, " ")
    # Rooms and libraries: what else the manifest names is judged where it is imported.
    if (pair[2] in is_room) may[pair[1]] = may[pair[1]] (may[pair[1]] == "" ? "" : " ") pair[2]
    else judge("Package.swift", pair[1], pair[2], "depend on")
  }
  n = split(present, list, " ")
  for (i = 1; i <= n; i++)
    if (!(list[i] in room_in)) fail("Sources/" list[i] ": Package.swift has no target in this folder")
}

function check_names(line, text,    list, i, n) {
  n = split(text, list, " ")
  for (i = 1; i <= n; i++)
    if (!(list[i] in is_room)) give_up(page ":" line ": Package.swift has no target " list[i] " under Sources/")
}

# --- Swift files ---

# Takes comments and texts of several lines away, and looks at each statement.
file >= 3 {
  line = $0
  # What is built only for the thread sanitizer runs on Linux only.
  if (!in_comment && !in_text) {
    if (/^ *#if THREAD_SANITIZER$/) sanitizer = 1
    else if (/^ *#/) sanitizer = 0
    if (sanitizer) next
  }
  if (in_text) {
    if (!match(line, /"""/)) next
    line = substr(line, RSTART + 3)
    in_text = 0
  }
  code = ""
  while (line != "") {
    if (in_comment) {
      if (!match(line, /\/\*|\*\//)) { line = ""; break }
      in_comment += substr(line, RSTART, 2) == "/*" ? 1 : -1
      line = substr(line, RSTART + 2)
      if (!in_comment) code = code " "
    } else if (match(line, /"""|"([^"\\]|\\.)*"|\/\/|\/\*/)) {
      found = substr(line, RSTART, RLENGTH)
      code = code substr(line, 1, RSTART - 1)
      line = substr(line, RSTART + RLENGTH)
      if (found == "//") line = ""
      else if (found == "/*") in_comment = 1
      else if (found == "\"\"\"") {
        if (match(line, /"""/)) line = substr(line, RSTART + 3)
        else { in_text = 1; line = "" }
      } else code = code "\"\""
    } else {
      code = code line
      line = ""
    }
  }
  if (code !~ /import/) next
  statements = split(code, statement, ";")
  for (s = 1; s <= statements; s++) look(statement[s])
}

function look(text,    module) {
  gsub(/`/, "", text)
  sub(/^[ \t]+/, "", text)
  while (match(text, /^(@[A-Za-z_]+[ \t]*(\([^)]*\))?|public|package|internal|fileprivate|private|open)[ \t]+/))
    text = substr(text, RLENGTH + 1)
  if (text !~ /^import([ \t]|$)/) return
  text = substr(text, 7)
  sub(/^[ \t]+/, "", text)
  sub(/^(typealias|struct|class|enum|protocol|let|var|func)[ \t]+/, "", text)
  if (!match(text, /^[A-Za-z_][A-Za-z_0-9]*/)) {
    fail(FILENAME ":" FNR ": write the module behind import, on the same line")
    return
  }
  module = substr(text, 1, RLENGTH)
  # In a module's name a hyphen is written as _.
  if (module == "bridge_cli") module = "bridge-cli"
  if (room in is_room) judge(FILENAME ":" FNR, room, module, "import")
}

END {
  if (broken) exit 2
  check_end()
  if (file < 3) { print "Tests/Checks/Rooms/check: there is no Swift file under Sources"; exit 2 }
  if (violations) { print violations (violations == 1 ? " violation" : " violations") " of " page; exit 1 }
}
