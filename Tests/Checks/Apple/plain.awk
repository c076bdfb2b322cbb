# SPDX-License-Identifier: Apache-2.0
#
# Brings a list of public declarations (Documentation/api) into the form of the lists here: without what doesn't matter to who
# calls. That is access, overriding, inner names of parameters, default values and the values of constants, and the types of
# constants of types. What every object, error and option set has is left out.

{
  line = $0
  where = ""
  if (match(line, /^[A-Za-z0-9.]+: /)) { where = substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 1) }
  sub(/^@available\([^"]*("[^"]*")?\) /, "", line)
  sub(/^@_exported import Foundation /, "", line)
  gsub(/(@[A-Za-z_]+ |open |public |override |convenience |weak |final |nonisolated\(nonsending\) )/, "", line)
  sub(/ \{ get( set)? \}$/, "", line)
  if (line ~ /^(func copy\(with|func isEqual\(|(var|let) (hash|description|rawValue|code|errorCode|errorDescription|errorUserInfo)[: ]|static func ~=)/) next
  if (line ~ /^(case|static let|let|typealias) /) sub(/ = .*$/, "", line)
  sub(/^static let /, "static var ", line)
  if (line ~ /^(static var|let [A-Z])/) sub(/: .*$/, "", line)
  if (line ~ /^(class|struct|enum|protocol) [A-Z]/) sub(/: .*$/, "", line)
  if (line !~ /^let [A-Z]/) sub(/^let /, "var ", line)
  gsub(/ = [^,()]*(\([^()]*\))?/, "", line)
  # "for service: T" is "for: T", and "_ service: T" is "T".
  out = ""
  while (match(line, /[(,] ?[A-Za-z0-9_]+ [A-Za-z0-9_]+: /)) {
    part = substr(line, RSTART, RLENGTH)
    lead = substr(part, 1, 1) == "," ? ", " : "("
    sub(/^[(,] ?/, "", part)
    split(part, word, " ")
    out = out substr(line, 1, RSTART - 1) lead (word[1] == "_" ? "" : word[1] ": ")
    line = substr(line, RSTART + RLENGTH)
  }
  out = out line
  gsub(/any /, "", out)
  gsub(/\(Error\)\?/, "Error?", out)
  print where out
}
