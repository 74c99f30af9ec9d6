# Self cost by function of a callgrind dump with one event: "cost name" lines, in no order.
#   fn=(id) name        the function whose lines follow; the name is given once for an id, in fn= or cfn=
#   calls=N position    the next line is the callee's cost, not this function's
#   position cost       position: number, +n, -n or *
function name(text,    id) {
  id = substr(text, 1, index(text, ")"))
  if (length(text) > length(id)) names[id] = substr(text, length(id) + 2)
  return id
}
/^fn=/ { current = name(substr($0, 4)); next }
/^cfn=/ { name(substr($0, 5)); next }
/^calls=/ { callee = 1; next }
/^[0-9*+-]/ { if (callee) callee = 0; else if (current != "") self[current] += $2 }
END { for (id in self) if (self[id] > 0) printf "%d %s\n", self[id], names[id] }
