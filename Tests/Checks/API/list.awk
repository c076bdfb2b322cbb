# SPDX-License-Identifier: Apache-2.0
#
# Prints the public declarations of the Swift files it reads, one a line: where it stands, and what it is. It goes by the
# form that `swift format` gives the sources (two blanks for each level, a closing brace below what it closes), so it needs
# no compiler. Read the files twice, with PASS=1 and PASS=2 before them: the first pass collects the names of the types.

function indent(text) { match(text, /^ */); return RLENGTH }

# Without texts, and without a comment at the end, so that braces in them don't count.
function bare(text) {
  gsub(/\\"/, "", text)
  gsub(/"[^"]*"/, "\"\"", text)
  sub(/ *\/\/.*$/, "", text)
  return text
}

# The word that says what is declared; "" for anything else.
function kind_of(text,    words, count, i, word) {
  gsub(/\([^()]*\)/, "", text)
  count = split(text, words, /[ <(:{?!]+/)
  for (i = 1; i <= count; i++) {
    word = words[i]
    if (word == "" || word ~ /^@/ || word in modifier) {
      if (word != "class" || words[i + 1] ~ /^(func|var|let|subscript)$/) continue
    }
    return word in declares ? word : ""
  }
  return ""
}

# The first name behind a word.
function behind(text, word,    place) {
  place = match(" " text, "[ )]" word " ")
  text = substr(text, place + length(word) + 1)
  match(text, /^ *[A-Za-z_][A-Za-z0-9_.]*/)
  text = substr(text, RSTART, RLENGTH)
  gsub(/ /, "", text)
  return text
}

function is_public(text) { return (" " text) ~ /[ ](public|open) / }
function is_hidden(text) { return (" " text) ~ /[ ](package|internal|private|fileprivate) / }

function count_of(text, character) { return gsub(character, "", text) }

# Whether a declaration goes on in the next line.
function goes_on(    next_indent, text) {
  if (at >= lines) return 0
  if (open_brackets > 0) return 1
  text = line[at + 1]
  if (text ~ /^ *$/) return 0
  next_indent = indent(text)
  if (next_indent > level) return text !~ /^ *(\/\/|#)/
  return next_indent == level && text ~ /^ *([)\]{]|where )/
}

function shut(    i) {
  while (depth > 0 && level <= place_indent[depth]) depth--
}

# Whether a value can be changed: by what stands in the braces behind it.
function accessors(    i, text) {
  for (i = at + 1; i <= lines && indent(line[i]) > level; i++) {
    if (indent(line[i]) == level + 2 && line[i] ~ /^ *((non)?mutating )?(set|_modify|didSet|willSet)( |\(|$)/) return " { get set }"
  }
  return " { get }"
}

function look(    text, shown, kind, whole, where, seen, name) {
  text = line[at]
  if (text ~ /^ *$/) return
  level = indent(text)
  shut()
  # What is compiled on conditions counts as if there were none.
  if (text ~ /^ *#(if|else)/) {
    depth++
    place_indent[depth] = level; place_open[depth] = depth == 1 || place_open[depth - 1]
    place_name[depth] = place_name[depth - 1]; place_kind[depth] = place_kind[depth - 1]
    place_visible[depth] = depth == 1 || place_visible[depth - 1]; place_shows[depth] = place_shows[depth - 1]
    return
  }
  if (text ~ /^ *(\}|\)|\]|#|\/\/)/) return
  # Only what stands directly in a type, an extension or a file.
  if (depth > 0 && !place_open[depth]) return
  kind = kind_of(text)
  # An attribute on a line of its own belongs to what follows.
  if (kind == "" && text ~ /^ *@/ && bare(text) !~ /\{/) { pending = pending substr(text, level + 1) " "; return }
  if (kind == "") { pending = ""; return }
  whole = pending substr(text, level + 1)
  pending = ""
  open_brackets = count_of(bare(text), "[[(]") - count_of(bare(text), "[])]")
  while (bare(whole) !~ /\{$/ && bare(whole) !~ /\{ .*\}$/ && goes_on()) {
    at++
    text = line[at]
    open_brackets += count_of(bare(text), "[[(]") - count_of(bare(text), "[])]")
    sub(/^ */, "", text)
    whole = whole " " text
  }
  gsub(/\( /, "(", whole); gsub(/ \)/, ")", whole)
  seen = bare(whole)
  where = depth > 0 ? place_name[depth] : ""
  shown = is_public(whole) || (depth > 0 && place_shows[depth] && !is_hidden(whole) \
    && (kind == "case" || place_kind[depth] == "protocol" || place_kind[depth] == "public extension"))
  if (depth > 0 && !place_visible[depth]) shown = 0

  if (kind ~ /^(struct|class|enum|actor|protocol|extension)$/) {
    name = behind(seen, kind)
    if (seen !~ /\}$/) {
      depth++
      place_indent[depth] = level
      place_open[depth] = 1
      place_name[depth] = (where == "" ? "" : where ".") name
      place_kind[depth] = kind == "extension" && is_public(whole) ? "public extension" : kind
      place_visible[depth] = kind == "extension" ? knows(name) : shown
      place_shows[depth] = kind == "extension" ? is_public(whole) : shown
    }
    if (pass == 1) {
      if (kind != "extension") {
        name = (where == "" ? "" : where ".") name
        declared[name] = 1
        if (shown) visible[name] = 1
      }
      return
    }
    if (kind == "extension") shown = knows(name) && seen ~ /^(@[A-Za-z]+ |public )*extension [A-Za-z0-9_.]+:/
  } else if (seen ~ /\{$/) {
    # A body: nothing in it is looked at.
    depth++
    place_indent[depth] = level; place_open[depth] = 0; place_name[depth] = where; place_visible[depth] = 0
  }
  if (pass == 1 || !shown) return
  print_declaration(where, whole, seen, kind)
}

# Whether an extension is of a type that others see, or of one from elsewhere.
function knows(name,    first) {
  if (name in declared) return name in visible
  first = name
  sub(/\..*/, "", first)
  return !(first in declared) || first in visible
}

function print_declaration(where, whole, seen, kind,    get) {
  get = ""
  if ((kind == "var" || kind == "subscript") && seen ~ /\{/ && seen !~ /\{ (get|set|async|throws|mutating|get set|set get| )*\}$/) {
    get = seen ~ /\{$/ ? accessors() : " { get }"
    if (seen ~ / = .*\{/) get = ""
  }
  if (kind == "extension" || kind !~ /^(var|subscript)$/ || get != "" || seen ~ / = .*\{/) {
    # Up to the body, which is the last brace at the end of the declaration's own text.
    sub(/ \{[^{}]*$/, "", whole)
    if (kind != "case" && kind != "typealias") sub(/ \{ .*\}$/, "", whole)
  }
  sub(/ *\/\/ .*$/, "", whole)
  sub(/( \{\}| =)$/, "", whole)
  gsub(/\[ /, "[", whole); gsub(/,? \]/, "]", whole); gsub(/  +/, " ", whole)
  print (where == "" ? "" : where ": ") whole get
}

BEGIN {
  split("struct class enum actor protocol extension func init var let case typealias subscript associatedtype", list, " ")
  for (i in list) declares[list[i]] = 1
  split("public open package internal private fileprivate static final class mutating nonmutating override convenience " \
    "required lazy weak unowned nonisolated indirect dynamic prefix postfix infix consuming borrowing isolated sending", list, " ")
  for (i in list) modifier[list[i]] = 1
}

# A file is read whole first: a declaration is told from its lines.
function file_ended() {
  depth = 0
  pending = ""
  for (at = 1; at <= lines; at++) look()
  lines = 0
  delete line
}

FNR == 1 { file_ended(); in_text = 0; pass = PASS }

{
  marks = $0
  count = gsub(/"""/, "", marks)
  if (in_text) {
    # The lines of a long text count as its own depth, and hold nothing.
    if (count % 2) in_text = 0
    next
  }
  line[++lines] = $0
  if (count % 2) in_text = 1
}

END { file_ended() }
