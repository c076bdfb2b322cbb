# SPDX-License-Identifier: Apache-2.0
#
# The first file is the list of all paths, the second that of the known links to other sites; all others are pages.

# The anchor that GitHub gives to a heading: small letters, digits, - and _; a blank becomes a dash. LC_ALL is C, so a letter with
# an accent is more than one byte, and kept; the usual punctuation beyond ASCII is left out.
function anchor(text) {
  while (match(text, /\[[^]]*\]\([^)]*\)/)) {
    link = substr(text, RSTART, RLENGTH); sub(/^\[/, "", link); sub(/\]\(.*/, "", link)
    text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
  }
  gsub(/\342\200[\220-\277]|\342\206[\200-\277]|\303\227/, "", text)
  text = tolower(text)
  gsub(/[\001-\037!-,.\/:-@\[-\^`{-~]/, "", text)
  gsub(/ /, "-", text)
  return text
}
# The path to which a link in a page leads.
function resolved(page, target,  parts, count, kept, i, path) {
  if (target !~ /^\//) { path = page; if (!sub(/[^\/]*$/, "", path)) path = ""; target = path target }
  count = split(target, parts, "/"); kept = 0
  for (i = 1; i <= count; i++) {
    if (parts[i] == "" || parts[i] == ".") continue
    if (parts[i] == "..") { if (kept == 0) return "outside"; kept--; continue }
    parts[++kept] = parts[i]
  }
  path = ""
  for (i = 1; i <= kept; i++) path = path (i > 1 ? "/" : "") parts[i]
  return path
}
function problem(place, text) { print place ": " text; found = 1 }
function external(place, address) {
  sub(/[.,;:]$/, "", address); sites[address] = 1
  if (!(address in known)) problem(place, address " is missing in Documentation/links.txt")
}

FNR == 1 { part++; fence = 0; page = FILENAME; if (part > 2) pages[page] = 1 }
part == 1 { exists[$0] = 1; next }
part == 2 { if ($0 !~ /^(#|$)/) known[$0] = FNR; next }

# A block between fences may be indented.
/^ *```/ { fence = !fence; next }
fence { next }
/^#+ / {
  heading = $0; sub(/^#+ +/, "", heading); sub(/ +#*$/, "", heading)
  name = page "#" anchor(heading); count[name]++
  anchors[count[name] == 1 ? name : name "-" count[name] - 1] = 1
}
{
  line = $0
  # What is code is no link, but a link's text may be code.
  gsub(/``[^`]*``/, "", line); gsub(/`[^`]*`/, "x", line)
  place = page ":" FNR
  for (rest = line; match(rest, /\]\([^) ]*/); rest = substr(rest, RSTART + RLENGTH)) {
    target = substr(rest, RSTART + 2, RLENGTH - 2)
    if (target ~ /^https?:/) external(place, target)
    else if (target ~ /^mailto:/) continue
    else { links++; link_place[links] = place; link_page[links] = page; link_target[links] = target }
  }
  for (rest = line; match(rest, /<https?:[^>]*>/); rest = substr(rest, RSTART + RLENGTH))
    external(place, substr(rest, RSTART + 1, RLENGTH - 2))
  if (match(line, /^\[[^]]*\]: *https?:[^ ]*/)) { target = line; sub(/^\[[^]]*\]: */, "", target); sub(/ .*/, "", target); external(place, target) }
  for (rest = line; match(rest, /<doc:[^>]*>/); rest = substr(rest, RSTART + RLENGTH)) {
    target = substr(rest, RSTART + 5, RLENGTH - 6); path = page; sub(/[^\/]*$/, "", path)
    links++; link_place[links] = place; link_page[links] = page
    link_target[links] = target ".md"
    modules[links] = target
  }
}

END {
  for (i = 1; i <= links; i++) {
    target = link_target[i]; fragment = ""
    if ((at = index(target, "#")) > 0) { fragment = substr(target, at + 1); target = substr(target, 1, at - 1) }
    path = target == "" ? link_page[i] : resolved(link_page[i], target)
    if (!(path in exists)) problem(link_place[i], "there is no " path (i in modules ? " for <doc:" modules[i] ">" : ""))
    else if (fragment != "" && (path in pages) && !((path "#" fragment) in anchors))
      problem(link_place[i], path " has no heading #" fragment)
  }
  for (address in known) if (!(address in sites)) problem("Documentation/links.txt:" known[address], "no page has " address)
  if (links == 0) problem("Tests/Checks/Links/check", "no links were found")
  exit found
}
